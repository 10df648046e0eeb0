from django.contrib import admin
from django.http import HttpRequest

from apps.workspaces.models import Project


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin):
    """To look at. A workspace is changed by its operations, which tell the ledger."""

    list_display = ["name", "slug", "workspace_type", "git_remote", "archived_at", "updated_at"]
    list_filter = ["workspace_type"]
    search_fields = ["name", "slug", "external_key", "git_remote"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Project | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Project | None = None) -> bool:
        return False
