from django.db import models
from django.db.models import Q

from apps.base import clock


class ModelConnection(models.Model):
    """One revision of the connection; saving makes the next one. Only the current revision still has its token.

    Work that began under an older revision holds it in memory (``connections.OpenConnection``).
    """

    id = models.CharField(max_length=40, primary_key=True)
    revision = models.PositiveBigIntegerField(unique=True)
    is_current = models.BooleanField(default=True)
    enabled = models.BooleanField(default=True)
    name = models.CharField(max_length=120)
    base_url = models.CharField(max_length=600)
    sealed_token = models.BinaryField(null=True, editable=False)
    text_model = models.CharField(max_length=200, blank=True, default="")
    vision_model = models.CharField(max_length=200, blank=True, default="")
    protocol = models.CharField(max_length=20, default="auto")
    streaming = models.CharField(max_length=20, default="auto")
    request_timeout_seconds = models.PositiveIntegerField(default=120)
    probe_interval_seconds = models.PositiveIntegerField(default=300)
    max_input_tokens = models.PositiveIntegerField(default=24_000)
    max_output_tokens = models.PositiveIntegerField(default=8_192)
    context_tokens = models.PositiveIntegerField(default=32_768)
    admin_url = models.CharField(max_length=600, blank=True, default="")
    made_by = models.CharField(max_length=150, blank=True, default="")
    made_at = models.DateTimeField(default=clock.now)

    class Meta:
        ordering = ["-revision"]
        constraints = [
            models.UniqueConstraint(fields=["is_current"], condition=Q(is_current=True), name="llm_one_current"),
            models.CheckConstraint(
                condition=Q(is_current=True) | Q(sealed_token=None), name="llm_no_token_outlives_its_turn"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}, revision {self.revision}"


class ConnectionHealth(models.Model):
    """What is known of one revision's endpoint: what it can do, how it was last, when to look again."""

    connection = models.OneToOneField(
        ModelConnection, on_delete=models.CASCADE, primary_key=True, related_name="health"
    )
    state = models.CharField(max_length=24, default="checking")
    capabilities = models.JSONField(default=dict)
    dialect = models.JSONField(null=True, help_text="What the endpoint takes of the effective protocol.")
    streams = models.BooleanField(default=False, help_text="Whether answers are streamed.")
    vision_dialect = models.JSONField(null=True)
    verified_at = models.DateTimeField(null=True)
    checked_at = models.DateTimeField(null=True)
    succeeded_at = models.DateTimeField(null=True)
    failed_at = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=40, blank=True, default="")
    http_status = models.PositiveSmallIntegerField(null=True)
    failures = models.PositiveIntegerField(default=0, help_text="In a row, since the last success.")
    next_probe_at = models.DateTimeField(null=True, db_index=True)

    def __str__(self) -> str:
        return f"{self.connection_id}: {self.state}"


class ModelCall(models.Model):
    """One request for words and what it cost. No word of it is kept."""

    RUNNING, DONE = "RUNNING", "OK"

    id = models.CharField(max_length=40, primary_key=True)
    purpose = models.CharField(max_length=60)
    scope_key = models.CharField(max_length=120, blank=True, default="", help_text="Whose budget; empty: the server's.")
    job_id = models.CharField(max_length=64, blank=True, default="")
    connection_revision = models.PositiveBigIntegerField()
    connection_name = models.CharField(max_length=120)
    protocol = models.CharField(max_length=20)
    streamed = models.BooleanField(default=False)
    model = models.CharField(max_length=200)
    response_model = models.CharField(max_length=200, blank=True, default="")
    service_request_id = models.CharField(max_length=200, blank=True, default="")
    prompt_version = models.CharField(max_length=40, blank=True, default="")
    schema_name = models.CharField(max_length=64, blank=True, default="")
    owner = models.CharField(max_length=36, help_text="The process that makes the call.")
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    duration_ms = models.PositiveBigIntegerField(default=0)
    requests = models.PositiveSmallIntegerField(default=0, help_text="Requests it took, refusals included.")
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    is_estimate = models.BooleanField(default=True, help_text="The endpoint did not say, or has not yet.")
    outcome = models.CharField(max_length=40, default=RUNNING)

    class Meta:
        ordering = ["-started_at", "-id"]
        indexes = [
            models.Index(fields=["scope_key", "started_at"], name="llm_call_by_scope"),
            models.Index(fields=["started_at"], name="llm_call_by_time"),
            models.Index(fields=["job_id"], condition=~Q(job_id=""), name="llm_call_by_job"),
            models.Index(fields=["owner"], condition=Q(outcome="RUNNING"), name="llm_call_running"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose}: {self.outcome}"
