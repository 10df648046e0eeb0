"""Where memories belong, by names that people know."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _

from apps.base.errors import NotFound
from apps.console.markdown import plain
from apps.instance.selectors import capabilities_get
from apps.operations.caller import SHARED_PROFILE, Caller
from apps.workspaces.schemas import ProjectOut
from apps.workspaces.selectors import project_get, project_list

MOST_LISTED = 200


@dataclass(frozen=True)
class Place:
    """A workspace (then it has an id), or a memory space, or the library."""

    name: str
    project_id: str = ""


@dataclass(frozen=True)
class Choice:
    """What a list can be narrowed to; ``scope`` is its key."""

    value: str
    name: str
    scope: str


class Places:
    """The names of all that a caller may see; each is looked up when a page first needs it."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    @cached_property
    def workspaces(self) -> list[ProjectOut]:
        """Those in use, by name; of very many the first ones."""
        return project_list(self.caller, limit=MOST_LISTED).projects

    @cached_property
    def spaces(self) -> dict[str, str]:
        """Memory spaces by their id. Unlike the list of profiles this counts no changes, so that it can be asked on every key."""
        return {space.id: space.name for space in capabilities_get(self.caller).memory_spaces}

    @cached_property
    def _known(self) -> dict[str, Place]:
        return {one.project_id: Place(one.name, one.project_id) for one in self.workspaces}

    def of_scope(self, scope: str) -> Place:
        kind, _rest, name = scope.partition("/")
        if kind == "project":
            return self.of_workspace(name)
        if kind == "library":
            return Place(_("Library"))
        return Place(self._space(name))

    def of_workspace(self, project_id: str) -> Place:
        if project_id not in self._known:
            try:
                self._known[project_id] = Place(project_get(self.caller, project_id=project_id).name, project_id)
            except NotFound:
                self._known[project_id] = Place(project_id)
        return self._known[project_id]

    def checkpoint_rows(self, items: Iterable[Any]) -> list[dict[str, Any]]:
        return [
            {"checkpoint": {**dict(item), "completed": plain(item.completed)}, "workspace": self.of_scope(item.scope)}
            for item in items
        ]

    def memory_rows(self, items: Iterable[Any]) -> list[dict[str, Any]]:
        return [{"memory": item, "workspace": self.of_scope(item.scope)} for item in items]

    def scope_choices(self) -> list[Choice]:
        """What a list of memories can be narrowed to: memory spaces first, then workspaces."""
        own = self.caller.profile
        spaces = [Choice("global", self._space(own), f"global/{own}")]
        if own != SHARED_PROFILE:
            spaces.append(Choice("shared", self._space(SHARED_PROFILE), f"global/{SHARED_PROFILE}"))
        if self.caller.administers:
            others = (space for space in self.spaces if space not in (own, SHARED_PROFILE))
            spaces += [Choice(f"global/{space}", self._space(space), f"global/{space}") for space in others]
        return spaces + self.workspace_choices()

    def workspace_choices(self) -> list[Choice]:
        return [Choice(one.project_id, one.name, f"project/{one.project_id}") for one in self.workspaces]

    def _space(self, profile_id: str) -> str:
        # With one space for all there is nothing to tell apart: what is in no workspace holds everywhere.
        if profile_id == SHARED_PROFILE and len(self.spaces) == 1:
            return _("Global")
        return self.spaces.get(profile_id, profile_id)


def scope_arguments(chosen: str) -> dict[str, str]:
    """The arguments that narrow a list to a choice of ``scope_choices``."""
    if not chosen:
        return {}
    return {"scope": chosen} if chosen in ("global", "shared") or "/" in chosen else {"project_id": chosen}
