"""Rows of curation. The documents themselves are Markdown of the ledger; what stands here can be made anew from them."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.base import clock
from apps.memories.models import Memory


class State(models.TextChoices):
    QUEUED = "queued", _("Queued")
    COLLECTING = "collecting", _("Collecting sources")
    RUNNING = "running", _("Asking the model")
    WAITING_DEPENDENCY = "waiting_dependency", _("Waiting for the model")
    APPLYING = "applying", _("Applying")
    COMPLETED = "completed", _("Completed")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")


PENDING = (State.QUEUED, State.WAITING_DEPENDENCY)
AT_WORK = (State.COLLECTING, State.RUNNING, State.APPLYING)
FINAL = (State.COMPLETED, State.FAILED, State.CANCELLED)


class CurationSettings(models.Model):
    """What an administrator chose; one row."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    enabled = models.BooleanField(default=False)
    document_types = models.JSONField(default=list)  # The default set; empty: every document of the template.
    revision = models.PositiveIntegerField(default=0)
    updated_at = models.DateTimeField(default=clock.now)
    updated_by = models.CharField(max_length=120, blank=True, default="")

    class Meta:
        verbose_name_plural = _("curation settings")
        constraints = [models.CheckConstraint(condition=Q(id=1), name="curation_settings_once")]

    def __str__(self) -> str:
        return "on" if self.enabled else "off"


class CurationJob(models.Model):
    """One curation of one scope: durable, cancellable, told about. Its sources are known by two cursors, not listed."""

    id = models.CharField(max_length=40, primary_key=True)
    scope_key = models.CharField(max_length=80)
    project_id = models.CharField(max_length=40, null=True)  # noqa: DJ001 - as callers have it
    trigger = models.CharField(max_length=20, default="manual")
    mode = models.CharField(max_length=12, default="incremental")
    source_strategy = models.CharField(max_length=12, default="auto")
    document_types = models.JSONField(default=list)
    reason = models.CharField(max_length=500, blank=True, default="")
    force = models.BooleanField(default=False)
    state = models.CharField(max_length=20, choices=State.choices, default=State.QUEUED)
    coalesce_key = models.CharField(max_length=100)
    triggers = models.PositiveIntegerField(default=1)  # How many requests this job answers.
    # Who asked; the work itself is done by the curator, in the shared space.
    actor = models.CharField(max_length=120)
    profile = models.CharField(max_length=64)

    start_cursor = models.PositiveBigIntegerField(default=0)  # The last success; what came after it is to be covered,
    end_cursor = models.PositiveBigIntegerField(default=0)  # up to the newest change seen.
    attempt = models.PositiveIntegerField(default=0)  # Of this job; every apply compares it (L-29).
    retries = models.PositiveIntegerField(default=0)  # Failed attempts; waiting for the model is in no counter (D-13).
    next_retry_at = models.DateTimeField(null=True, blank=True)
    cancel_requested = models.BooleanField(default=False)

    phase = models.CharField(max_length=20, blank=True, default="")
    batch = models.PositiveIntegerField(default=0)
    batches = models.PositiveIntegerField(default=0)
    seconds_waited = models.PositiveIntegerField(default=0)  # For the answer that is being waited for.
    sources_read = models.PositiveIntegerField(default=0)
    sources_skipped = models.PositiveIntegerField(default=0)
    uncovered = models.JSONField(default=list)  # The first 100 sources that were left out: id and why.
    documents_created = models.PositiveIntegerField(default=0)
    documents_updated = models.PositiveIntegerField(default=0)
    documents_unchanged = models.PositiveIntegerField(default=0)
    result = models.CharField(max_length=40, blank=True, default="")  # applied, nothing_to_do
    changes = models.JSONField(default=list)  # Document, revision and what was done, as applied.
    change_summary = models.TextField(blank=True, default="")
    conflicts = models.JSONField(default=list)
    warnings = models.JSONField(default=list)
    operation_id = models.CharField(max_length=40, blank=True, default="")

    requests = models.PositiveIntegerField(default=0)
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    milliseconds = models.PositiveBigIntegerField(default=0)
    error_code = models.CharField(max_length=60, blank=True, default="")
    error = models.CharField(max_length=500, blank=True, default="")

    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=State.values), name="curation_state_is_known"),
            # A job that was begun and waits for its next attempt may have one successor beside it.
            models.UniqueConstraint(
                fields=["coalesce_key"], condition=Q(state__in=PENDING, attempt=0), name="curation_one_waits_per_key"
            ),
        ]
        indexes = [
            models.Index(fields=["state", "created_at"], name="curation_job_state"),
            models.Index(fields=["scope_key", "-created_at", "-id"], name="curation_job_history"),
        ]

    def __str__(self) -> str:
        return f"{self.mode} {self.scope_key} {self.state}"


class CurationAttempt(models.Model):
    """One real execution with what it began with, secrets apart: later changes of the settings never alter it."""

    class State(models.TextChoices):
        RUNNING = "running", _("Running")
        COMPLETED = "completed", _("Completed")
        FAILED = "failed", _("Failed")
        WAITING = "waiting", _("Ended to wait for the model")
        CANCELLED = "cancelled", _("Cancelled")
        INTERRUPTED = "interrupted", _("Interrupted")

    job = models.ForeignKey(CurationJob, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=12, choices=State.choices, default=State.RUNNING)
    connection_revision = models.PositiveBigIntegerField(default=0)
    connection_name = models.CharField(max_length=120, blank=True, default="")
    protocol = models.CharField(max_length=20, blank=True, default="")
    model = models.CharField(max_length=200, blank=True, default="")
    prompt_version = models.CharField(max_length=40, blank=True, default="")
    schema_version = models.CharField(max_length=40, blank=True, default="")
    budgets = models.JSONField(default=dict)
    error_code = models.CharField(max_length=60, blank=True, default="")
    error = models.CharField(max_length=500, blank=True, default="")
    started_at = models.DateTimeField(default=clock.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["job_id", "number"]
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="curation_attempt_once")]

    def __str__(self) -> str:
        return f"{self.job_id}, attempt {self.number}"


class CuratedDocument(models.Model):
    """What curation knows of one of its documents. The text is the ledger's ``memory``."""

    memory = models.OneToOneField(Memory, on_delete=models.CASCADE, primary_key=True, related_name="curated")
    scope_key = models.CharField(max_length=80)
    document_type = models.CharField(max_length=80)
    written_revision = models.PositiveBigIntegerField()  # The last one that curation wrote; a person's may follow.
    source_digest = models.CharField(max_length=64)
    model = models.CharField(max_length=200)
    prompt_version = models.CharField(max_length=40)
    job = models.ForeignKey(CurationJob, on_delete=models.SET_NULL, null=True, related_name="+")
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        ordering = ["scope_key", "document_type"]
        constraints = [
            models.UniqueConstraint(fields=["scope_key", "document_type"], name="curated_type_once_per_scope")
        ]

    def __str__(self) -> str:
        return f"{self.scope_key} {self.document_type}"


class CuratedSource(models.Model):
    """Which source, at which revision, stands behind one revision of a document."""

    document = models.ForeignKey(CuratedDocument, on_delete=models.CASCADE, related_name="sources")
    revision = models.PositiveBigIntegerField()
    source_id = models.CharField(max_length=80)
    source_revision = models.PositiveBigIntegerField()
    resource = models.CharField(max_length=20)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["document", "revision", "source_id"], name="curated_source_once")
        ]
        indexes = [models.Index(fields=["source_id"], name="curated_source_lookup")]

    def __str__(self) -> str:
        return f"{self.document_id}@{self.revision} from {self.source_id}@{self.source_revision}"


class CurationCursor(models.Model):
    """Up to which change a scope's documents know everything. Moved in the apply's own transaction, nowhere else."""

    scope_key = models.CharField(max_length=80, primary_key=True)
    sequence = models.PositiveBigIntegerField(default=0)
    job = models.ForeignKey(CurationJob, on_delete=models.SET_NULL, null=True, related_name="+")
    moved_at = models.DateTimeField(default=clock.now)

    def __str__(self) -> str:
        return f"{self.scope_key}: {self.sequence}"
