"""What the text index knows of each document, beside its words; and the vectors of its passages.

The words lie in the FTS5 table ``search_text`` (made by the first migration, no Django model): its rowid is the
``Document``'s primary key. Filters join these columns, so that they come before the limit.
"""

from django.db import models
from django.db.models import F, Q


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
    # The revision whose passages have vectors. Below ``revision`` the document waits, so a save need not queue anything.
    embedded = models.PositiveBigIntegerField(default=0, db_default=0)
    # The conversation or thread it is part of: what was said just before and after helps to find it (hybrid.py).
    thread = models.CharField(max_length=200, blank=True, default="", db_default="")
    # How much the text says and how many percent of it are questions (shape.py).
    length = models.PositiveIntegerField(default=0, db_default=0)
    asks = models.PositiveSmallIntegerField(default=0, db_default=0)

    class Meta:
        indexes = [
            models.Index(fields=["scope_key", "status", "updated_at"], name="search_document_scope"),
            models.Index(fields=["title_key"], name="search_document_title"),
            models.Index(
                fields=["updated_at", "scope_key"],
                condition=Q(embedded__lt=F("revision")),
                name="search_document_waiting",
            ),
            models.Index(fields=["scope_key", "thread", "id"], condition=~Q(thread=""), name="search_document_thread"),
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


class VectorModel(models.Model):
    """A model that made vectors. Those of two models are never compared."""

    id = models.AutoField(primary_key=True)
    key = models.CharField(max_length=300, unique=True)
    dimensions = models.PositiveIntegerField()

    def __str__(self) -> str:
        return self.key


class Passage(models.Model):
    """A piece of a document and where its meaning lies. Counts only while ``revision`` is still the document's.

    No foreign keys: a document that goes must not cost a look at its passages' rows, and one without its document finds no
    match in any join. Keys only grow (AUTOINCREMENT), so that who keeps vectors in memory asks for those behind the last.
    """

    id = models.BigAutoField(primary_key=True)
    document_id = models.BigIntegerField(db_index=True)
    revision = models.PositiveBigIntegerField()
    model_id = models.IntegerField()
    number = models.PositiveIntegerField()
    start = models.PositiveIntegerField()  # Characters of the body; 0 to 0 is title and summary.
    end = models.PositiveIntegerField()
    language = models.CharField(max_length=5)
    text_hash = models.BinaryField()  # Of the text that was embedded: the same text needs no model again.
    vector = models.BinaryField()  # float16, of unit length.

    def __str__(self) -> str:
        return f"{self.document_id}@{self.revision} {self.start}-{self.end}"


class EmbeddingTrouble(models.Model):
    """What is to be said of a revision: it could not be embedded (when is it tried again, if at all), or not all of it."""

    document_id = models.BigIntegerField(primary_key=True)
    revision = models.PositiveBigIntegerField()
    attempts = models.PositiveIntegerField(default=0)
    not_before = models.DateTimeField()
    failed = models.BooleanField(default=False)
    reason = models.CharField(max_length=300, blank=True)
    left_out = models.PositiveIntegerField(default=0)  # Pieces of a very long text that have no vectors.

    def __str__(self) -> str:
        return f"{self.document_id}@{self.revision}: {self.reason}"


class Embedding(models.Model):
    """One row: how far embedding is as a whole, and what an administrator asked for."""

    id = models.PositiveSmallIntegerField(primary_key=True)
    model_id = models.IntegerField(default=0)  # Whose vectors are served; 0 before the first ones.
    is_stopped = models.BooleanField(default=False)
    # All documents up to ``renew_to`` are embedded anew; those up to ``renewed`` are marked so already.
    renewed = models.BigIntegerField(default=0)
    renew_to = models.BigIntegerField(default=0)
    distrusted = models.BigIntegerField(default=0)  # Vectors of passages up to this key are not used again.
    trouble = models.CharField(max_length=300, blank=True)  # Why nothing goes on at present, for all documents.
    trouble_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="search_embedding_one")]

    def __str__(self) -> str:
        return f"embedding by model {self.model_id}"
