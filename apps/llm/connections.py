"""The connection with its token opened, held in memory by whoever works with it."""

from dataclasses import dataclass, field

from apps.base.sealing import seal, unseal
from apps.llm.errors import ModelNotConfigured
from apps.llm.models import ModelConnection

TABLE, COLUMN = "llm_modelconnection", "sealed_token"


@dataclass(frozen=True, slots=True)
class OpenConnection:
    """One revision as work uses it: it keeps working with what it began with, whatever is saved meanwhile."""

    id: str
    revision: int
    name: str
    base_url: str = field(repr=False)
    token: str = field(repr=False)
    text_model: str
    vision_model: str
    protocol: str
    streaming: str
    request_timeout_seconds: int
    probe_interval_seconds: int
    max_input_tokens: int
    max_output_tokens: int
    context_tokens: int


def current_row() -> ModelConnection | None:
    return ModelConnection.objects.filter(is_current=True).select_related("health").first()


def open_connection() -> OpenConnection:
    """The connection that is in use. Raises ``ModelNotConfigured`` where there is none, or it is off or unfinished."""
    row = current_row()
    if row is None or not is_in_use(row):
        raise ModelNotConfigured()
    return opened(row)


def is_in_use(row: ModelConnection) -> bool:
    return row.enabled and bool(row.text_model)


def opened(row: ModelConnection) -> OpenConnection:
    return OpenConnection(
        id=row.pk,
        revision=row.revision,
        name=row.name,
        base_url=row.base_url,
        token=token_of(row),
        text_model=row.text_model,
        vision_model=row.vision_model,
        protocol=row.protocol,
        streaming=row.streaming,
        request_timeout_seconds=row.request_timeout_seconds,
        probe_interval_seconds=row.probe_interval_seconds,
        max_input_tokens=row.max_input_tokens,
        max_output_tokens=row.max_output_tokens,
        context_tokens=row.context_tokens,
    )


def token_of(row: ModelConnection) -> str:
    if row.sealed_token is None:
        return ""
    return unseal(bytes(row.sealed_token), table=TABLE, column=COLUMN, row=row.pk).decode()


def sealed_for(identity: str, token: str) -> bytes | None:
    return seal(token.encode(), table=TABLE, column=COLUMN, row=identity) if token else None
