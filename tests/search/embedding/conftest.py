"""The default model, converted once for all tests that need it: that takes seconds."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import override_settings

from apps.search.embedding import local
from apps.search.embedding.local import LocalModel


@pytest.fixture(scope="session")
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder that holds the converted model and is not to be changed."""
    return tmp_path_factory.mktemp("models") / "memrelay"


@pytest.fixture(scope="session")
def default_model(state_folder: Path) -> Iterator[LocalModel]:
    with override_settings(STATE_FOLDER=state_folder, RUN_FOLDER=state_folder / "run"):
        yield local.load_default()
