"""What an administrator asks of embedding: everything anew, to rest, to go on. The embedder reads it before each step."""

from django.db.models import Max

from apps.base.transactions import short_transaction
from apps.search.models import Document, Embedding, EmbeddingTrouble, Passage


def embed_anew() -> None:
    """Have every document embedded once more, without believing the vectors that are there; they serve until then."""
    last = Document.objects.aggregate(last=Max("pk"))["last"] or 0
    with short_transaction():
        distrusted = Passage.objects.aggregate(last=Max("pk"))["last"] or 0
        fields = {"renewed": 0, "renew_to": last, "distrusted": distrusted, "is_stopped": False, "trouble": ""}
        Embedding.objects.update_or_create(pk=1, defaults=fields)
        EmbeddingTrouble.objects.all().delete()


def rest() -> None:
    _set_stopped(True)


def go_on() -> None:
    _set_stopped(False)


def _set_stopped(stopped: bool) -> None:
    with short_transaction():
        Embedding.objects.update_or_create(pk=1, defaults={"is_stopped": stopped})
