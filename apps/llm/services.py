from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from apps.base import clock
from apps.base.errors import Invalid
from apps.base.ids import new_id
from apps.base.text import clean_line
from apps.base.transactions import outside_transactions, short_transaction
from apps.llm.addresses import UnusableAddress, normalised, origin_of
from apps.llm.connections import current_row, is_in_use, opened, sealed_for, token_of
from apps.llm.errors import ModelConnectionChanged, ModelNotConfigured
from apps.llm.models import ConnectionHealth, ModelConnection
from apps.llm.probing import examine
from apps.llm.schemas import (
    AdminUrl,
    BaseUrl,
    ConnectionName,
    ContextTokens,
    Enabled,
    ExpectedRevision,
    MaxInputTokens,
    MaxOutputTokens,
    ModelConnectionOut,
    ProbeInterval,
    ProtocolArgument,
    RequestTimeout,
    StreamingArgument,
    TestNow,
    TextModel,
    Token,
    VisionModel,
)
from apps.llm.selectors import described
from apps.operations.caller import Caller, Right
from apps.operations.operation import UNCHANGED, Effect, operation

PLAIN_FIELDS = (
    "enabled name base_url text_model vision_model protocol streaming request_timeout_seconds probe_interval_seconds"
    " max_input_tokens max_output_tokens context_tokens admin_url"
).split()


@operation(needs=Right.ADMINISTER, answers=ModelConnectionOut, effect=Effect.CHANGES)
def curation_model_connection_save(
    caller: Caller,
    *,
    base_url: BaseUrl = UNCHANGED,
    token: Token | None = UNCHANGED,
    text_model: TextModel = UNCHANGED,
    vision_model: VisionModel = UNCHANGED,
    protocol: ProtocolArgument = UNCHANGED,
    streaming: StreamingArgument = UNCHANGED,
    name: ConnectionName = UNCHANGED,
    enabled: Enabled = UNCHANGED,
    request_timeout_seconds: RequestTimeout = UNCHANGED,
    probe_interval_seconds: ProbeInterval = UNCHANGED,
    max_input_tokens: MaxInputTokens = UNCHANGED,
    max_output_tokens: MaxOutputTokens = UNCHANGED,
    context_tokens: ContextTokens = UNCHANGED,
    admin_url: AdminUrl = UNCHANGED,
    revision: ExpectedRevision | None = None,
    test: TestNow = False,
) -> ModelConnectionOut:
    """Save the connection to an OpenAI-compatible endpoint. What is left out stays as it is; the first time it needs a base_url.

    The token is stored sealed and never shown again. Another address needs the token anew. Saving makes a new revision;
    work that runs keeps the one it began with. Nothing is asked of the endpoint unless test is true, or work needs it.
    """
    sent = dict(locals())
    wanted = {field: sent[field] for field in PLAIN_FIELDS if sent[field] is not UNCHANGED}
    _check(wanted)
    with short_transaction():
        before = current_row()
        found = before.revision if before else 0
        if revision is not None and revision != found:
            raise ModelConnectionChanged(revision=found)
        if before is None and "base_url" not in wanted:
            raise Invalid(fields={"base_url": _("This is required.")})
        row = _next_revision(caller, before, wanted, token)
    if test and row.text_model:
        examine(opened(row))
    return described(caller)


@operation(needs=Right.ADMINISTER, answers=ModelConnectionOut, effect=Effect.CHANGES, repeatable=True)
@outside_transactions
def curation_model_connection_test(caller: Caller) -> ModelConnectionOut:
    """Test the connection now with small genuine requests: address, token, models, both protocols, streaming, structure.

    The answer has a state for each of them. Success makes it available and wakes all work that waits for the model.
    It may take as long as the endpoint does, two minutes at most.
    """
    row = current_row()
    if row is None:
        raise ModelNotConfigured()
    if not row.text_model:
        raise Invalid(fields={"text_model": _("Choose a text model first; curation_model_list names those there are.")})
    examine(opened(row))
    return described(caller)


@operation(needs=Right.ADMINISTER, answers=ModelConnectionOut, effect=Effect.DESTROYS, repeatable=True)
def curation_model_connection_delete(caller: Caller) -> ModelConnectionOut:
    """Take the model connection away and destroy its token. The records of its calls stay; doing it twice does no more."""
    ModelConnection.objects.filter(is_current=True).update(is_current=False, sealed_token=None)
    return described(caller)


def _check(wanted: dict[str, object]) -> None:
    """Bring what was sent into the form it is kept in. Raises ``Invalid``."""
    wrong: dict[str, str] = {}
    for field in ("base_url", "admin_url"):
        if wanted.get(field):
            try:
                wanted[field] = _address(field, str(wanted[field]))
            except UnusableAddress as why:
                wrong[field] = str(why)
    for field in ("name", "text_model", "vision_model"):
        if field in wanted:
            wanted[field] = clean_line(str(wanted[field]))
    if "name" in wanted and not wanted["name"]:
        wrong["name"] = _("This is required.")
    if wrong:
        raise Invalid(fields=wrong)


def _address(field: str, url: str) -> str:
    if field == "base_url":
        return normalised(url, plain_http_anywhere=settings.MODEL_PLAIN_HTTP)
    normalised(url.partition("#")[0].partition("?")[0], plain_http_anywhere=True)  # A page may have both.
    return url.strip()


def _next_revision(
    caller: Caller, before: ModelConnection | None, wanted: dict[str, object], token: str | None
) -> ModelConnection:
    """The revision after this one. One in which nothing changed is not made."""
    old = {field: getattr(before, field) for field in PLAIN_FIELDS} if before else {}
    new = {**old, **wanted}
    new.setdefault("name", urlsplit(str(new["base_url"])).hostname or "")
    kept = token_of(before) if before else ""
    if token is UNCHANGED and kept and before and origin_of(before.base_url) != origin_of(str(new["base_url"])):
        # Else whoever may change the address could have the token sent to themselves.
        raise Invalid(fields={"token": _("Enter the token again: the stored one belongs to another address.")})
    secret = kept if token is UNCHANGED else _clean_token(token)
    if before is not None and new == old and secret == kept:
        return before
    identity = new_id("mdl")
    ModelConnection.objects.filter(is_current=True).update(is_current=False, sealed_token=None)
    last = ModelConnection.objects.order_by("-revision").values_list("revision", flat=True).first()
    row = ModelConnection.objects.create(
        id=identity,
        revision=(last or 0) + 1,
        sealed_token=sealed_for(identity, secret),
        made_by=caller.name,
        made_at=clock.now(),
        **new,
    )
    _begin_health(row, before, is_the_same_endpoint=secret == kept and not _SPEAKING & _changed(old, new))
    return row


# What an examination is about; other fields may change without a new one.
_SPEAKING = frozenset({"base_url", "text_model", "vision_model", "protocol", "streaming", "enabled"})


def _changed(old: dict[str, object], new: dict[str, object]) -> set[str]:
    return {field for field in new if old.get(field) != new[field]}


def _begin_health(row: ModelConnection, before: ModelConnection | None, *, is_the_same_endpoint: bool) -> None:
    health = before.health if before is not None and is_the_same_endpoint else ConnectionHealth()
    health.pk = row.pk
    health.connection = row
    health._state.adding = True
    if not (is_the_same_endpoint and is_in_use(row)):
        health.next_probe_at = None
    health.save(force_insert=True)


def _clean_token(token: str | None) -> str:
    clean = (token or "").strip()
    if clean[:7].lower() == "bearer ":
        clean = clean[7:].strip()
    if not all("!" <= letter <= "~" for letter in clean):
        raise Invalid(fields={"token": _("A token has no spaces and no letters beyond ASCII.")})
    return clean
