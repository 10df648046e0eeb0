"""The ledger to look at. Every button calls an operation, and nothing else changes a row (D-43)."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.memories.models import (
    FileIntent,
    FolderJob,
    LogicalOperation,
    Memory,
    MemoryRevision,
    Resource,
    Scope,
    ScopeCommit,
)
from apps.memories.services import (
    job_resume,
    job_stop,
    memory_archive,
    memory_delete,
    memory_restore,
    memory_unarchive,
)
from apps.operations.administration import ReadOnlyAdmin, do_each


@admin.register(Memory)
class MemoryAdmin(ReadOnlyAdmin):
    hidden = ("id", "slug_key", "path_key", "title_key", "file_mtime", "file_inode")
    list_display = ["title", "resource", "kind", "status", "updated_at", "scope", "profile_id", "revision"]
    list_filter = ["status", "resource", "kind", "note_type", "withheld"]
    list_select_related = ["scope"]
    search_fields = ["title", "slug", "stable_id", "path", "scope__key"]
    ordering = ["-updated_at", "-pk"]
    date_hierarchy = "updated_at"
    actions = ["archive", "unarchive", "move_to_trash", "restore"]

    def view_on_site(self, memory: Memory) -> str:
        page = "checkpoint-detail" if memory.resource == Resource.CHECKPOINT else "memory-detail"
        return reverse(page, args=[memory.stable_id])

    @admin.action(description=_("Archive the selected memories"))
    def archive(self, request: HttpRequest, memories: QuerySet[Memory]) -> None:
        do_each(request, memory_archive, _named(memories))

    @admin.action(description=_("Take the selected memories out of the archive"))
    def unarchive(self, request: HttpRequest, memories: QuerySet[Memory]) -> None:
        do_each(request, memory_unarchive, _named(memories))

    @admin.action(description=_("Move the selected memories to the trash"))
    def move_to_trash(self, request: HttpRequest, memories: QuerySet[Memory]) -> None:
        do_each(request, memory_delete, _named(memories))

    @admin.action(description=_("Restore the selected memories"))
    def restore(self, request: HttpRequest, memories: QuerySet[Memory]) -> None:
        do_each(request, memory_restore, _named(memories))


@admin.register(MemoryRevision)
class RevisionAdmin(ReadOnlyAdmin):
    """What happened to texts; the texts themselves are read in the console."""

    hidden = ("id", "document", "body_at")
    list_display = ["title", "number", "action", "status", "origin", "actor", "at", "warning"]
    list_filter = ["action", "origin", "status", "withheld"]
    list_select_related = ["memory"]
    search_fields = ["title", "memory__stable_id", "path", "reason"]
    ordering = ["-pk"]
    date_hierarchy = "at"

    def view_on_site(self, revision: MemoryRevision) -> str:
        return reverse("memory-revision", args=[revision.memory.stable_id, revision.number])


@admin.register(ScopeCommit)
class CommitAdmin(ReadOnlyAdmin):
    hidden = ("id",)
    list_display = ["at", "scope", "version", "changes", "operation"]
    list_select_related = ["scope", "operation"]
    search_fields = ["scope__key", "operation__id", "operation__name"]
    ordering = ["-pk"]
    date_hierarchy = "at"


@admin.register(LogicalOperation)
class OperationAdmin(ReadOnlyAdmin):
    list_display = ["opened_at", "name", "state", "actor", "origin", "profile", "job_id", "closing_number"]
    list_filter = ["state", "origin", "name"]
    search_fields = ["id", "name", "actor", "job_id", "reason"]
    ordering = ["-opened_at"]
    date_hierarchy = "opened_at"


@admin.register(FileIntent)
class IntentAdmin(ReadOnlyAdmin):
    """Files that have still to be seen on disk; the keeper writes them by itself."""

    hidden = ("id", "content")
    list_display = ["created_at", "scope", "path", "action", "state", "blocked_reason"]
    list_filter = ["state", "action"]
    list_select_related = ["scope"]
    search_fields = ["path", "scope__key"]
    date_hierarchy = "created_at"


@admin.register(Scope)
class ScopeAdmin(ReadOnlyAdmin):
    list_display = ["key", "version", "policy", "has_alarm", "outside_pending", "scanned_at"]
    list_filter = ["policy", "outside_pending", ("alarm", admin.EmptyFieldListFilter)]
    search_fields = ["key"]

    def view_on_site(self, scope: Scope) -> str | None:
        return reverse("alarm", args=[scope.key]) if scope.alarm else None

    @admin.display(boolean=True, description=_("In order"))
    def has_alarm(self, scope: Scope) -> bool:
        return not scope.alarm


@admin.register(FolderJob)
class JobAdmin(ReadOnlyAdmin):
    hidden = ("rights",)
    list_display = ["created_at", "kind", "state", "scope_key", "done", "total", "actor", "error"]
    list_filter = ["state", "kind"]
    search_fields = ["id", "scope_key", "folder", "actor", "error"]
    ordering = ["-created_at"]
    date_hierarchy = "created_at"
    actions = ["go_on", "stop", "cancel"]

    def view_on_site(self, job: FolderJob) -> str:
        return reverse("job-detail", args=[job.pk])

    @admin.action(description=_("Go on with the selected jobs"))
    def go_on(self, request: HttpRequest, jobs: QuerySet[FolderJob]) -> None:
        do_each(request, job_resume, [{"job_id": job.pk} for job in jobs])

    @admin.action(description=_("Stop the selected jobs"))
    def stop(self, request: HttpRequest, jobs: QuerySet[FolderJob]) -> None:
        do_each(request, job_stop, [{"job_id": job.pk} for job in jobs])

    @admin.action(description=_("Cancel the selected jobs for good"))
    def cancel(self, request: HttpRequest, jobs: QuerySet[FolderJob]) -> None:
        do_each(request, job_stop, [{"job_id": job.pk, "for_good": True} for job in jobs])


def _named(memories: Iterable[Memory]) -> list[dict[str, Any]]:
    return [{"memory_id": memory.stable_id} for memory in memories]
