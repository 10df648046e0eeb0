"""Writes of memories and checkpoints: each goes down the ledger's road."""

from apps.memories.services.alarms import scope_alarm_decide
from apps.memories.services.checkpoints import checkpoint_save
from apps.memories.services.editing import memory_append, memory_revert, memory_update
from apps.memories.services.embedding import embedding_rebuild, embedding_resume, embedding_stop
from apps.memories.services.jobs import job_resume, job_stop, memory_export, memory_import
from apps.memories.services.keeping import (
    memory_archive,
    memory_delete,
    memory_move,
    memory_restore,
    memory_unarchive,
)
from apps.memories.services.saving import memory_save, memory_save_many

__all__ = [
    "checkpoint_save",
    "embedding_rebuild",
    "embedding_resume",
    "embedding_stop",
    "job_resume",
    "job_stop",
    "memory_append",
    "memory_archive",
    "memory_delete",
    "memory_export",
    "memory_import",
    "memory_move",
    "memory_restore",
    "memory_revert",
    "memory_save",
    "memory_save_many",
    "memory_unarchive",
    "memory_update",
    "scope_alarm_decide",
]
