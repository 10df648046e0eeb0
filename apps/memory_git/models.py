"""Rows of Memory Git. Its history lies in repositories; what stands here finds it quickly and can be made anew from them."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.base import clock
from apps.memories.models import LogicalOperation


class Strategy(models.TextChoices):
    SINGLE = "single", _("One repository")
    PER_WORKSPACE = "per_workspace", _("One repository per workspace")


class RepositoryStatus(models.TextChoices):
    """How a repository is, as people are told. Only the last four are red."""

    READY = "ready", _("Up to date")
    WAITING_REMOTE = "waiting_remote", _("Waiting for the remote")
    REMOTE_REPOSITORY_MISSING = "remote_repository_missing", _("Remote repository missing")
    CONFIGURATION_ERROR = "configuration_error", _("Connection not right")
    REMOTE_DIVERGED = "remote_diverged", _("Remote went another way")
    LOCAL_ERROR = "local_error", _("Local repository not usable")


class JobState(models.TextChoices):
    PENDING = "pending", _("Waiting")
    COMMITTING = "committing", _("Being committed")
    PUSHING = "pushing", _("Committed, to be pushed")
    COMPLETED = "completed", _("Completed")
    WAITING_REMOTE = "waiting_remote", _("Waiting for the remote")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")


class Capability(models.TextChoices):
    UNKNOWN = "unknown", _("Not known yet")
    SUPPORTED = "supported", _("Supported")
    UNSUPPORTED = "unsupported", _("Not supported")
    ERROR = "error", _("Error")


class GitSettings(models.Model):
    """What an administrator chose; one row, and none before anybody chose."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    enabled = models.BooleanField(default=False)  # Writes leave an outbox row.
    strategy = models.CharField(max_length=14, choices=Strategy.choices, default=Strategy.SINGLE)
    branch = models.CharField(max_length=100, default="main")
    author_name = models.CharField(max_length=120, default="MemRelay")
    author_email = models.CharField(max_length=200, default="memrelay@localhost")
    enabled_at = models.DateTimeField(null=True, blank=True)
    revision = models.PositiveIntegerField(default=0)
    updated_at = models.DateTimeField(default=clock.now)
    updated_by = models.CharField(max_length=120, blank=True, default="")

    class Meta:
        verbose_name_plural = _("Git settings")
        constraints = [models.CheckConstraint(condition=Q(id=1), name="git_settings_once")]

    def __str__(self) -> str:
        return "on" if self.enabled else "off"


class GitConnection(models.Model):
    """A Git server account that histories are mirrored to. Its secrets are sealed, each for its own column and row."""

    LOCAL, VAULT = "local", "vault"

    id = models.CharField(max_length=40, primary_key=True)
    name = models.CharField(max_length=120)
    url = models.CharField(max_length=600)  # Exact, or a template with {repo}; the mode follows from it (GIT-014).
    transport = models.CharField(max_length=8)  # https, http, ssh, file
    user_name = models.CharField(max_length=200, blank=True, default="")
    credential_storage = models.CharField(
        max_length=8, default=LOCAL, choices=[(LOCAL, _("Sealed here")), (VAULT, _("In the vault"))]
    )
    credential_reference = models.CharField(max_length=200, blank=True, default="")  # The vault's item.
    sealed_secret = models.BinaryField(null=True, editable=False)  # Token or password.
    sealed_private_key = models.BinaryField(null=True, editable=False)
    sealed_passphrase = models.BinaryField(null=True, editable=False)
    sealed_proxy = models.BinaryField(null=True, editable=False)  # Its address may hold a password.
    host_keys = models.JSONField(default=list, blank=True)  # Fingerprints that an administrator trusts.
    authorities = models.TextField(blank=True, default="")  # Certificates in PEM besides the system's.
    branch = models.CharField(max_length=100, default="main")
    allow_write_test = models.BooleanField(default=True)
    allow_push_to_create = models.BooleanField(default=True)
    enabled = models.BooleanField(default=True)
    capabilities = models.JSONField(default=dict, blank=True)  # Name to {state, code, message, at}.
    tested_at = models.DateTimeField(null=True, blank=True)
    succeeded_at = models.DateTimeField(null=True, blank=True)  # It worked before: failing credentials may pass (D-18).
    error_code = models.CharField(max_length=40, blank=True, default="")
    revision = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)
    updated_by = models.CharField(max_length=120, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["enabled"], condition=Q(enabled=True), name="git_one_connection_enabled")
        ]

    def __str__(self) -> str:
        return self.name


class MemoryRepository(models.Model):
    """One local repository. ``root`` is its folder below the memories folder; empty for the one that holds everything."""

    id = models.CharField(max_length=40, primary_key=True)
    mode = models.CharField(max_length=14, choices=Strategy.choices)
    scope_key = models.CharField(max_length=80, blank=True, default="")  # Empty in single mode.
    root = models.CharField(max_length=200, blank=True, default="")
    name = models.CharField(max_length=100)  # As it is called at a remote; never changes (GIT-019).
    branch = models.CharField(max_length=100, default="main")
    status = models.CharField(max_length=26, choices=RepositoryStatus.choices, default=RepositoryStatus.READY)
    error_code = models.CharField(max_length=40, blank=True, default="")
    error = models.CharField(max_length=500, blank=True, default="")
    # The local side.
    head = models.CharField(max_length=40, blank=True, default="")  # The last commit that has its rows.
    position = models.PositiveBigIntegerField(default=0)  # Its number in this repository, from 1.
    closing_number = models.PositiveBigIntegerField(default=0)  # Of the newest operation it holds.
    loose = models.PositiveIntegerField(default=0)  # Objects written since the last maintenance.
    maintained_at = models.DateTimeField(null=True, blank=True)
    # The remote side; written by whoever pushes.
    connection = models.ForeignKey(GitConnection, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    remote_url = models.CharField(max_length=700, blank=True, default="")  # Resolved once; renames never change it.
    stays_local = models.BooleanField(default=False)  # An administrator unbound it; it is not bound again by itself.
    push_to_create = models.CharField(max_length=12, choices=Capability.choices, default=Capability.UNKNOWN)
    pushed_commit = models.CharField(max_length=40, blank=True, default="")
    pushed_position = models.PositiveBigIntegerField(default=0)
    pushed_at = models.DateTimeField(null=True, blank=True)
    remote_commit = models.CharField(max_length=40, blank=True, default="")  # As last seen there.
    remote_reachable = models.BooleanField(null=True)
    remote_checked_at = models.DateTimeField(null=True, blank=True)
    push_attempts = models.PositiveIntegerField(default=0)  # In a row without success.
    next_push_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=clock.now)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = _("memory repositories")
        constraints = [
            models.UniqueConstraint(fields=["root"], condition=Q(archived_at=None), name="git_one_repository_a_root"),
        ]
        indexes = [models.Index(fields=["scope_key"], name="git_repository_scope")]

    def __str__(self) -> str:
        return self.name

    @property
    def repository_id(self) -> str:
        return self.id

    @property
    def behind(self) -> int:
        """How many local commits the remote lacks."""
        return max(0, self.position - self.pushed_position) if self.remote_url else 0


class GitSyncJob(models.Model):
    """The outbox: one row for each operation and repository, written in the operation's own transaction (GIT-054)."""

    id = models.BigAutoField(primary_key=True)
    operation = models.ForeignKey(LogicalOperation, on_delete=models.CASCADE, related_name="git_jobs", db_index=False)
    root = models.CharField(max_length=200, blank=True, default="")  # The repository may not exist yet.
    repository = models.ForeignKey(
        MemoryRepository, on_delete=models.CASCADE, null=True, related_name="jobs", db_index=False
    )
    subject_id = models.CharField(max_length=80, blank=True, default="")  # The memory, where it is one; or the scope.
    action = models.CharField(max_length=40, blank=True, default="")
    state = models.CharField(max_length=14, choices=JobState.choices, default=JobState.PENDING)
    commit = models.CharField(max_length=40, blank=True, default="")
    attempts = models.PositiveIntegerField(default=0)
    next_retry_at = models.DateTimeField(null=True, blank=True)
    error_code = models.CharField(max_length=40, blank=True, default="")
    created_at = models.DateTimeField(default=clock.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["operation", "root"], name="git_one_job_an_operation")]
        indexes = [
            models.Index(fields=["state", "root"], name="git_job_to_commit"),
            models.Index(fields=["repository", "state"], name="git_job_to_push"),
        ]

    def __str__(self) -> str:
        return f"{self.operation_id} in {self.root or 'all'}"


class GitCommit(models.Model):
    """One commit, as history is asked for; written with it (GIT-060)."""

    repository = models.ForeignKey(MemoryRepository, on_delete=models.CASCADE, related_name="commits")
    sha = models.CharField(max_length=40)
    position = models.PositiveBigIntegerField()  # From 1, in first-parent order.
    operation_id = models.CharField(max_length=40, blank=True, default="")  # Empty for commits that are no operation's.
    name = models.CharField(max_length=80)  # The operation's: memory_save, baseline ...
    actor = models.CharField(max_length=120)
    origin = models.CharField(max_length=12)
    profile = models.CharField(max_length=64, blank=True, default="")
    job_id = models.CharField(max_length=40, blank=True, default="")
    subject = models.CharField(max_length=200)
    changes = models.PositiveIntegerField(default=0)
    listed = models.BooleanField(default=True)  # False while the documents of a large one are still being entered.
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["repository", "sha"], name="git_commit_once"),
            models.UniqueConstraint(fields=["repository", "position"], name="git_position_once"),
            models.UniqueConstraint(
                fields=["repository", "operation_id"], condition=~Q(operation_id=""), name="git_operation_once"
            ),
        ]
        indexes = [
            models.Index(fields=["-at", "-id"], name="git_commit_time"),
            models.Index(fields=["sha"], name="git_commit_sha"),
            models.Index(fields=["actor", "-at", "-id"], name="git_commit_actor"),
            models.Index(fields=["name", "-at", "-id"], name="git_commit_name"),
        ]

    def __str__(self) -> str:
        return f"{self.sha[:10]} {self.subject}"


class CommitScope(models.Model):
    """Which scopes a commit touched: who may see it, and the history of one workspace."""

    commit = models.ForeignKey(GitCommit, on_delete=models.CASCADE, related_name="scopes", db_index=False)
    scope_key = models.CharField(max_length=80)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["commit", "scope_key"], name="git_scope_once")]
        indexes = [models.Index(fields=["scope_key", "-at", "-commit"], name="git_scope_time")]

    def __str__(self) -> str:
        return f"{self.scope_key} {self.commit_id}"


class DocumentVersion(models.Model):
    """What a commit did to one document."""

    ADDED, MODIFIED, DELETED, MOVED, WITHHELD = "added", "modified", "deleted", "moved", "withheld"

    commit = models.ForeignKey(GitCommit, on_delete=models.CASCADE, related_name="versions", db_index=False)
    repository = models.ForeignKey(MemoryRepository, on_delete=models.CASCADE, related_name="+", db_index=False)
    stable_id = models.CharField(max_length=40)
    resource = models.CharField(max_length=12)
    scope_key = models.CharField(max_length=80)
    revision = models.PositiveBigIntegerField(default=0)
    path = models.CharField(max_length=900)  # In its scope.
    old_path = models.CharField(max_length=900, blank=True, default="")
    change = models.CharField(max_length=10)
    blob = models.CharField(
        max_length=40, blank=True, default=""
    )  # Empty where there is none any more, or none was let in.
    title = models.CharField(max_length=400, blank=True, default="")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["commit", "scope_key", "stable_id"], name="git_version_once")]
        indexes = [
            models.Index(fields=["stable_id", "-at", "-commit"], name="git_version_document"),
            models.Index(fields=["repository", "stable_id", "-revision"], name="git_version_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.change} {self.path}"


class GitDeed(models.Model):
    """Work on whole repositories that outlives a request: the baseline, a snapshot, a migration, maintenance, an import."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Running")
        COMPLETED = "completed", _("Completed")
        FAILED = "failed", _("Failed")

    id = models.CharField(max_length=40, primary_key=True)
    kind = models.CharField(max_length=30)
    repository = models.ForeignKey(MemoryRepository, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    arguments = models.JSONField(default=dict)
    journal = models.JSONField(default=dict)  # How far it is, so that a killed one goes on or goes back.
    result = models.JSONField(default=dict)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0)
    error_code = models.CharField(max_length=40, blank=True, default="")
    error = models.CharField(max_length=500, blank=True, default="")
    actor = models.CharField(max_length=120)
    profile = models.CharField(max_length=64)
    project_id = models.CharField(max_length=40, null=True)  # noqa: DJ001 - as callers have it
    rights = models.JSONField(default=list)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["state", "created_at"], name="git_deed_state")]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"
