from django.db import models

from apps.base import clock


class RequestReceipt(models.Model):
    """What a caller's own request id led to, so that a repeat does nothing twice (L-20).

    ``answer`` is null while a job still works on the deed; ``job_id`` then says which.
    """

    profile = models.CharField(max_length=64)
    request_id = models.CharField(max_length=200)
    operation = models.CharField(max_length=80)
    arguments_digest = models.CharField(max_length=64)
    answer = models.JSONField(null=True)
    job_id = models.CharField(max_length=40, blank=True, default="")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["profile", "request_id"], name="receipt_once")]

    def __str__(self) -> str:
        return f"{self.operation} {self.request_id}"
