from collections.abc import Callable, Iterator

import pytest

from apps.leases import owners
from tests.leases.actors import Actor


@pytest.fixture(autouse=True)
def run_folder(settings, tmp_path):
    """A folder of its own for this test's owners and locks; at the end this process is no owner any more."""
    settings.RUN_FOLDER = tmp_path / "run"
    yield settings.RUN_FOLDER
    owners.leave()


@pytest.fixture
def actor(tmp_path) -> Iterator[Callable[[], Actor]]:
    """Makes processes that share this test's run folder."""
    actors: list[Actor] = []

    def enter() -> Actor:
        one = Actor(tmp_path)
        actors.append(one)
        return one

    yield enter
    for one in actors:
        one.is_killed()


@pytest.fixture
def worker(actor) -> Callable[[], Actor]:
    """Makes processes that have the table of leases, too."""
    actor().says("migrated()")
    return actor
