"""What the text index knows of each document, beside its words.

The words lie in the FTS5 table ``search_text`` (made by the first migration, no Django model): its rowid is the
``Document``'s primary key. Filters join these columns, so that they come before the limit.
"""

from django.db import models


class Document(models.Model):
    """One searchable document: a memory, a checkpoint, a curated document."""

    id = models.BigAutoField(primary_key=True)
    stable_id = models.CharField(max_length=64, unique=True)
    resource = models.CharField(max_length=16)
    scope_key = models.CharField(max_length=80)
    revision = models.PositiveBigIntegerField()
    tokeniser_version = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=16, blank=True)
    note_type = models.CharField(max_length=16, blank=True)
    status = models.CharField(max_length=16)
    # Folded, each between line feeds, so that one tag can be looked for without a table of its own.
    tags = models.TextField(blank=True)
    # The words of the title as the tokeniser cuts them: a query equal to it comes first.
    title_key = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["scope_key", "status", "updated_at"], name="search_document_scope"),
            models.Index(fields=["title_key"], name="search_document_title"),
        ]

    def __str__(self) -> str:
        return self.stable_id


class Rebuild(models.Model):
    """At most one row: a new text table is being filled, and every write goes to both (L-25)."""

    id = models.PositiveSmallIntegerField(primary_key=True)
    tokeniser_version = models.PositiveSmallIntegerField()
    started_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="search_rebuild_one")]

    def __str__(self) -> str:
        return f"rebuild since {self.started_at:%Y-%m-%d %H:%M}"


class RemovedInRebuild(models.Model):
    """A document removed while a rebuild runs: a batch that was read before must not bring it back."""

    stable_id = models.CharField(max_length=64, primary_key=True)

    def __str__(self) -> str:
        return self.stable_id
