"""One row for each thing that can be worked on; it stays when the work is done, so that its attempts keep counting."""

from django.db import models


class Lease(models.Model):
    key = models.CharField(max_length=200, unique=True)
    kind = models.CharField(max_length=40, help_text="What the work is: slot, job, restore ...")
    owner = models.CharField(max_length=36, blank=True, help_text="Empty: nobody holds it.")
    attempt = models.PositiveBigIntegerField(default=1, help_text="Grows with every taking.")
    taken_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(attempt__gte=1), name="lease_attempt_counts_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.key}, attempt {self.attempt}"
