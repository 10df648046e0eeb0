"""The identity of a model that fastembed knows by name: a release of fastembed may pool or weigh it in another way."""

from functools import cache
from importlib.metadata import version


def of(name: str) -> str:
    return f"fastembed-{_release()}/{name.lower()}"


@cache
def _release() -> str:
    return ".".join(version("fastembed").split(".")[:2])
