"""Is the server ready? One answer a part: ``ok``, or a word for what is wrong."""

import threading

from django.db import DatabaseError, connection
from django.utils import timezone
from django_q.models import OrmQ

from apps.instance.serving.state import keeper_is_fresh, read_state
from apps.instance.serving.tables import tables_are_current
from apps.memories.models import FileIntent

OK = "ok"
JOBS_WAIT_SECONDS = 300  # Bells wait while every slot works; this long means that nobody takes them.


def readiness() -> dict[str, str]:
    """The state of each part that a client relies on."""
    try:
        tables = _tables()
        states = {"database": OK, "tables": tables}
        if tables == OK:
            states |= {"jobs": _jobs(), "files": _files()}
    except DatabaseError:
        states = {"database": "failing"}
    return states | {"web": _child("web", "web"), "worker": _child("worker", "jobs"), "keeper": _keeper()}


def is_ready(states: dict[str, str]) -> bool:
    return all(state == OK for state in states.values())


def _tables() -> str:
    # Tables do not go back while the server runs, so the slow look at all migrations is taken until it once was good.
    if not _current.is_set():
        if not tables_are_current():
            return "not migrated"
        _current.set()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM django_migrations LIMIT 1")
    return OK


_current = threading.Event()


def _jobs() -> str:
    oldest = OrmQ.objects.order_by("lock").values_list("lock", flat=True).first()
    return "waiting" if oldest and (timezone.now() - oldest).total_seconds() > JOBS_WAIT_SECONDS else OK


def _files() -> str:
    return "blocked" if FileIntent.objects.filter(state=FileIntent.BLOCKED).exists() else OK


def _child(role: str, name: str) -> str:
    state = read_state(role)
    if state is None:
        return "not running"
    told = state["children"].get(name, {}).get("state", "not running")
    return OK if told == "running" else str(told)


def _keeper() -> str:
    state = _child("worker", "keeper")
    return "late" if state == OK and not keeper_is_fresh() else state
