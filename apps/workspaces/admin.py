from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.operations.administration import ReadOnlyAdmin, do_each
from apps.workspaces.models import Project
from apps.workspaces.services import project_archive, project_unarchive


@admin.register(Project)
class ProjectAdmin(ReadOnlyAdmin):
    """A workspace is changed by its operations, which tell the ledger; it ends on pages of its own."""

    hidden = ("git_remote_key",)
    list_display = ["name", "slug", "workspace_type", "git_remote", "archived_at", "deleted_at", "updated_at"]
    list_filter = [
        "workspace_type",
        ("archived_at", admin.EmptyFieldListFilter),
        ("deleted_at", admin.EmptyFieldListFilter),
    ]
    search_fields = ["id", "name", "slug", "external_key", "git_remote"]
    actions = ["archive", "unarchive"]

    def view_on_site(self, project: Project) -> str | None:
        return None if project.deleted_at else reverse("workspace-detail", args=[project.pk])

    @admin.action(description=_("Archive the selected workspaces"))
    def archive(self, request: HttpRequest, projects: QuerySet[Project]) -> None:
        do_each(request, project_archive, [{"project_id": project.pk} for project in projects])

    @admin.action(description=_("Take the selected workspaces out of the archive"))
    def unarchive(self, request: HttpRequest, projects: QuerySet[Project]) -> None:
        do_each(request, project_unarchive, [{"project_id": project.pk} for project in projects])
