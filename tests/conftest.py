"""What every test gets: a data folder of its own, the people of ``world.py``, and a database put back in order."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from apps.operations.caller import SHARED_PROFILE
from apps.profiles.models import Profile
from apps.search import index
from memrelay.api import RATES
from tests.world import Rest, World


@pytest.fixture
def data_folder(tmp_path: Path, settings: Any) -> Path:
    """An empty data folder, laid out as the settings lay it out."""
    state = tmp_path / "memrelay"
    settings.DATA_FOLDER = tmp_path
    settings.MEMORIES_FOLDER = tmp_path / "basic-memory" / "memories"
    settings.STATE_FOLDER = state
    settings.RUN_FOLDER = state / "run"
    settings.KEYS_FOLDER = state / "keys"
    settings.TEMPORARY_FOLDER = state / "tmp"
    for folder in (settings.MEMORIES_FOLDER, settings.RUN_FOLDER, settings.KEYS_FOLDER, settings.TEMPORARY_FOLDER):
        folder.mkdir(parents=True)
    return tmp_path


@pytest.fixture(autouse=True)
def _own_folder(request: pytest.FixtureRequest) -> None:
    """A test that touches the database may write Markdown; none writes into another one's folder."""
    if _uses_database(request):
        request.getfixturevalue("data_folder")


@pytest.fixture(autouse=True)
def _after_a_flush(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests with real transactions end in a flush: it takes the shared space away and leaves the text index full."""
    if not _has_real_transactions(request):
        yield
        return
    request.getfixturevalue("transactional_db")
    Profile.objects.get_or_create(pk=SHARED_PROFILE, defaults={"name": "Shared"})
    index.empty()
    yield
    index.empty()


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    """No rates counted, no language left over from the test before."""
    RATES.forget()
    yield
    translation.deactivate()


@pytest.fixture
def world(db: None) -> World:
    return World()


@pytest.fixture
def bob(world: World) -> Rest:
    """Bob's agent, at the door that most tests go through."""
    return world.bobs_agent.rest


@pytest.fixture
def time_to_recall(settings: Any) -> None:
    """What tests say of recall does not depend on how busy the machine is: the benchmark holds it to its budget."""
    settings.RECALL_MILLISECONDS = 10_000.0


def _uses_database(request: pytest.FixtureRequest) -> bool:
    return bool({"db", "transactional_db", "world"} & set(request.fixturenames)) or (
        request.node.get_closest_marker("django_db") is not None
    )


def _has_real_transactions(request: pytest.FixtureRequest) -> bool:
    mark = request.node.get_closest_marker("django_db")
    return "transactional_db" in request.fixturenames or bool(mark and mark.kwargs.get("transaction"))
