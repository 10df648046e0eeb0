"""The identity of a model in a folder: its bytes, sampled, so that a moved folder is the same model and a changed one is not."""

import hashlib
from functools import lru_cache
from pathlib import Path

from apps.search.embedding.remembered import remembered

SAMPLE = 1 << 20  # Of each end of a file; hashing gigabytes of weights would take seconds.
GRAPHS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
OTHERS = ("tokenizer.json", "tokenizer_config.json", "1_Pooling/config.json", "config_sentence_transformers.json")


def graph_in(folder: Path) -> str | None:
    """The file of the model, as the folder names it."""
    return next((name for name in GRAPHS if (folder / name).is_file()), None)


def subject(folder: Path) -> str:
    return f"folder/{folder}"


def current(folder: Path) -> str:
    """The key of what lies there now; where the folder is gone, of what was loaded from it last."""
    try:
        return measured(folder)
    except OSError:
        return remembered(subject(folder)) or "folder/missing"


def measured(folder: Path) -> str:
    """The key of what lies there now; ``OSError`` where no model does."""
    graph = graph_in(folder)
    if graph is None:
        raise FileNotFoundError(folder)
    files = [folder / name for name in (graph, *OTHERS) if (folder / name).is_file()]
    weights = sorted(
        path for path in (folder / graph).parent.iterdir() if path.suffix in (".bin", ".data", ".onnx_data")
    )
    stamps = tuple((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in [*files, *weights])
    return _key(folder, stamps)


@lru_cache(maxsize=4)
def _key(folder: Path, stamps: tuple[tuple[str, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for path, size, _changed in stamps:
        digest.update(f"{Path(path).relative_to(folder)} {size}\n".encode())
        with open(path, "rb") as content:
            digest.update(content.read(SAMPLE))
            content.seek(max(0, size - SAMPLE))
            digest.update(content.read(SAMPLE))
    return f"folder/{digest.hexdigest()[:16]}"
