"""Embeddings switched on with a tiny model, and documents whose texts this room's tests tell themselves."""

from collections.abc import Sequence
from typing import Any

import pytest

from apps.search.vectors.texts import PassageText
from tests.search.vectors.made import Embedder, switched_on

TEXTS: dict[str, PassageText] = {}


def texts_of(stable_ids: Sequence[str]) -> dict[str, PassageText]:
    return {key: TEXTS[key] for key in stable_ids if key in TEXTS}


@pytest.fixture
def embedder(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Embedder:
    return switched_on(settings, monkeypatch)


@pytest.fixture
def texts(settings: Any) -> dict[str, PassageText]:
    settings.PASSAGE_TEXTS = ["tests.search.vectors.conftest.texts_of"]
    TEXTS.clear()
    return TEXTS
