"""Who may do what: every operation with arguments that are right, for callers of every kind, through every door.

Arguments come from an operation's own schema. What a name means (``memory_id`` is a memory) is told once, in ``Scene``; the few
operations that need something special stand in tables below. A new operation is in the matrix as soon as it is declared.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.apps import apps

from apps.accounts.models import McpToken
from apps.base import clock
from apps.base.errors import MemRelayError
from apps.base.ids import new_id
from apps.changes.selectors import head
from apps.memories.ledger import Create, Deed, commit
from apps.memories.models import Resource, Scope
from apps.memories.services.jobs import start_export
from apps.operations.caller import Right
from apps.operations.features import is_on
from apps.operations.operation import Operation
from apps.operations.served import served_tools
from memrelay.mcp_door import admit
from tests.contract.surface import openapi
from tests.world import Rest, World

OK = ""
SIGNED_OUT = "NOT_SIGNED_IN"
REFUSED = "DENIED"
REST, MCP, RUN = "REST", "MCP", "tool_run"

# What somebody meets for whom the named thing does not exist.
OUT_OF_REACH = {
    "memory_id": "MEMORY_NOT_FOUND",
    "checkpoint_id": "CHECKPOINT_NOT_FOUND",
    "document_id": "NOT_FOUND",
    "curation_job_id": "NOT_FOUND",
    "job_id": "JOB_NOT_FOUND",
    "token_id": "NOT_FOUND",
    "token_ids": "NOT_FOUND",
}
# What lies in a memory space, and is out of reach for another one; a workspace is open to all (D-08b).
IN_A_SPACE = {
    "memory_id": "MEMORY_NOT_FOUND",
    "checkpoint_id": "CHECKPOINT_NOT_FOUND",
    "document_id": "NOT_FOUND",
    "scope": "SCOPE_NOT_FOUND",
}

# Right in every way, and still no success, because the server is as it is when it starts.
ANSWERS = {
    "curation_model_connection_test": "MODEL_NOT_CONFIGURED",
    "curation_model_list": "MODEL_NOT_CONFIGURED",
    "git_connection_test": "GIT_CONNECTION_MISSING",
    "memory_remote_bootstrap": "GIT_CONNECTION_MISSING",
    "git_job_get": "NOT_FOUND",
    "memory_repository_archive_purge": "NOT_FOUND",
    "memory_repository_commit_get": "NOT_FOUND",
    "memory_repository_diff": "NOT_FOUND",
    "memory_snapshot_preview": "NOT_FOUND",
    "memory_repository_unbind": "NOT_FOUND",
    "memory_version_get": "NOT_FOUND",
}
# What a connection bound to another workspace meets, where the arguments alone do not say it.
BOUND_ELSEWHERE = {
    "bell_release": REFUSED,
    "embedding_rebuild": REFUSED,
    "embedding_resume": REFUSED,
    "embedding_stop": REFUSED,
    "project_create": "WORKSPACE_MISMATCH",
    "project_resolve_or_create": "WORKSPACE_MISMATCH",
    "usage_profile_delete": REFUSED,
    "usage_profile_delete_preview": REFUSED,
    "usage_profile_save": REFUSED,
}


@dataclass
class Scene:
    """Things for arguments to name, all in one workspace or in one memory space."""

    world: World
    folder: Path
    scope: str
    number: int = 0
    made: list[str] = field(default_factory=list)

    def title(self) -> str:
        self.number += 1
        return f"Scene {self.scope} {self.number}"

    def memory(self) -> str:
        """One with two revisions."""
        saved = self._owner("memory_save", title=self.title(), body="first", scope=self.scope)
        self._owner("memory_append", memory_id=saved.memory_id, text="second")
        return str(saved.memory_id)

    def archived(self) -> str:
        memory_id = self.memory()
        self._owner("memory_archive", memory_id=memory_id)
        return memory_id

    def deleted(self) -> str:
        memory_id = self.memory()
        self._owner("memory_delete", memory_id=memory_id)
        return memory_id

    def checkpoint(self) -> str:
        return str(self._owner("checkpoint_save", completed="Half of it.", scope=self.scope).memory_id)

    def document(self) -> str:
        change = Create(title=self.title(), body=b"text\n", resource=Resource.CURATED)
        done = commit(self.world.operator, self.scope, [change], Deed("curation_run"))
        return str(done.outcomes[0].memory.stable_id)

    def job(self) -> str:
        return start_export(self.world.operator, self.empty_folder(), self.scope).pk

    def curation_job(self) -> str:
        key = new_id("cur")
        jobs = apps.get_model("curation", "CurationJob")._default_manager
        jobs.create(id=key, scope_key=self.scope, project_id=self.project(), coalesce_key=key, profile="shared")
        return key

    def empty_folder(self) -> str:
        self.number += 1
        place = self.folder / f"{self.scope.replace('/', '-')}-{self.number}"
        place.mkdir(parents=True)
        return str(place)

    def token(self) -> str:
        project = self.project()
        self.world.agent("scene", **({"project_id": project} if project else {}))
        return McpToken.objects.latest("created_at").pk

    def project(self) -> str:
        return self.scope.removeprefix("project/") if self.scope.startswith("project/") else ""

    def workspace(self) -> str:
        return str(self._owner("project_create", name=self.title()).project_id)

    def space(self) -> str:
        return str(self._owner("usage_profile_save", name=self.title()).profile_id)

    def alarmed(self) -> str:
        self.memory()
        Scope.objects.filter(key=self.scope).update(alarm={"missing": 1, "files": 1})
        return self.scope

    def _owner(self, name: str, /, **arguments: Any) -> Any:
        return self.world.alices_agent.call(name, **arguments)


Made = Callable[[Scene], Any]
# What an argument of this name is.
BY_NAME: dict[str, Made] = {
    "memory_id": Scene.memory,
    "checkpoint_id": Scene.checkpoint,
    "document_id": Scene.document,
    "job_id": Scene.job,
    "curation_job_id": Scene.curation_job,
    "token_id": Scene.token,
    "token_ids": lambda scene: [scene.token()],
    "project_id": Scene.project,
    "scope": lambda scene: scene.scope,
    "folder": Scene.empty_folder,
    "profile_id": lambda scene: scene.world.bobs_space.pk,
    "into": Scene.workspace,
    "title": Scene.title,
    "name": Scene.title,
}
SUBJECTS = {"memory_id", "checkpoint_id", "document_id", "job_id", "token_id", "project_id", "scope"}
# What single operations need besides, or instead. None leaves an argument out.
BY_OPERATION: dict[str, dict[str, Made | None]] = {
    "checkpoint_save": {"completed": lambda scene: "Half of it."},
    "curation_model_connection_save": {"base_url": lambda scene: "https://model.example.org/v1"},
    "git_connection_save": {"url": lambda scene: "https://git.example.org/me/memory.git", "test": lambda scene: False},
    "memory_remote_import": {"commit": lambda scene: "0" * 40},
    "memory_repository_commit_get": {"commit": lambda scene: "0" * 40},
    "memory_repository_diff": {"from_commit": lambda scene: "0" * 40},
    "memory_snapshot_preview": {"commit": lambda scene: "0" * 40},
    "memory_snapshot_restore": {"commit": lambda scene: "0" * 40},
    "memory_version_get": {"commit": lambda scene: "0" * 40},
    "memory_version_restore": {"commit": lambda scene: "0" * 40},
    "memory_move": {"to_scope": lambda scene: "shared"},
    "memory_restore": {"memory_id": Scene.deleted},
    "memory_save_many": {"memories": lambda scene: [{"title": scene.title(), "body": "text"}]},
    "memory_unarchive": {"memory_id": Scene.archived},
    "memory_update": {"revision": lambda scene: 2, "body": lambda scene: "third"},
    "project_resolve_or_create": {"name": lambda scene: scene.world.workspace.slug},
    "project_delete": {"project_id": Scene.workspace},
    "project_merge": {"project_id": Scene.workspace},
    "scope_alarm_decide": {"scope": Scene.alarmed},
    "usage_profile_delete": {"profile_id": Scene.space},
    "usage_profile_save": {"name": Scene.title, "token_id": None},
}


def arguments_for(operation: Operation[..., Any], scene: Scene) -> dict[str, Any]:
    """What a call needs: the required arguments, and everything that says what it is about."""
    schema = operation.arguments.model_json_schema()
    properties, required = schema.get("properties", {}), schema.get("required", [])
    special = BY_OPERATION.get(operation.name, {})
    found: dict[str, Any] = {}
    for name, part in properties.items():
        meaning = meaning_of(operation, name)
        if name in special:
            made = special[name]
        elif meaning in BY_NAME and (name in required or name in SUBJECTS) and not is_a_choice(part):
            made = BY_NAME[meaning]
        elif name in required:
            found[name] = example_of(part, schema.get("$defs", {}))
            continue
        else:
            continue
        if made is not None:
            found[name] = made(scene)
    if found.get("project_id") and "scope" in found:
        del found["scope"]  # The workspace says it.
    if "project_id" not in required and {"document_id", "job_id"} & found.keys():
        found.pop("project_id", None)  # And what lies in it says the workspace.
    return {name: value for name, value in found.items() if value != "" or name in required}


def is_a_choice(schema: Mapping[str, Any]) -> bool:
    return "enum" in schema or "const" in schema


def meaning_of(operation: Operation[..., Any], argument: str) -> str:
    """Curation and Git have jobs of their own, and what a connector fetches is a memory."""
    if operation.name == "fetch":
        return "memory_id"
    if operation.name == "git_job_get":
        return f"git_{argument}"
    return f"curation_{argument}" if operation.name.startswith("curation_") and argument == "job_id" else argument


def example_of(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    """A small value that a schema accepts."""
    if "$ref" in schema:
        return example_of(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "enum" in schema:
        return next(choice for choice in schema["enum"] if choice != "")
    if "anyOf" in schema:
        return example_of(next(part for part in schema["anyOf"] if part.get("type") != "null"), definitions)
    match schema.get("type"):
        case "integer" | "number":
            return max(1, schema.get("minimum", 1))
        case "boolean":
            return True
        case "array":
            return [example_of(schema["items"], definitions)]
        case "object":
            parts = schema.get("properties", {})
            return {name: example_of(parts[name], definitions) for name in schema.get("required", [])}
    return "words" if schema.get("maxLength", 5) >= 5 else "a"


@cache
def addresses() -> dict[str, tuple[str, str]]:
    """Method and path of each operation that REST serves."""
    found: dict[str, tuple[str, str]] = {}
    for path, methods in openapi()["paths"].items():
        for method, one in methods.items():
            found[one["operationId"]] = method.upper(), path.removeprefix("/api/v1")
    return found


def over_rest(token: str, name: str, arguments: dict[str, Any]) -> str:
    """The code of REST's refusal; nothing where it succeeds."""
    method, path = addresses()[name]
    rest, left = Rest(token), dict(arguments)
    for argument in list(left):
        if f"{{{argument}}}" in path:
            path = path.replace(f"{{{argument}}}", quote(str(left.pop(argument)), safe="/"))
    if method == "GET":
        answer = rest.get(path, **left)
    elif method == "DELETE":
        answer = rest.delete(path + ("?" + "&".join(f"{key}={quote(str(left[key]))}" for key in left) if left else ""))
    else:
        answer = rest.send(method, path, left)
    return OK if answer.status_code < 300 else str(answer.json()["error"]["code"])


def over_mcp(token: str, name: str, arguments: dict[str, Any]) -> str:
    """The code of the tool's refusal, by the same two steps that the door takes."""
    try:
        caller = admit(token, None, "")
    except MemRelayError as error:
        return error.code
    result = served_tools()[name].call(caller, arguments)
    return str(json.loads(result.content[0].text)["error"]["code"]) if result.is_error else OK  # type: ignore[union-attr]


def over_tool_run(token: str, name: str, arguments: dict[str, Any]) -> str:
    return over_mcp(token, "tool_run", {"name": name, "arguments": arguments})


DOORS: dict[str, Callable[[str, str, dict[str, Any]], str]] = {REST: over_rest, MCP: over_mcp, RUN: over_tool_run}


@dataclass
class Matrix:
    """The row of one operation."""

    world: World
    operation: Operation[..., Any]
    folder: Path

    @cached_property
    def tokens(self) -> dict[str, str]:
        everything = list(Right)
        other = self.world.agent("other project", project_id=self.in_workspace.workspace(), rights=everything)
        tokens = {
            "anonymous": "",
            "reader": self.world.carols_reader.token,
            "writer": self.world.agent("writer").token,
            "administrator": self.world.alices_agent.token,
            "other profile": self.world.agent("other profile", profile_id=self.in_workspace.space()).token,
            "other project": other.token,
            "expired": self.world.agent("expired", rights=everything, expires_days=1).token,
            "revoked": self.world.agent("revoked", rights=everything).token,
        }
        now = clock.now()
        McpToken.objects.filter(name="expired").update(expires_at=now - timedelta(seconds=1))
        McpToken.objects.filter(name="revoked").update(revoked_at=now)
        return tokens

    @cached_property
    def in_workspace(self) -> Scene:
        return Scene(self.world, self.folder, f"project/{self.world.workspace.pk}")

    @cached_property
    def in_space(self) -> Scene:
        return Scene(self.world, self.folder, f"global/{self.world.bobs_space.pk}")

    def expected(self, who: str) -> str:
        name, needs = self.operation.name, self.operation.needs
        if who in ("anonymous", "expired", "revoked"):
            return SIGNED_OUT
        if needs is Right.ADMINISTER and who not in ("administrator", "other project"):
            return REFUSED
        if needs is Right.WRITE and who == "reader":
            return REFUSED
        if self.operation.feature and not is_on(self.operation.feature):
            return "FEATURE_DISABLED"
        done = ANSWERS.get(name, OK)
        if who == "other profile":
            return next((code for argument, code in IN_A_SPACE.items() if argument in self.about), done)
        if who == "other project":
            return BOUND_ELSEWHERE.get(name) or self._elsewhere() or done
        return done

    def _elsewhere(self) -> str:
        codes = [code for argument, code in OUT_OF_REACH.items() if argument in self.about]
        if codes:
            return codes[0]
        return "WORKSPACE_MISMATCH" if {"project_id", "scope"} & self.about else OK

    @cached_property
    def about(self) -> set[str]:
        """The arguments that say what a call is about."""
        properties = self.operation.arguments.model_json_schema().get("properties", {})
        left_out = [name for name, made in BY_OPERATION.get(self.operation.name, {}).items() if made is None]
        named = [name for name, part in properties.items() if not is_a_choice(part) and name not in left_out]
        return {meaning_of(self.operation, name) for name in named} & (SUBJECTS | set(OUT_OF_REACH))

    def scene_of(self, who: str) -> Scene:
        own = who == "other profile" and set(IN_A_SPACE) & self.about
        return self.in_space if own else self.in_workspace

    def doors(self) -> list[str]:
        name = self.operation.name
        return [REST] * (name in addresses()) + [MCP, RUN] * (name in served_tools())

    @property
    def may_reuse(self) -> bool:
        """Whether a call leaves the thing it names as it is."""
        return self.operation.effect.value == "reads"

    def cell(self, who: str, door: str) -> tuple[str, bool]:
        """What this caller meets at this door, and whether that has changed anything.

        A call needs fresh arguments where the one before has used them up.
        """
        arguments = self._arguments(self.scene_of(who), fresh=not self.may_reuse and not self._is_stopped(who))
        token, before = self.tokens[who], head()
        return DOORS[door](token, self.operation.name, arguments), head() != before

    def _is_stopped(self, who: str) -> bool:
        return self.expected(who) in (SIGNED_OUT, REFUSED)

    def _arguments(self, scene: Scene, *, fresh: bool) -> dict[str, Any]:
        if fresh:
            return arguments_for(self.operation, scene)
        kept: dict[str, dict[str, Any]] = self.__dict__.setdefault("_kept", {})
        if scene.scope not in kept:
            kept[scene.scope] = arguments_for(self.operation, scene)
        return kept[scene.scope]


CALLERS = [
    *("anonymous", "reader", "writer", "administrator"),
    *("other profile", "other project", "expired", "revoked"),
]
