from collections.abc import Iterable, Iterator
from typing import Any

from django.conf import settings
from django.db.models import Count, F, Q, Sum
from django.db.models.functions import Coalesce
from django.utils.module_loading import import_string

from apps.base.paging import cursor_of, position_of
from apps.base.text import fold
from apps.llm import calls
from apps.llm.connections import current_row, is_in_use, opened
from apps.llm.errors import (
    ModelNotConfigured,
    ModelNotFound,
    ModelProtocolUnsupported,
    ModelRequestRejected,
    known_error,
)
from apps.llm.models import ConnectionHealth, ModelCall, ModelConnection
from apps.llm.probing import CAPABILITIES
from apps.llm.remote import models_listed
from apps.llm.schemas import (
    CapabilityOut,
    CapabilityState,
    ConnectionState,
    ErrorOfModel,
    ModelCallOut,
    ModelCallPage,
    ModelConnectionOut,
    ModelList,
    ModelOut,
    ModelQuery,
    ProjectArgument,
    UsageList,
    UsageOut,
)
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation
from apps.operations.reach import workspace_of_call
from apps.operations.words import Cursor, PageLimit

LIST_SECONDS = 30.0
MOST_MODELS = 2000
CONTEXT_NAMES = ("context_length", "context_window", "max_model_len", "max_context_length", "n_ctx")


def is_configured() -> bool:
    """Whether a model is connected and in use; whether it answers is another question."""
    row = current_row()
    return row is not None and is_in_use(row)


def connection_state() -> ConnectionState:
    row = current_row()
    return state_of(row)


def state_of(row: ModelConnection | None) -> ConnectionState:
    """One that is off or unfinished counts as none: a neutral state, in which nothing is probed (MOD-037)."""
    if row is None or not is_in_use(row):
        return ConnectionState.UNCONFIGURED
    return ConnectionState(row.health.state)


@operation(needs=Right.READ, answers=ModelConnectionOut)
def curation_model_connection_status(caller: Caller) -> ModelConnectionOut:
    """Say how the connection to the model is: its state, what the endpoint can do, last success and failure, next look.

    The token is never part of it; the address is told to administrators only.
    """
    return described(caller)


@operation(needs=Right.ADMINISTER, answers=ModelList)
def curation_model_list(caller: Caller, *, query: ModelQuery = "") -> ModelList:
    """Ask the endpoint which models it has. Many have no such list: then type the model's name by hand."""
    row = current_row()
    if row is None:
        raise ModelNotConfigured()
    try:
        told = models_listed(opened(row), timeout=min(LIST_SECONDS, row.request_timeout_seconds))
    except (ModelProtocolUnsupported, ModelNotFound, ModelRequestRejected):
        return ModelList(state=CapabilityState.UNSUPPORTED, models=[], total=0)
    found = [_model(one, row) for one in told if fold(query) in fold(one["id"])]
    found.sort(key=lambda model: fold(model.model))
    return ModelList(state=CapabilityState.SUPPORTED, models=found[:MOST_MODELS], total=len(found))


@operation(needs=Right.READ, answers=UsageList)
def curation_model_usage(caller: Caller, *, project_id: ProjectArgument | None = None) -> UsageList:
    """Say how many tokens the model has used for each workspace today and this month, and the caps."""
    day, month = calls.day_begins(), calls.month_begins()
    project_id = workspace_of_call(caller, project_id)
    seen = _calls_for(caller, project_id).filter(started_at__gte=month)
    tokens, today = F("tokens_in") + F("tokens_out"), Q(started_at__gte=day)
    rows = (
        seen.order_by()
        .values("scope_key")
        .annotate(
            tokens_today=Coalesce(Sum(tokens, filter=today), 0),
            tokens_this_month=Coalesce(Sum(tokens), 0),
            calls_today=Count("pk", filter=today),
            calls_this_month=Count("pk"),
        )
        .order_by("scope_key")
    )
    return UsageList(
        day_cap=settings.MODEL_DAY_TOKENS,
        month_cap=settings.MODEL_MONTH_TOKENS,
        day_begins=day,
        month_begins=month,
        scopes=[UsageOut(**row) for row in rows],
    )


@operation(needs=Right.ADMINISTER, answers=ModelCallPage)
def curation_model_call_list(
    caller: Caller, *, project_id: ProjectArgument | None = None, cursor: Cursor = "", limit: PageLimit = 50
) -> ModelCallPage:
    """List what was asked of the model, newest first: purpose, model, tokens, time and result. No word of it is kept."""
    seen = _calls_for(caller, workspace_of_call(caller, project_id))
    if cursor:
        (last,) = position_of(cursor, str)
        seen = seen.filter(pk__lt=last)
    rows = list(seen.order_by("-pk")[: limit + 1])  # Ids are in the order of time.
    more = cursor_of(rows[limit - 1].pk) if len(rows) > limit else ""
    return ModelCallPage(calls=[_call(row) for row in rows[:limit]], next_cursor=more)


def described(caller: Caller) -> ModelConnectionOut:
    row = current_row() or ModelConnection(revision=0, name="", base_url="", enabled=False)
    health = row.health if row.pk else ConnectionHealth()
    return ModelConnectionOut(
        state=state_of(row if row.pk else None),
        configured=bool(row.pk and row.text_model),
        enabled=row.enabled,
        verified=health.verified_at is not None,
        revision=row.revision,
        name=row.name,
        base_url=row.base_url if caller.administers else None,
        has_token=row.sealed_token is not None,
        text_model=row.text_model,
        vision_model=row.vision_model,
        protocol=row.protocol,
        effective_protocol=(health.dialect or {}).get("protocol"),
        streaming=row.streaming,
        effective_streaming=health.streams if health.dialect else None,
        structured_output=(health.dialect or {}).get("structure"),
        request_timeout_seconds=row.request_timeout_seconds,
        probe_interval_seconds=row.probe_interval_seconds,
        max_input_tokens=row.max_input_tokens,
        max_output_tokens=row.max_output_tokens,
        context_tokens=row.context_tokens,
        admin_url=row.admin_url if caller.administers else "",
        capabilities={name: _capability(health.capabilities.get(name)) for name in CAPABILITIES},
        error=_error(health),
        failures=health.failures,
        last_check_at=health.checked_at,
        last_success_at=health.succeeded_at,
        last_failure_at=health.failed_at,
        next_probe_at=health.next_probe_at,
        waiting_jobs=sum(import_string(path)() for path in settings.DEPENDENCY_WAITERS),
    )


def _capability(kept: dict[str, Any] | None) -> CapabilityOut:
    if kept is None:
        return CapabilityOut(state=CapabilityState.UNKNOWN)
    error = known_error(kept["code"])
    return CapabilityOut(message=str(error) if error else "", **kept)


def _error(health: ConnectionHealth) -> ErrorOfModel | None:
    error = known_error(health.error_code)
    if error is None:
        return None
    return ErrorOfModel(code=error.code, message=str(error), hint=error.advice, http_status=health.http_status)


def _model(told: dict[str, Any], row: ModelConnection) -> ModelOut:
    name = told["id"][:200]
    display = told.get("display_name") or told.get("name")
    owner = told.get("owned_by")
    return ModelOut(
        model=name,
        name=display[:200] if isinstance(display, str) else name,
        owned_by=owner[:200] if isinstance(owner, str) else "",
        context_tokens=next(_numbers(told.get(key) for key in CONTEXT_NAMES), None),
        is_text_model=name == row.text_model,
        is_vision_model=name == row.vision_model,
    )


def _numbers(values: Iterable[Any]) -> Iterator[int]:
    return (value for value in values if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**40)


def _calls_for(caller: Caller, project_id: str | None) -> Any:
    """The calls a caller may know of: all for administrators; else workspaces' and their own memory space's."""
    seen = ModelCall.objects.all()
    if project_id is not None:
        return seen.filter(scope_key=f"project/{project_id}")
    if caller.administers:
        return seen
    own = [f"global/{caller.profile}", "global/shared"]
    return seen.filter(Q(scope_key__startswith="project/") | Q(scope_key__in=own))


def _call(row: ModelCall) -> ModelCallOut:
    return ModelCallOut(
        call_id=row.pk, **{name: getattr(row, name) for name in ModelCallOut.model_fields if name != "call_id"}
    )
