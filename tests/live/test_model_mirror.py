"""A named model from a mirror: fetched once where that is allowed, and from then on loaded without a network."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.doubles.model_hub import ModelHub
from tests.live.server import PROJECT
from tests.search.embedding.small_model import write_small_model

LOAD = """
import json
import django
django.setup()
from apps.search.embedding import choice
from apps.search.embedding.errors import EmbeddingUnavailable
try:
    model = choice.load()
    told = {"same key": model.key == choice.current_key(), "numbers": len(model.embed_query("red"))}
except EmbeddingUnavailable as failure:
    told = {"failure": str(failure)}
print(json.dumps(told))
"""


def load(data: Path, hub: str, **settings: str) -> dict[str, Any]:
    """Load the model in a process of its own, as the embedder does: HF_ENDPOINT is read once a process."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "memrelay.settings",
        "MEMRELAY_DATA": str(data),
        "MEMRELAY_EMBEDDING": "BAAI/bge-small-zh-v1.5",
        "HF_ENDPOINT": hub,
        "HOME": str(data.parent / "home"),
        **settings,
    }
    done = subprocess.run(
        [sys.executable, "-c", LOAD], cwd=PROJECT, env=environment, capture_output=True, text=True, check=True
    )
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_a_mirror_is_asked_once(tmp_path: Path) -> None:
    served = write_small_model(tmp_path / "served", dimensions=512)
    (served / "model.onnx").rename(served / "model_optimized.onnx")
    with ModelHub(served) as hub:
        fetched = load(tmp_path / "data", hub.url, MEMRELAY_EMBEDDING_DOWNLOAD="on")
        assert fetched == {"same key": True, "numbers": 512}
        assert any("model_optimized.onnx" in path for path in hub.asked)

    again = load(tmp_path / "data", "http://127.0.0.1:9")
    assert again == fetched
    # onnxruntime would keep an identity and a store of events there.
    assert not [
        path for path in (tmp_path / "home").rglob("*") if "onnxruntime" in path.name or "Microsoft" in path.name
    ]
