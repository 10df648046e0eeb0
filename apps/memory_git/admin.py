from django.contrib import admin

from apps.memory_git.models import GitCommit, GitConnection, GitDeed, GitSyncJob, MemoryRepository
from apps.operations.administration import ReadOnlyAdmin


@admin.register(MemoryRepository)
class RepositoryAdmin(ReadOnlyAdmin):
    list_display = ["name", "mode", "scope_key", "status", "position", "pushed_position", "archived_at"]
    list_filter = ["status", "mode"]
    search_fields = ["id", "name", "scope_key"]


@admin.register(GitConnection)
class ConnectionAdmin(ReadOnlyAdmin):
    hidden = ("sealed_secret", "sealed_private_key", "sealed_passphrase", "sealed_proxy")
    list_display = ["name", "transport", "user_name", "enabled", "tested_at", "error_code"]


@admin.register(GitSyncJob)
class SyncJobAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "operation", "root", "state", "attempts", "error_code"]
    list_filter = ["state"]
    search_fields = ["operation__id", "subject_id", "commit"]


@admin.register(GitCommit)
class CommitAdmin(ReadOnlyAdmin):
    hidden = ("listed",)
    list_display = ["at", "repository", "subject", "name", "actor", "changes"]
    list_select_related = ["repository"]
    search_fields = ["sha", "operation_id", "subject"]


@admin.register(GitDeed)
class DeedAdmin(ReadOnlyAdmin):
    hidden = ("arguments", "journal")
    list_display = ["created_at", "kind", "repository", "state", "done", "total", "error_code"]
    list_filter = ["kind", "state"]
    list_select_related = ["repository"]
