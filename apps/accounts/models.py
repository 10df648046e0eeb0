from django.contrib.auth.models import AbstractUser
from django.db import models

from apps.base import clock


class User(AbstractUser):
    """A person who signs in. The one-time password of the first start must be changed before anything else."""

    profile = models.ForeignKey("profiles.Profile", on_delete=models.SET_DEFAULT, default="shared", related_name="+")
    must_change_password = models.BooleanField(default=False)
    zone = models.CharField(max_length=64, blank=True, default="")


class McpToken(models.Model):
    """An agent's key. Only its digest is kept; ``hint`` are the first characters, to recognise it by."""

    id = models.CharField(max_length=40, primary_key=True)
    name = models.CharField(max_length=120)
    digest = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=16)
    profile = models.ForeignKey("profiles.Profile", on_delete=models.PROTECT, default="shared", related_name="tokens")
    project = models.ForeignKey(
        "workspaces.Project", on_delete=models.CASCADE, null=True, blank=True, related_name="tokens"
    )
    toolset = models.CharField(max_length=20, default="agent")
    rights = models.JSONField(default=list)
    made_by = models.CharField(max_length=150, blank=True, default="")
    created_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "id"]

    def __str__(self) -> str:
        return self.name


class SignInTries(models.Model):
    """Tries to sign in under one name or from one address since ``since``; in the database, so that all processes count."""

    key = models.CharField(max_length=64, primary_key=True)  # A digest: what people type as a name may be a password.
    tries = models.PositiveIntegerField()
    since = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name_plural = "sign-in tries"

    def __str__(self) -> str:
        return self.key
