from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.base import clock


class WorkspaceType(models.TextChoices):
    DEVELOPMENT = "development", _("Development")
    OFFICE = "office", _("Office")
    STUDY = "study", _("Study")
    RESEARCH = "research", _("Research")
    PERSONAL = "personal", _("Personal")
    GENERAL = "general", _("General")


class Project(models.Model):
    """One workspace. Its id never changes; name, type and remote may."""

    id = models.CharField(max_length=40, primary_key=True)
    slug = models.CharField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    description = models.CharField(max_length=2000, blank=True, default="")
    external_key = models.CharField(max_length=200, null=True, blank=True, unique=True)
    git_remote = models.CharField(max_length=1000, blank=True, default="")
    git_remote_key = models.CharField(max_length=1000, null=True, blank=True, unique=True)
    git_branch = models.CharField(max_length=250, blank=True, default="")
    workspace_type = models.CharField(max_length=20, choices=WorkspaceType.choices, default=WorkspaceType.GENERAL)
    template = models.JSONField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    # Gone for everybody; the row stays, since history speaks of it. One that was merged leads on to where its documents are.
    deleted_at = models.DateTimeField(null=True, blank=True)
    merged_into = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="merged")
    revision = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(workspace_type__in=WorkspaceType.values), name="workspace_type_is_known"
            ),
            models.CheckConstraint(
                condition=Q(merged_into=None) | Q(deleted_at__isnull=False), name="merged_workspace_is_gone"
            ),
        ]

    def __str__(self) -> str:
        return self.name
