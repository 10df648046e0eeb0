"""A model in a folder of this machine: an ONNX graph and its tokeniser, as fastembed and sentence-transformers lay them out."""

import json
from pathlib import Path
from typing import Any

import onnxruntime
from django.utils.translation import gettext as _
from fastembed.common.model_description import PoolingType

from apps.search.embedding import folder_key
from apps.search.embedding.errors import EmbeddingUnavailable
from apps.search.embedding.local import LocalModel, from_folder
from apps.search.embedding.remembered import remember

NEEDED = ("tokenizer.json", "tokenizer_config.json")
E5 = {"query": "query: ", "passage": "passage: "}


def load_folder(folder: Path) -> LocalModel:
    """Load what lies there; raise ``EmbeddingUnavailable`` naming what is missing."""
    graph = folder_key.graph_in(folder)
    missing = [name for name in NEEDED if not (folder / name).is_file()] + ([] if graph else ["model.onnx"])
    if missing or graph is None:
        raise EmbeddingUnavailable(
            _("The model folder {folder} lacks {files}.").format(folder=folder, files=", ".join(missing)),
            hint=_("Put the folder back, or name another one in MEMRELAY_EMBEDDING."),
        )
    key = folder_key.measured(folder)
    try:
        dimensions, is_pooled = _output_of(folder / graph)
        pooling = PoolingType.DISABLED if is_pooled else _pooling(folder)
        engine = from_folder(f"memrelay/{key}", folder, dimensions=dimensions, pooling=pooling, model_file=graph)
    except Exception as failure:  # Whatever a foreign file makes of onnxruntime: its classes are no part of its API.
        raise EmbeddingUnavailable(
            _("The model in {folder} cannot be loaded: {reason}").format(folder=folder, reason=_first_line(failure))
        ) from failure
    words = _prompts(folder)
    remember(folder_key.subject(folder), key)
    return LocalModel(
        engine,
        key=key,
        query_prefix=words.get("query", ""),
        passage_prefix=words.get("passage", words.get("document", "")),
    )


def _output_of(graph: Path) -> tuple[int, bool]:
    """How many numbers a vector has, and whether the graph gives one a text or one a token."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    shape = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"]).get_outputs()[0].shape
    if not isinstance(shape[-1], int):
        raise ValueError(_("its output has no fixed width"))
    return shape[-1], len(shape) == 2


def _pooling(folder: Path) -> PoolingType:
    told = _read(folder / "1_Pooling" / "config.json")
    if told.get("pooling_mode_cls_token"):
        return PoolingType.CLS
    return PoolingType.LAST_TOKEN if told.get("pooling_mode_lasttoken") else PoolingType.MEAN


def _prompts(folder: Path) -> dict[str, str]:
    """The words before queries and passages: the folder's own, else those of E5 where its name says that it is one."""
    told = _read(folder / "config_sentence_transformers.json").get("prompts")
    if isinstance(told, dict) and told:
        return {name: str(words) for name, words in told.items()}
    return E5 if "e5" in folder.name.lower() else {}


def _read(file: Path) -> dict[str, Any]:
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def _first_line(failure: Exception) -> str:
    return (str(failure).splitlines() or [type(failure).__name__])[0][:300]
