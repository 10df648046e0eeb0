from django.db import models


class Change(models.Model):
    """One thing that happened. ``sequence`` only grows and is never given twice (AUTOINCREMENT), so it is every cursor."""

    sequence = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=40)
    scope_key = models.CharField(max_length=80)
    resource = models.CharField(max_length=20)
    stable_id = models.CharField(max_length=40)
    revision = models.PositiveBigIntegerField(default=0)
    origin = models.CharField(max_length=12)
    actor = models.CharField(max_length=120)
    profile = models.CharField(max_length=64, default="shared")
    operation_id = models.CharField(max_length=40, blank=True, default="")
    at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["scope_key", "sequence"], name="change_scope"),
            models.Index(fields=["stable_id", "sequence"], name="change_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.sequence} {self.kind} {self.stable_id}"
