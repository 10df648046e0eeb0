"""What this server can do: read from the registry, the switches and the settings, so that it is never out of date."""

from django.conf import settings
from django.utils.translation import gettext as _

from apps.curation.templates import GENERAL
from apps.instance.schemas import (
    CapabilitiesOut,
    CuratedType,
    FeatureOut,
    Features,
    ModelConnection,
    Named,
    SemanticOut,
    ToolsetOut,
)
from apps.llm.selectors import connection_state
from apps.operations.caller import Caller
from apps.operations.features import Feature, is_on
from apps.operations.operation import OPERATIONS
from apps.operations.served import TOOLSETS, list_tokens, served_tools, tools_of
from apps.profiles.models import Profile
from apps.search.vectors.state import semantic_state
from apps.workspaces.models import WorkspaceType

BEGIN_WITH = [
    "project_resolve_or_create",
    "context_get",
    "memory_search",
    "memory_get",
    "memory_save",
    "checkpoint_save",
]
MOST_MEMORY_SPACES = 100
SOURCE_ADAPTERS = ["memories", "checkpoints"]
LIMITS = {
    "title_characters": "TITLE_CHARACTERS",
    "body_characters": "BODY_CHARACTERS",
    "summary_characters": "SUMMARY_CHARACTERS",
    "tags": "TAGS",
    "save_many": "SAVE_MANY",
    "search_results": "SEARCH_LIMIT",
    "context_tokens": "CONTEXT_TOKENS",
    "request_bytes": "BODY_LIMIT",
    "requests_per_minute": "RATE_PER_MINUTE",
}


def capabilities_of(caller: Caller) -> CapabilitiesOut:
    features = _features(caller)
    return CapabilitiesOut(
        server="MemRelay",
        version=settings.VERSION,
        curation_enabled=features.curation.on,
        memory_git_enabled=features.memory_git.on,
        features=features,
        model_connection=ModelConnection(state=connection_state()),
        begin_with=[name for name in BEGIN_WITH if name in served_tools()],
        advice=_advice(features),
        workspace_types=[Named(id=kind.value, name=str(kind.label)) for kind in WorkspaceType],
        memory_spaces=_memory_spaces(caller),
        curated_document_types=_curated_types(),
        source_adapters=SOURCE_ADAPTERS,
        languages=[code for code, _name in settings.LANGUAGES],
        toolset=caller.toolset,
        toolsets=[ToolsetOut(name=name, tools=len(tools_of(name)), tokens=list_tokens(name)) for name in TOOLSETS],
        limits={name: getattr(settings, setting) for name, setting in LIMITS.items()},
        operations=_operations(),
    )


def _features(caller: Caller) -> Features:
    return Features(
        curation=_switch(
            Feature.CURATION,
            _("Not enabled. context_get combines memories and checkpoints directly; nothing is missing."),
        ),
        memory_git=_switch(Feature.MEMORY_GIT, _("Not enabled. Every revision is kept in the history all the same.")),
        semantic_search=_semantic_search(caller),
        text_search=FeatureOut(on=True),
    )


def _semantic_search(caller: Caller) -> SemanticOut:
    state, reason = semantic_state(to_operator=caller.administers)
    return SemanticOut(on=state == "available", state=state, reason=reason)


def _switch(feature: Feature, reason: str) -> FeatureOut:
    return FeatureOut(on=True) if is_on(feature) else FeatureOut(on=False, reason=reason)


def _advice(features: Features) -> str:
    """The way to work that needs nothing switched on comes first, always (MEM-072)."""
    if features.curation.on:
        return _("Begin with context_get, save as you learn, end with checkpoint_save. Curation follows by itself.")
    return _(
        "Begin with context_get, save as you learn, end with checkpoint_save. Nothing needs to be configured first."
    )


def _memory_spaces(caller: Caller) -> list[Named]:
    """The spaces a caller could read: their own and the team's, all of them for an administrator (D-08b)."""
    spaces = Profile.objects.filter(enabled=True)
    if not caller.administers:
        spaces = spaces.filter(pk__in=[caller.profile, "shared"])
    return [Named(id=space.pk, name=space.name) for space in spaces[:MOST_MEMORY_SPACES]]


def _curated_types() -> list[CuratedType]:
    return [CuratedType(document_type=kind.document_type, path=kind.path, title=str(kind.name)) for kind in GENERAL]


def _operations() -> dict[str, list[str]]:
    """The names by room, as they stand in the registry at this moment."""
    rooms: dict[str, list[str]] = {}
    for name, declared in OPERATIONS.items():
        room = declared.function.__module__.split(".")[1]
        rooms.setdefault(room, []).append(name)
    return {room: sorted(names) for room, names in sorted(rooms.items())}
