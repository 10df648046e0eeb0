"""A model that fastembed knows by name: from the cache, and over the network only where the operator allowed it.

fastembed alone would look for 39 seconds where no network is, and log errors meanwhile.
"""

import logging
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
from django.conf import settings
from django.utils.translation import gettext as _
from fastembed import TextEmbedding
from huggingface_hub import constants
from loguru import logger as fastembeds_logger

from apps.search.embedding import named_key
from apps.search.embedding.default_model import models_folder
from apps.search.embedding.errors import EmbeddingUnavailable
from apps.search.embedding.local import LocalModel
from apps.search.embedding.memory import give_memory_back

REACH_SECONDS = 10.0
# What the authors of a model want before a text; the others want nothing.
PREFIXES = {
    "e5": ("query: ", "passage: "),
    "bge-small-en": ("Represent this sentence for searching relevant passages: ", ""),
    "bge-base-en": ("Represent this sentence for searching relevant passages: ", ""),
    "bge-large-en": ("Represent this sentence for searching relevant passages: ", ""),
    "bge-small-zh": ("为这个句子生成表示以用于检索相关文章：", ""),
    "nomic-embed": ("search_query: ", "search_document: "),
    "mxbai-embed": ("Represent this sentence for searching relevant passages: ", ""),
    "snowflake-arctic-embed": ("Represent this sentence for searching relevant passages: ", ""),
    "embeddinggemma": ("task: search result | query: ", "title: none | text: "),
}
logger = logging.getLogger(__name__)


def load_named(name: str) -> LocalModel:
    """Load the model; raise ``EmbeddingUnavailable`` where it is neither here nor may or can be fetched."""
    fastembeds_logger.disable("fastembed")  # It tells of each try; what the operator needs is said below.
    kind, description = _described(name)
    cache = models_folder() / "fastembed"
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    engine = _opened(name, cache)
    if engine is None:
        _fetch(kind, description, cache)
        engine = _opened(name, cache)
    if engine is None:
        raise EmbeddingUnavailable(_("What was downloaded of {name} cannot be loaded.").format(name=name))
    give_memory_back()
    query, passage = prefixes(name)
    return LocalModel(engine, key=named_key.of(name), query_prefix=query, passage_prefix=passage)


def prefixes(name: str) -> tuple[str, str]:
    return next((words for part, words in PREFIXES.items() if part in name.lower()), ("", ""))


def _described(name: str) -> tuple[Any, Any]:
    for kind in TextEmbedding.EMBEDDINGS_REGISTRY:
        for description in kind._list_supported_models():
            if description.model.lower() == name.lower():
                return kind, description
    raise EmbeddingUnavailable(
        _("fastembed knows no model called {name}.").format(name=name),
        hint=_("docs/embeddings.md lists good ones; default needs no name."),
    )


def _opened(name: str, cache: Path) -> TextEmbedding | None:
    """The model as the cache has it; nothing where it does not, or not whole."""
    try:
        return TextEmbedding(
            name, cache_dir=str(cache), threads=1, enable_cpu_mem_arena=False, local_files_only=True, lazy_load=False
        )
    except Exception:  # Missing, cut short, damaged: each engine says it in a class of its own.
        logger.debug("The model %s is not whole in the cache.", name, exc_info=True)
        return None


def _fetch(kind: Any, description: Any, cache: Path) -> None:
    if not settings.EMBEDDING_DOWNLOAD:
        raise EmbeddingUnavailable(
            _("The model {name} is not on this machine, and downloads are not allowed.").format(name=description.model),
            hint=_("Set MEMRELAY_EMBEDDING_DOWNLOAD, or copy the model into memrelay/cache/models/fastembed."),
        )
    host = urlsplit(constants.ENDPOINT).netloc
    try:
        httpx2.head(constants.ENDPOINT, timeout=REACH_SECONDS)
    except httpx2.HTTPError as failure:
        raise EmbeddingUnavailable(
            _("The model {name} cannot be downloaded: {host} does not answer.").format(
                name=description.model, host=host
            ),
            hint=_("Set HF_ENDPOINT to a mirror that this machine reaches, or copy the model folder and name it."),
        ) from failure
    logger.info(
        "The embedding model %s (about %s GB) is downloaded from %s.", description.model, description.size_in_GB, host
    )
    try:
        kind.download_model(description, str(cache), retries=1)
    except Exception as failure:  # A network breaks in many ways; what was fetched stays for the next try.
        raise EmbeddingUnavailable(
            _("The download of {name} from {host} failed.").format(name=description.model, host=host)
        ) from failure
