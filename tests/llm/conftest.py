"""A model server as a process of its own, and a connection to it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from apps.base.keyring import ensure_keyring
from apps.llm.schemas import ModelConnectionOut
from tests.doubles.model import ModelDouble
from tests.world import World, call

TOKEN = "sk-test-0123456789abcdefghijklmnop"
Connect = Callable[..., ModelConnectionOut]


@pytest.fixture(scope="session")
def model_process() -> Iterator[ModelDouble]:
    with ModelDouble() as double:
        yield double


@pytest.fixture
def model(model_process: ModelDouble, settings: Any) -> ModelDouble:
    """The model server, as at its start. Nobody waits long between tries."""
    settings.MODEL_RETRY_SECONDS = 0.0
    model_process.reset()
    return model_process


@pytest.fixture
def connect(world: World, data_folder: Any) -> Connect:
    """Save a connection to a model server, tested at once unless said otherwise."""
    ensure_keyring()

    def save(model: ModelDouble, **fields: Any) -> Any:
        told = {"base_url": model.base_url, "text_model": "double-text", "token": TOKEN, "test": True, **fields}
        return call(world.operator, "curation_model_connection_save", **told)

    return save
