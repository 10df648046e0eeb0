"""What the server offers, as plain data, from the registry itself."""

import json
from pathlib import Path
from typing import Any

from apps.operations.operation import OPERATIONS, Operation
from memrelay.api import api

OPENAPI_FILE = Path(__file__).with_name("openapi.json")


def openapi() -> dict[str, Any]:
    """REST's description as the server sends it."""
    return json.loads(json.dumps(api.get_openapi_schema(), default=str))


def as_text(contract: Any) -> str:
    return json.dumps(contract, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def operations() -> dict[str, Operation[..., Any]]:
    """Every operation of the house; those a test declares for itself are left out."""
    return {name: one for name, one in OPERATIONS.items() if one.function.__module__.startswith("apps.")}
