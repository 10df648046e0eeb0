"""Rows of the ledger. Current text lies in Markdown files; history and everything derived lies here."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.base import clock
from apps.memories.scopes import project_of


class Resource(models.TextChoices):
    MEMORY = "memory", _("Memory")
    CHECKPOINT = "checkpoint", _("Checkpoint")
    CURATED = "curated", _("Curated document")


class Status(models.TextChoices):
    ACTIVE = "active", _("Active")
    ARCHIVED = "archived", _("Archived")
    DELETED = "deleted", _("Deleted")


class Kind(models.TextChoices):
    NOTE = "note", _("Note")
    RULE = "rule", _("Rule")
    FACT = "fact", _("Fact")
    DECISION = "decision", _("Decision")
    EXPERIENCE = "experience", _("Experience")


class NoteType(models.TextChoices):
    NONE = "", _("None")
    USER = "user", _("About the user")
    FEEDBACK = "feedback", _("Feedback")
    PROJECT = "project", _("About the project")
    REFERENCE = "reference", _("Reference")


class Scope(models.Model):
    """Where memories belong: ``global/<profile>``, ``project/<id>`` or ``library``; and the head of its versions."""

    key = models.CharField(max_length=80, primary_key=True)
    version = models.PositiveBigIntegerField(default=0)
    policy = models.CharField(
        max_length=10, default="direct", choices=[("direct", _("Direct")), ("reviewed", _("Reviewed"))]
    )
    reserved_revisions = models.PositiveBigIntegerField(default=0)  # L-23: written to scope.json in blocks.
    alarm = models.JSONField(null=True, blank=True)  # Why the scan stopped in red (L-11); null is fine.
    notices = models.JSONField(default=list, blank=True)  # Twins and files that could not be read, of the last scan.
    missing = models.JSONField(
        default=dict, blank=True
    )  # Files gone since when, by stable id: deleted once that has lasted.
    outside_pending = models.BooleanField(default=False)  # The last scan saw changes it could not take in yet.
    scanned_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(key="library") | Q(key__startswith="global/") | Q(key__startswith="project/"),
                name="scope_key_is_known",
            )
        ]

    def __str__(self) -> str:
        return self.key


class Folder(models.Model):
    """How many files the current folder of an area holds; at the limit the next number begins (D-26)."""

    scope = models.ForeignKey(Scope, on_delete=models.CASCADE, related_name="+")
    base = models.CharField(max_length=900)  # memories/2026/11
    number = models.PositiveIntegerField(default=1)
    files = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["scope", "base"], name="folder_once")]

    def __str__(self) -> str:
        return f"{self.base}-{self.number}"


class Memory(models.Model):
    """One Markdown document: a memory, a checkpoint or a curated document."""

    stable_id = models.CharField(max_length=40, unique=True)
    resource = models.CharField(max_length=12, choices=Resource.choices)
    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="memories")
    slug = models.CharField(max_length=80)
    slug_key = models.CharField(max_length=120)
    path = models.CharField(max_length=900)
    path_key = models.CharField(max_length=1200)
    title = models.CharField(max_length=400)
    title_key = models.CharField(max_length=600)
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.NOTE)
    note_type = models.CharField(max_length=12, choices=NoteType.choices, blank=True, default="")
    summary = models.TextField(blank=True, default="")
    tags = models.JSONField(default=list)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.ACTIVE)
    profile_id = models.CharField(max_length=64, default="shared")
    revision = models.PositiveBigIntegerField(default=1)
    raw_hash = models.CharField(max_length=64)
    content_hash = models.CharField(max_length=64)
    # Of the words alone, whatever the head, the case, the Unicode form: a second save of a text is seen by it.
    text_key = models.BigIntegerField(default=0)
    # The signature of the settled file (L-04); null while an intent is open.
    file_size = models.BigIntegerField(null=True)
    file_mtime = models.BigIntegerField(null=True)
    file_inode = models.BigIntegerField(null=True)
    home = models.CharField(max_length=900, blank=True, default="")  # Where an archived or deleted one came from.
    withheld = models.BooleanField(default=False)  # Adopted text with a secret: kept from model, index and Git (D-14).
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = _("memories")
        constraints = [
            models.UniqueConstraint(fields=["scope", "slug_key"], name="slug_once_per_scope"),
            models.UniqueConstraint(fields=["scope", "path_key"], name="path_once_per_scope"),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="memory_status_is_known"),
            models.CheckConstraint(condition=Q(resource__in=Resource.values), name="memory_resource_is_known"),
        ]
        indexes = [
            models.Index(fields=["scope", "resource", "status", "-updated_at", "-id"], name="memory_list"),
            models.Index(fields=["scope", "resource", "status", "kind", "-updated_at", "-id"], name="memory_kind"),
            models.Index(fields=["scope", "title_key"], name="memory_title"),
            models.Index(fields=["resource", "status", "-updated_at", "-id"], name="memory_newest"),
            models.Index(fields=["path_key"], name="memory_path"),
            models.Index(fields=["slug_key"], name="memory_slug"),
            models.Index(fields=["text_key"], name="memory_text"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def memory_id(self) -> str:
        return self.stable_id

    @property
    def scope_key(self) -> str:
        return self.scope_id

    @property
    def project_id(self) -> str | None:
        """The workspace it belongs to, if any."""
        return project_of(self.scope_id)


class Alias(models.Model):
    """A slug a memory used to have (L-14): old links keep finding it."""

    scope = models.ForeignKey(Scope, on_delete=models.CASCADE, related_name="+")
    slug_key = models.CharField(max_length=120)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="aliases")

    class Meta:
        verbose_name_plural = _("aliases")
        constraints = [models.UniqueConstraint(fields=["scope", "slug_key"], name="alias_once_per_scope")]
        indexes = [models.Index(fields=["slug_key"], name="alias_slug")]

    def __str__(self) -> str:
        return self.slug_key


class LogicalOperation(models.Model):
    """One deed, however many commits it takes: open, then closed with a number that gives the order of Git commits."""

    OPEN, CLOSED, PARTIAL = "open", "closed", "partial"

    id = models.CharField(max_length=40, primary_key=True)
    name = models.CharField(max_length=80)
    state = models.CharField(
        max_length=8, default=OPEN, choices=[(OPEN, _("Open")), (CLOSED, _("Closed")), (PARTIAL, _("Partial"))]
    )
    closing_number = models.PositiveBigIntegerField(null=True, unique=True)
    actor = models.CharField(max_length=120)
    origin = models.CharField(max_length=12)
    profile = models.CharField(max_length=64)
    token_id = models.CharField(max_length=40, blank=True, default="")
    job_id = models.CharField(max_length=40, blank=True, default="")
    reason = models.CharField(max_length=500, blank=True, default="")
    opened_at = models.DateTimeField(default=clock.now)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["state", "opened_at"], name="operation_open")]

    def __str__(self) -> str:
        return f"{self.name} {self.id}"


class ScopeCommit(models.Model):
    """One version of one scope: at most 200 changes."""

    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="commits")
    version = models.PositiveBigIntegerField()
    operation = models.ForeignKey(LogicalOperation, on_delete=models.PROTECT, related_name="commits")
    changes = models.PositiveIntegerField()
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["scope", "version"], name="scope_version_once")]
        indexes = [models.Index(fields=["scope", "-at", "-id"], name="commit_timeline")]

    def __str__(self) -> str:
        return f"{self.scope_id}@{self.version}"


class MemoryRevision(models.Model):
    """The exact bytes of a document at one revision, frontmatter included. Never changed."""

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveBigIntegerField()
    base = models.PositiveBigIntegerField(default=0)
    document = models.BinaryField()
    body_at = models.PositiveIntegerField(default=0)  # Where the body begins: excerpts need no parsing of heads.
    raw_hash = models.CharField(max_length=64)
    content_hash = models.CharField(max_length=64)
    title = models.CharField(max_length=400)
    path = models.CharField(max_length=900)
    status = models.CharField(max_length=10, choices=Status.choices)
    action = models.CharField(max_length=20)  # save, update, append, archive, delete, external, ...
    reason = models.CharField(max_length=500, blank=True, default="")
    warning = models.CharField(max_length=80, blank=True, default="")
    actor = models.CharField(max_length=120)
    origin = models.CharField(max_length=12)
    withheld = models.BooleanField(default=False)
    commit = models.ForeignKey(ScopeCommit, on_delete=models.PROTECT, related_name="revisions")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["memory", "number"], name="revision_once")]

    def __str__(self) -> str:
        return f"{self.memory_id}@{self.number}"


class FileIntent(models.Model):
    """What still has to be seen on disk: written, and made durable. Replayed after a crash from the revision's bytes."""

    WRITE, DELETE = "write", "delete"
    OPEN, BLOCKED = "open", "blocked"

    scope = models.ForeignKey(Scope, on_delete=models.CASCADE, related_name="intents")
    path = models.CharField(max_length=900)
    action = models.CharField(max_length=8)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, null=True, related_name="intents")
    revision = models.ForeignKey(MemoryRevision, on_delete=models.CASCADE, null=True, related_name="+")
    content = models.BinaryField(null=True)  # Only where there is no revision: .memrelay/scope.json.
    new_hash = models.CharField(max_length=64, blank=True, default="")  # "" for a deletion.
    expected_hash = models.CharField(max_length=64, blank=True, default="")  # What lies there before; "" is nothing.
    state = models.CharField(max_length=8, default=OPEN)
    blocked_reason = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["scope", "path", "id"], name="intent_path"),
            models.Index(fields=["memory", "id"], name="intent_memory"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.scope_id}/{self.path}"


class Checkpoint(models.Model):
    """The fields of a checkpoint, parsed from its document; empty where a foreign edit broke the headings (D-37)."""

    memory = models.OneToOneField(Memory, on_delete=models.CASCADE, primary_key=True, related_name="checkpoint")
    completed = models.TextField(blank=True, default="")
    reason = models.TextField(blank=True, default="")
    key_changes = models.TextField(blank=True, default="")
    verification = models.TextField(blank=True, default="")
    problems = models.TextField(blank=True, default="")
    solutions = models.TextField(blank=True, default="")
    next_steps = models.TextField(blank=True, default="")
    important = models.BooleanField(default=False)
    broken = models.BooleanField(default=False)

    def __str__(self) -> str:
        return str(self.memory_id)


class MemoryTag(models.Model):
    """A tag of a memory, so that a list by tag reads only what has it."""

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="tag_rows")
    tag_key = models.CharField(max_length=200)

    class Meta:
        indexes = [models.Index(fields=["tag_key", "memory"], name="tag_lookup")]

    def __str__(self) -> str:
        return self.tag_key


class MemoryLink(models.Model):
    """A ``[[target]]`` as written in a memory's current text; where it leads is looked up when it is read."""

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="links")
    position = models.PositiveIntegerField()
    target = models.CharField(max_length=400)
    target_key = models.CharField(max_length=400)  # links.key_of(target)

    class Meta:
        indexes = [models.Index(fields=["target_key"], name="link_target")]

    def __str__(self) -> str:
        return self.target


class FolderJob(models.Model):
    """Work on many documents that outlives a request: durable, with progress, stoppable, resumable.

    An import or export of a folder; or the deletion or the move of all that a scope holds, which ``settings.JOB_DOINGS`` names.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Running")
        PAUSED = "paused", _("Stopped")
        COMPLETED = "completed", _("Completed")
        CANCELLED = "cancelled", _("Cancelled")
        FAILED = "failed", _("Failed")

    IMPORT, EXPORT, DELETE, MERGE = "import", "export", "delete", "merge"
    KINDS = [(IMPORT, _("Import")), (EXPORT, _("Export")), (DELETE, _("Deletion")), (MERGE, _("Merging"))]

    id = models.CharField(max_length=40, primary_key=True)
    kind = models.CharField(max_length=10, choices=KINDS)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    folder = models.TextField()  # Empty where no folder is involved.
    scope_key = models.CharField(max_length=80)
    target_key = models.CharField(max_length=80, blank=True, default="")  # Where everything of the scope moves to.
    operation = models.ForeignKey(LogicalOperation, on_delete=models.PROTECT, null=True, related_name="+")
    actor = models.CharField(max_length=120)
    profile = models.CharField(max_length=64)
    project_id = models.CharField(max_length=40, null=True)  # noqa: DJ001
    rights = models.JSONField(default=list)
    stop_requested = models.BooleanField(default=False)
    cancel_requested = models.BooleanField(default=False)  # Stopped for good: nothing goes on from there.
    attempt = models.PositiveBigIntegerField(default=0)
    fruitless = models.PositiveIntegerField(default=0)  # Attempts in a row that brought nothing forward.
    position = models.TextField(blank=True, default="")  # What was done last: a quoted path, or a key.
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    imported = models.PositiveIntegerField(default=0)  # New memories; of an export, files written.
    updated = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    reported = models.PositiveIntegerField(default=0)
    reports = models.JSONField(default=list)  # The first 200 files that something is to be said of: path and code.
    error = models.CharField(max_length=500, blank=True, default="")
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["state", "created_at"], name="job_state")]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


class ImportedFile(models.Model):
    """Which memory a source file became, so that importing a folder twice doubles nothing (L-16)."""

    scope = models.ForeignKey(Scope, on_delete=models.CASCADE, related_name="+")
    source = models.TextField()  # The folder's identity and the path inside it.
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+")
    raw_hash = models.CharField(max_length=64)  # Of the source file.
    revision = models.PositiveBigIntegerField()  # The memory's, as the import left it.

    class Meta:
        constraints = [models.UniqueConstraint(fields=["scope", "source"], name="source_once_per_scope")]

    def __str__(self) -> str:
        return self.source
