"""What these tests say of recall does not depend on how busy the machine is: the benchmark holds it to its budget."""

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _time_enough(settings: Any) -> None:
    settings.RECALL_MILLISECONDS = 10_000.0
