"""Every test of recall has time enough."""

import pytest


@pytest.fixture(autouse=True)
def _time_enough(time_to_recall: None) -> None:
    """``time_to_recall`` for all of them."""
