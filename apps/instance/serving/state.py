"""What ``serve`` tells the probes: one small file a role in ``run/``, written every few seconds."""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from apps.instance.serving.children import Child

FRESH_SECONDS = 15.0
KEEPER_SECONDS = 180.0  # A look at a large folder may take a while.


def state_file(role: str) -> Path:
    return Path(settings.RUN_FOLDER) / f"serve-{role}.json"


def write_state(role: str, children: Mapping[str, Child]) -> None:
    told = {
        name: {"state": child.state, "pid": child.pid, "starts": child.starts, "trouble": child.last_trouble}
        for name, child in children.items()
    }
    file = state_file(role)
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps({"pid": os.getpid(), "children": told}), encoding="ascii")
    fresh.replace(file)


def read_state(role: str) -> dict[str, Any] | None:
    """The state a running ``serve`` told lately; nothing where none is running or it hangs."""
    file = state_file(role)
    try:
        if time.time() - file.stat().st_mtime > FRESH_SECONDS:
            return None
        state: dict[str, Any] = json.loads(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return state


def beat_file() -> Path:
    return Path(settings.RUN_FOLDER) / "keeper.beat"


def beat() -> None:
    """The keeper is alive and getting on."""
    beat_file().touch()


def keeper_is_fresh() -> bool:
    try:
        return time.time() - beat_file().stat().st_mtime < KEEPER_SECONDS
    except OSError:
        return False
