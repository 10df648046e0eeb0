"""Tests with genuine processes. They run one after another, in a pytest process of their own (D-44)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.server import LiveServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveServer]:
    """A server of this test's own."""
    with LiveServer(tmp_path) as live:
        yield live


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One server for all tests of a file; they must not disturb each other."""
    with LiveServer(tmp_path_factory.mktemp("server")) as live:
        yield live
