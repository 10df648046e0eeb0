"""What the embedder answers about vectors: operations of its desk (``settings.EMBEDDER_OPERATIONS``)."""

from threading import Lock, local
from typing import TYPE_CHECKING

from apps.base.rows import fetched
from apps.search.embedding.errors import EmbedderUnavailable
from apps.search.embedding.frames import Message
from apps.search.embedding.model import EmbeddingModel
from apps.search.vectors.field import Field
from apps.search.vectors.matrix import Matrix
from apps.search.vectors.wire import filters_from

if TYPE_CHECKING:
    from apps.search.embedding.desk import Desk

_lock = Lock()
_matrices: dict[tuple[str, int], Matrix] = {}
_warm: set[str] = set()
_ahead = local()  # What a conversation's thread has scanned for the question that comes next.
SHARE_OF_WAIT = 0.6  # Reading what is new may take so much of the time that somebody waits.
WARMING_SECONDS = 1.0


def question(desk: "Desk", message: Message) -> Message:
    """Embed a question and scan its scopes, ahead of the ``nearest`` that will ask with it while words are looked up."""
    query, scope_keys = str(message["query"]), message.get("scope_keys", ())
    _ahead.scanned = None
    vector = desk.query_vector(query, message)
    matrix = matrix_of(desk.model(message)) if scope_keys else None
    if matrix is not None and matrix.refresh(float(message.get("wait", 1.0)) * SHARE_OF_WAIT):
        _ahead.scanned = (matrix, query, matrix.field(vector, scope_keys))
    return {}


def _scanned_ahead(query: str) -> tuple[Matrix, Field] | None:
    """What was just read and scanned for this question; given once, since whoever uses it changes it."""
    scanned: tuple[Matrix, str, Field] | None = getattr(_ahead, "scanned", None)
    _ahead.scanned = None
    return (scanned[0], scanned[2]) if scanned is not None and scanned[1] == query else None


def warm(model: EmbeddingModel) -> bool:
    """Read some of the vectors into memory before somebody asks; whether all of them are there."""
    matrix = matrix_of(model)
    if matrix is None or model.key in _warm:
        return True
    if not matrix.refresh(WARMING_SECONDS):
        return False
    _warm.add(model.key)
    return True


def nearest(desk: "Desk", message: Message) -> Message:
    query = str(message["query"])
    vector = desk.query_vector(query, message)
    scanned = _scanned_ahead(query)
    matrix = scanned[0] if scanned else matrix_of(desk.model(message))
    if matrix is None:
        return {"documents": []}
    if scanned is None and not matrix.refresh(float(message.get("wait", 1.0)) * SHARE_OF_WAIT):
        raise EmbedderUnavailable(reason="embedder_starting")
    found = matrix.nearest(
        vector,
        filters_from(message["filters"]),
        also=[int(key) for key in message.get("also", ())],
        limit=int(message.get("limit", 200)),
        ahead=scanned[1] if scanned else None,
        checked=bool(message.get("checked", True)),
    )
    return {"documents": found}


def matrix_of(model: EmbeddingModel) -> Matrix | None:
    """The vectors of a model in memory, if it has made any; those of another one are let go."""
    found = fetched("SELECT id FROM search_vectormodel WHERE key = %s", [model.key])
    if not found:
        return None
    [(number,)] = found
    with _lock:
        key = (model.key, number)
        if key not in _matrices:
            _matrices.clear()
            _matrices[key] = Matrix(number, model.dimensions)
        return _matrices[key]


def forget() -> None:
    """Begin anew, as a new process does."""
    with _lock:
        _matrices.clear()
        _warm.clear()
