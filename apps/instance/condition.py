"""The health of each part, as a sentence for people and a state for programs."""

from typing import Literal

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.instance.attention import TROUBLED
from apps.instance.health import OK, readiness
from apps.instance.schemas import HealthOut, HealthPart, State
from apps.memories.embedding import counted_scopes
from apps.memories.models import Scope
from apps.memories.scopes import may_see
from apps.memory_git.switch import red_repositories
from apps.operations.caller import Caller
from apps.operations.features import Feature, is_on
from apps.search.vectors.state import semantic_state, store_state

NAMES: dict[str, Promise] = {
    "database": gettext_lazy("Database"),
    "tables": gettext_lazy("Tables"),
    "web": gettext_lazy("Web"),
    "worker": gettext_lazy("Worker"),
    "keeper": gettext_lazy("File keeper"),
    "jobs": gettext_lazy("Queue"),
    "files": gettext_lazy("Files"),
    "folder": gettext_lazy("Markdown folder"),
    "curation": gettext_lazy("AI curation"),
    "memory_git": gettext_lazy("Memory Git"),
    "semantic_search": gettext_lazy("Semantic search"),
}
WELL: dict[str, Promise] = {
    "database": gettext_lazy("It answers."),
    "tables": gettext_lazy("They fit this version."),
    "web": gettext_lazy("It runs."),
    "worker": gettext_lazy("It runs."),
    "keeper": gettext_lazy("It runs."),
    "jobs": gettext_lazy("No work waits too long."),
    "files": gettext_lazy("Every text could be written to its file."),
    "folder": gettext_lazy("The last look at it found nothing to decide."),
}
# What each word of the probes means for people; the state says how bad it is.
TROUBLES: dict[tuple[str, str], tuple[State, Promise]] = {
    ("database", "failing"): ("failed", gettext_lazy("It does not answer. See the log.")),
    ("tables", "not migrated"): ("failed", gettext_lazy("They belong to another version. Restart MemRelay.")),
    ("jobs", "waiting"): ("warning", gettext_lazy("Work has been waiting for minutes. See whether the worker runs.")),
    ("files", "blocked"): ("failed", gettext_lazy("Some texts cannot be written to their files. Nothing is lost.")),
    ("keeper", "late"): ("warning", gettext_lazy("It has not reported for minutes.")),
}
NOT_RUNNING = gettext_lazy("It does not run under MemRelay's own supervision.")


def health_of(caller: Caller) -> HealthOut:
    parts = [_part(part, word) for part, word in readiness().items()]
    if all(part.part != "database" or part.state == "ok" for part in parts):
        parts.append(_folder(caller))
    parts += [_feature("curation", is_on(Feature.CURATION)), _memory_git()]
    parts.append(_semantic_search(caller))
    return HealthOut(state=_worst(parts), version=settings.VERSION, parts=parts)


def _part(part: str, word: str) -> HealthPart:
    if word == OK:
        return HealthPart(part=part, name=str(NAMES[part]), state="ok", detail=str(WELL[part]))
    state, detail = TROUBLES.get((part, word), ("warning", NOT_RUNNING))
    return HealthPart(part=part, name=str(NAMES[part]), state=state, detail=str(detail))


def _folder(caller: Caller) -> HealthPart:
    """Alarms and notices of the scopes that the caller may see."""
    rows = Scope.objects.filter(TROUBLED).values_list("key", "alarm", "notices")
    seen = [(alarm, notices) for key, alarm, notices in rows if may_see(caller, key)]
    state: State = "ok"
    detail = str(WELL["folder"])
    if any(alarm for alarm, _notices in seen):
        state, detail = "failed", _("Many files are gone. Nothing was deleted; somebody has to decide.")
    elif any(notices for _alarm, notices in seen):
        state, detail = "warning", _("Some files could not be taken in. See what needs a look.")
    return HealthPart(part="folder", name=str(NAMES["folder"]), state=state, detail=detail)


def _memory_git() -> HealthPart:
    """Red repositories are told of; a remote that is away for a while is not."""
    part = _feature("memory_git", is_on(Feature.MEMORY_GIT))
    red = red_repositories() if part.state == "ok" else 0
    if not red:
        return part
    told = ngettext("{count} repository needs a look.", "{count} repositories need a look.", red).format(count=red)
    return HealthPart(part=part.part, name=part.name, state="warning", detail=told)


def _feature(part: str, on: bool) -> HealthPart:
    detail = _("It is on.") if on else _("It is not enabled.")
    return HealthPart(part=part, name=str(NAMES[part]), state="ok" if on else "off", detail=detail)


def _semantic_search(caller: Caller) -> HealthPart:
    """Text search needs none of it, so that trouble here is a warning, no failure."""
    word, reason = semantic_state(to_operator=caller.administers)
    state: State = "off" if word == "off" else "warning" if word == "failing" else "ok"
    detail = reason or _("It works.")
    if word != "off" and (waiting := store_state(counted_scopes(caller)).pending):
        told = ngettext("{count} text waits to be embedded.", "{count} texts wait to be embedded.", waiting)
        detail = f"{detail} {told.format(count=waiting)}"
    return HealthPart(part="semantic_search", name=str(NAMES["semantic_search"]), state=state, detail=detail)


def _worst(parts: list[HealthPart]) -> Literal["ok", "degraded", "failed"]:
    states = {part.state for part in parts}
    if "failed" in states:
        return "failed"
    return "degraded" if "warning" in states else "ok"
