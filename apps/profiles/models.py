from django.db import models
from django.db.models import Q

from apps.base import clock


class Profile(models.Model):
    """A memory space. ``shared`` belongs to the team and is always there."""

    id = models.CharField(max_length=64, primary_key=True)
    name = models.CharField(max_length=120)
    description = models.CharField(max_length=1000, blank=True, default="")
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=~Q(id="shared") | Q(enabled=True), name="shared_profile_is_enabled"),
        ]

    def __str__(self) -> str:
        return self.name
