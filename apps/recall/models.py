"""What was shown to whom. Nothing here belongs to a memory's revisions: recalling changes no memory."""

from django.db import models

from apps.base import clock


class RecallSession(models.Model):
    """One conversation of one caller: its client's own id for it, never shared between callers."""

    owner = models.CharField(max_length=160)
    session_id = models.CharField(max_length=200)
    used_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "session_id"], name="recall_session_once")]
        indexes = [models.Index(fields=["used_at"], name="recall_session_used")]

    def __str__(self) -> str:
        return self.session_id


class RecallDelivery(models.Model):
    """A memory that lies in a session's transcript, with the message it came with."""

    session = models.ForeignKey(RecallSession, on_delete=models.CASCADE, related_name="deliveries")
    message_id = models.CharField(max_length=200, blank=True, default="")
    memory_id = models.CharField(max_length=40)
    at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name_plural = "recall deliveries"
        constraints = [models.UniqueConstraint(fields=["session", "memory_id"], name="recall_delivery_once")]
        indexes = [models.Index(fields=["memory_id"], name="recall_delivery_memory")]

    def __str__(self) -> str:
        return self.memory_id


class MemoryUsage(models.Model):
    """How often a memory was recalled for one token or person."""

    owner = models.CharField(max_length=160)
    memory_id = models.CharField(max_length=40)
    count = models.PositiveBigIntegerField(default=0)
    last_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name_plural = "memory usage"
        constraints = [models.UniqueConstraint(fields=["owner", "memory_id"], name="memory_usage_once")]
        indexes = [models.Index(fields=["memory_id"], name="memory_usage_memory")]

    def __str__(self) -> str:
        return self.memory_id
