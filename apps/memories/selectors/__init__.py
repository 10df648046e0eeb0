"""Reads of memories, checkpoints and the timeline."""

from apps.memories.selectors.checkpoints import checkpoint_get, checkpoint_latest, checkpoint_list
from apps.memories.selectors.embedding import search_state_get
from apps.memories.selectors.history import memory_diff, memory_history, memory_revision_get
from apps.memories.selectors.index import memory_index_get
from apps.memories.selectors.jobs import job_get, job_list
from apps.memories.selectors.likeness import memory_alike
from apps.memories.selectors.links import memory_links
from apps.memories.selectors.memories import memory_get, memory_list
from apps.memories.selectors.scopes import scope_list
from apps.memories.selectors.search import memory_search
from apps.memories.selectors.timeline import timeline_get

__all__ = [
    "checkpoint_get",
    "checkpoint_latest",
    "checkpoint_list",
    "job_get",
    "job_list",
    "memory_alike",
    "memory_diff",
    "memory_get",
    "memory_history",
    "memory_index_get",
    "memory_links",
    "memory_list",
    "memory_revision_get",
    "memory_search",
    "scope_list",
    "search_state_get",
    "timeline_get",
]
