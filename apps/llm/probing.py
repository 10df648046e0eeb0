"""What can the endpoint do? Asked with small genuine requests, never inferred from a status alone (MOD-013, MOD-014).

The examination finds, in this order: whether it lists models, which of the protocols gives a structured answer, whether
it streams, whether the other model sees images. Its verdict is the one thing that makes a connection ``available``.
"""

import base64
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import BaseModel, Field

from apps.base import clock
from apps.llm import calls, health
from apps.llm.connections import OpenConnection
from apps.llm.conversation import Voice, converse
from apps.llm.dialects import Dialect, Protocol, Structure
from apps.llm.errors import (
    Consequence,
    ModelAuthFailed,
    ModelError,
    ModelNotFound,
    ModelOutputInvalid,
    ModelProtocolUnsupported,
    ModelRedirected,
    ModelRequestRejected,
    ModelStructureUnsupported,
    ModelTimedOut,
    ModelUnavailable,
    ModelUnreachable,
)
from apps.llm.models import ConnectionHealth
from apps.llm.protocols import Image, Reply, Wanted
from apps.llm.remote import models_listed
from apps.llm.schemas import CapabilityState
from apps.llm.structured import name_of, read_answer

PROBE_SECONDS = 60
PROBE_TOKENS = 2048  # A model that thinks first needs some, however short the answer.
PURPOSE = calls.Purpose("connection.test")
CAPABILITIES = (
    "connect",
    "authentication",
    "model_discovery",
    *Protocol,
    "non_streaming",
    "streaming",
    "structured_output",
    "usage",
    "vision",
)
DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mP4z8BAEmIY1TCqYfhqAACQ+f8B8u7oVwAAAABJRU5ErkJggg=="
)


class Readiness(BaseModel):
    """A small structured answer. Its words stand in the schema alone, so that it shows whether the model was given that.

    Some servers take a schema and ignore it; a model that was told the words elsewhere would cover for them.
    """

    works: bool = Field(description="true")
    colour: Literal["cobalt", "saffron"] = Field(description="Either of them.")


INSTRUCTIONS = "You are asked whether you work. Answer in the structure that you are given."
QUESTION = "Are you ready?"


@dataclass
class Finding:
    state: CapabilityState = CapabilityState.UNKNOWN
    detail: str = ""
    error: ModelError | None = None
    milliseconds: int | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "state": self.state.value,
            "detail": self.detail,
            "code": self.error.code if self.error else "",
            "http_status": self.error.http_status if self.error else None,
            "milliseconds": self.milliseconds,
        }


@dataclass
class Heard:
    """What one probing request brought."""

    reply: Reply
    voice: Voice
    is_structured: bool


class Over(Exception):
    """Nothing more can be found out now."""


@dataclass
class Examination:
    connection: OpenConnection
    findings: dict[str, Finding] = field(default_factory=lambda: {name: Finding() for name in CAPABILITIES})
    heard: dict[Protocol, Heard] = field(default_factory=dict)
    errors: list[ModelError] = field(default_factory=list)
    voice: Voice | None = None
    vision: Dialect | None = None

    def run(self) -> "Examination":
        try:
            self._discover()
            for protocol in protocols_of(self.connection):
                self._try_protocol(protocol)
            self._choose()
        except Over:
            return self
        self._try_streaming()
        if self.connection.vision_model:
            self._try_vision()
        return self

    @property
    def error(self) -> ModelError | None:
        """Why the connection is no good; ``None`` if it is."""
        if self.voice is not None:
            return None
        for kind in (ModelAuthFailed, ModelUnavailable, ModelNotFound, ModelRedirected, ModelStructureUnsupported):
            if found := next((error for error in self.errors if isinstance(error, kind)), None):
                return found
        return self.errors[-1] if self.errors else ModelProtocolUnsupported()

    # ---- the steps

    def _discover(self) -> None:
        finding = self.findings["model_discovery"]
        try:
            with _timed(finding):
                models_listed(self.connection, timeout=_patience(self.connection))
        except (ModelUnreachable, ModelTimedOut) as error:
            finding.error, finding.state = error, CapabilityState.ERROR
            self._give_up(error)
        except (ModelProtocolUnsupported, ModelNotFound, ModelRequestRejected) as error:
            self._reached()
            finding.error, finding.state = error, CapabilityState.UNSUPPORTED
        except ModelError as error:  # An endpoint may guard its list and answer all the same.
            self._reached()
            finding.error, finding.state = error, CapabilityState.ERROR
        else:
            self._reached(and_let_in=True)
            finding.state = CapabilityState.SUPPORTED

    def _try_protocol(self, protocol: Protocol) -> None:
        finding = self.findings[protocol]
        try:
            with _timed(finding):
                heard = self._hear_structured(Voice(Dialect.of(protocol)))
        except (ModelProtocolUnsupported, ModelRedirected) as error:
            self._reached()
            self._note(finding, error, CapabilityState.UNSUPPORTED)
        except (ModelAuthFailed, ModelUnreachable, ModelTimedOut) as error:
            self._note(finding, error, CapabilityState.ERROR)
            self._give_up(error)
        except ModelError as error:
            self._reached()
            self._note(finding, error, CapabilityState.ERROR)
        else:
            self._reached(and_let_in=True)
            finding.state, finding.detail = CapabilityState.SUPPORTED, heard.voice.dialect.structure.value
            self.heard[protocol] = heard

    def _choose(self) -> None:
        usable = [heard for heard in self.heard.values() if heard.is_structured]
        structured = self.findings["structured_output"]
        if not usable:
            if self.heard:
                structured.state, structured.error = CapabilityState.UNSUPPORTED, ModelStructureUnsupported()
                self.errors.append(structured.error)
            raise Over
        chosen = usable[0]  # Responses was tried first.
        self.voice = chosen.voice
        structured.state, structured.detail = CapabilityState.SUPPORTED, chosen.voice.dialect.structure.value
        self.findings["streaming" if chosen.voice.streams else "non_streaming"].state = CapabilityState.SUPPORTED
        self._note_usage(chosen.reply)

    def _try_streaming(self) -> None:
        """The other way of sending an answer. It is nice to have: one of the two is enough (MOD-019)."""
        if self.voice is None:
            return
        if self.voice.streams:  # It would not answer in any other way.
            self.findings["non_streaming"].state = CapabilityState.UNSUPPORTED
            return
        if self.connection.streaming == "off":
            return
        finding = self.findings["streaming"]
        try:
            with _timed(finding):
                heard = self._hear(replace(self.voice, streams=True))
        except ModelError as error:
            finding.state, finding.error = CapabilityState.ERROR, error
            return
        if heard.is_structured and heard.voice.streams:
            self.voice, finding.state = heard.voice, CapabilityState.SUPPORTED
            self._note_usage(heard.reply)
        else:
            finding.state = CapabilityState.UNSUPPORTED

    def _try_vision(self) -> None:
        if self.voice is None:
            return
        finding, voice = self.findings["vision"], replace(self.voice, has_switched=False)
        try:
            with _timed(finding):
                heard = self._hear(voice, model=self.connection.vision_model, images=(Image("image/png", DOT),))
        except ModelError as error:
            is_refusal = isinstance(error, ModelRequestRejected)
            finding.state = CapabilityState.UNSUPPORTED if is_refusal else CapabilityState.ERROR
            finding.error = error
            return
        finding.state = CapabilityState.SUPPORTED if heard.is_structured else CapabilityState.UNSUPPORTED
        self.vision = heard.voice.dialect if heard.is_structured else None

    # ---- one request

    def _hear_structured(self, voice: Voice) -> Heard:
        """A structured answer, natively if it can be had; else in words; else at least an answer."""
        try:
            heard = self._hear(voice)
        except ModelRequestRejected:
            # Some endpoints answer a bare 400 to whatever they do not know: ask for the least there is.
            return self._hear(replace(voice, dialect=voice.dialect.bare()))
        if heard.is_structured or heard.voice.dialect.structure is Structure.IN_WORDS:
            return heard
        return self._hear(replace(heard.voice, dialect=heard.voice.dialect.without_structure()))

    def _hear(self, voice: Voice, *, model: str = "", images: tuple[Image, ...] = ()) -> Heard:
        reply, learnt = ask_whether_ready(self.connection, voice, model=model, images=images)
        try:
            read_answer(reply.text, Readiness)
        except ModelOutputInvalid:
            return Heard(reply, learnt, is_structured=False)
        return Heard(reply, learnt, is_structured=True)

    # ---- what it means

    def _reached(self, *, and_let_in: bool = False) -> None:
        self.findings["connect"].state = CapabilityState.SUPPORTED
        if and_let_in:
            self.findings["authentication"] = Finding(CapabilityState.SUPPORTED)

    def _note(self, finding: Finding, error: ModelError, state: CapabilityState) -> None:
        finding.state, finding.error = state, error
        self.errors.append(error)

    def _note_usage(self, reply: Reply) -> None:
        counts = reply.tokens_in is not None and reply.tokens_out is not None
        self.findings["usage"].state = CapabilityState.SUPPORTED if counts else CapabilityState.UNSUPPORTED

    def _give_up(self, error: ModelError) -> None:
        name = "authentication" if isinstance(error, ModelAuthFailed) else "connect"
        if isinstance(error, ModelAuthFailed):
            self._reached()
        self.findings[name].state, self.findings[name].error = CapabilityState.ERROR, error
        if error not in self.errors:
            self.errors.append(error)
        raise Over


def examine(connection: OpenConnection) -> ModelError | None:
    """Find out everything and write it down; the answer is why the connection is no good, or ``None``."""
    began = clock.now()
    examination = Examination(connection).run()
    learnt: dict[str, Any] = {
        "capabilities": {name: finding.as_json() for name, finding in examination.findings.items()},
        "checked_at": clock.now(),
        "vision_dialect": examination.vision.as_json() if examination.vision else None,
    }
    if examination.voice is not None:
        voice = examination.voice
        learnt |= {"dialect": voice.dialect.as_json(), "streams": voice.streams, "verified_at": clock.now()}
        health.succeeded(connection, **learnt)
        return None
    error = examination.error or ModelProtocolUnsupported()
    if isinstance(error, ModelUnavailable):
        health.failed(connection, error, since=began, **learnt)
    else:
        learnt |= {"verified_at": None, "dialect": None}
        # Whatever else the error means where a job meets it: here it is a matter of the configuration.
        health.failed(connection, error, since=began, consequence=Consequence.CONFIGURE, **learnt)
    return error


def glance(connection: OpenConnection, voice: Voice) -> ModelError | None:
    """See whether a verified endpoint still answers, with one small request."""
    began = clock.now()
    try:
        reply, learnt = ask_whether_ready(connection, voice)
        read_answer(reply.text, Readiness)
    except ModelUnavailable as error:
        health.failed(connection, error, since=began, checked_at=clock.now())
        return error
    except ModelError:
        return examine(connection)  # It has changed: see what it is now.
    health.succeeded(connection, checked_at=clock.now(), dialect=learnt.dialect.as_json(), streams=learnt.streams)
    return None


def voice_known(connection: OpenConnection) -> Voice | None:
    """How this endpoint is spoken to, once an examination has found out."""
    kept = ConnectionHealth.objects.filter(pk=connection.id).values_list("dialect", "streams").first()
    if kept is None or kept[0] is None:
        return None
    return Voice(Dialect.from_json(kept[0]), kept[1])


def ask_whether_ready(
    connection: OpenConnection, voice: Voice, *, model: str = "", images: tuple[Image, ...] = ()
) -> tuple[Reply, Voice]:
    """One probing request, without retries, on record."""
    wanted = Wanted(model or connection.text_model, INSTRUCTIONS, QUESTION, Readiness, PROBE_TOKENS, images)
    tally = calls.Tally(estimated_in=200)
    call = calls.begin(
        PURPOSE,
        reserved_in=0,
        reserved_out=0,
        connection_revision=connection.revision,
        connection_name=connection.name,
        protocol=voice.dialect.protocol,
        streamed=voice.streams,
        model=wanted.model,
        schema_name=name_of(Readiness),
    )
    outcome, reply = calls.STOPPED, None
    try:
        reply, learnt = converse(connection, voice, wanted, tally, retries=0, timeout=_patience(connection))
        outcome = call.DONE
        return reply, learnt
    except ModelError as error:
        outcome = error.code
        raise
    finally:
        calls.finish(call, outcome, tally, reply)


def protocols_of(connection: OpenConnection) -> list[Protocol]:
    """The protocols to try, the preferred one first; a pinned one alone (MOD-018)."""
    return list(Protocol) if connection.protocol == "auto" else [Protocol(connection.protocol)]


def _patience(connection: OpenConnection) -> float:
    return float(min(connection.request_timeout_seconds, PROBE_SECONDS))


@contextmanager
def _timed(finding: Finding) -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    finally:
        finding.milliseconds = round((time.monotonic() - began) * 1000)
