"""One request and one answer, as each of the two protocols says them. Pure: dictionaries in, dictionaries out."""

import base64
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from apps.llm.dialects import Dialect, Protocol, Structure
from apps.llm.errors import (
    ModelAnswerUnreadable,
    ModelContextTooLong,
    ModelRateLimited,
    ModelRefused,
    ModelServerFailed,
)
from apps.llm.structured import in_words, name_of, strict_schema

MOST_CHARACTERS = 8_000_000
FILTERS = frozenset({"content_filter", "content_policy_violation", "policy_violation", "invalid_prompt"})


@dataclass(frozen=True, slots=True)
class Image:
    media_type: str
    content: bytes = field(repr=False)

    def as_url(self) -> str:
        return f"data:{self.media_type};base64,{base64.b64encode(self.content).decode()}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of the model, in no protocol's words."""

    model: str
    instructions: str = field(repr=False)
    content: str = field(repr=False)
    answers: type[BaseModel]
    max_output_tokens: int
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, in no protocol's words."""

    text: str = field(repr=False)
    model: str = ""
    request_id: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cut_off: bool = False
    streamed: bool = False  # As it came, which need not be as it was asked for.


# ------------------------------------------------------------------------------------------------- asking


def fields_of(wanted: Wanted, dialect: Dialect, *, streams: bool) -> dict[str, Any]:
    """The request's body."""
    is_chat = dialect.protocol is Protocol.CHAT_COMPLETIONS
    fields = (_chat_fields if is_chat else _responses_fields)(wanted, dialect, _instructions(wanted, dialect))
    if dialect.limit:
        fields[dialect.limit] = wanted.max_output_tokens
    if dialect.says_store:
        fields["store"] = False  # What is sent are somebody's memories: nobody shall keep them.
    if streams:
        fields["stream"] = True
        if is_chat and dialect.counts_streams:
            fields["stream_options"] = {"include_usage": True}
    return fields


def _instructions(wanted: Wanted, dialect: Dialect) -> str:
    native = dialect.structure is Structure.JSON_SCHEMA
    return wanted.instructions if native else wanted.instructions + in_words(wanted.answers)


def _chat_fields(wanted: Wanted, dialect: Dialect, instructions: str) -> dict[str, Any]:
    content: Any = wanted.content
    if wanted.images:
        pictures = [{"type": "image_url", "image_url": {"url": image.as_url()}} for image in wanted.images]
        content = [{"type": "text", "text": wanted.content}, *pictures]
    messages = [{"role": "system", "content": instructions}, {"role": "user", "content": content}]
    fields: dict[str, Any] = {"model": wanted.model, "messages": messages}
    if dialect.structure is Structure.JSON_SCHEMA:
        fields["response_format"] = {"type": "json_schema", "json_schema": _format(wanted)}
    elif dialect.structure is Structure.JSON_OBJECT:
        fields["response_format"] = {"type": "json_object"}
    return fields


def _responses_fields(wanted: Wanted, dialect: Dialect, instructions: str) -> dict[str, Any]:
    sent: Any = wanted.content
    if wanted.images:
        pictures = [{"type": "input_image", "image_url": image.as_url(), "detail": "auto"} for image in wanted.images]
        sent = [{"role": "user", "content": [{"type": "input_text", "text": wanted.content}, *pictures]}]
    fields: dict[str, Any] = {"model": wanted.model, "instructions": instructions, "input": sent}
    if dialect.structure is Structure.JSON_SCHEMA:
        fields["text"] = {"format": {"type": "json_schema", **_format(wanted)}}
    elif dialect.structure is Structure.JSON_OBJECT:
        fields["text"] = {"format": {"type": "json_object"}}
        if isinstance(sent, str):
            fields["input"] = f"{sent}\n\n(Answer as JSON.)"  # The services look for the word in the input alone.
    return fields


def _format(wanted: Wanted) -> dict[str, Any]:
    return {"name": name_of(wanted.answers), "schema": strict_schema(wanted.answers), "strict": True}


# ---------------------------------------------------------------------------------------------- answering


def reply_of(protocol: Protocol, body: Any) -> Reply:
    """A whole answer's body. Raises what the body says went wrong."""
    if not isinstance(body, dict):
        raise ModelAnswerUnreadable()
    if isinstance(body.get("error"), dict | str) and body["error"]:
        raise failure_told(body["error"])
    return (_chat_reply if protocol is Protocol.CHAT_COMPLETIONS else _responses_reply)(body)


def failure_told(error: Any) -> Exception:
    """A failure that came inside a body or a stream, where there is no HTTP status to go by."""
    code = str(error.get("code") or error.get("type") or "") if isinstance(error, dict) else ""
    if code in FILTERS:
        return ModelRefused()
    if code == "context_length_exceeded":
        return ModelContextTooLong()
    if code in ("rate_limit_exceeded", "insufficient_quota", "429"):
        return ModelRateLimited(quota_is_gone=code == "insufficient_quota")
    return ModelServerFailed()


def _chat_reply(body: dict[str, Any]) -> Reply:
    choice = _first(body.get("choices"))
    message = choice.get("message")
    if not isinstance(message, dict):
        raise ModelAnswerUnreadable()
    finish = choice.get("finish_reason")
    if message.get("refusal") or finish == "content_filter":
        raise ModelRefused()
    return _reply(body, _text(message.get("content")), "prompt_tokens", "completion_tokens", cut_off=finish == "length")


def _responses_reply(body: dict[str, Any], *, heard: str = "") -> Reply:
    output = body.get("output")
    status, why = body.get("status"), _mapping(body.get("incomplete_details")).get("reason")
    if status == "failed":
        raise failure_told(body.get("error"))
    if not isinstance(output, list) or status in ("cancelled", "queued", "in_progress"):
        raise ModelAnswerUnreadable()
    parts = [
        part
        for item in output
        if isinstance(item, dict) and item.get("type") == "message"
        for part in item.get("content") or []
        if isinstance(part, dict)
    ]
    if why == "content_filter" or any(part.get("type") == "refusal" for part in parts):
        raise ModelRefused()
    text = "".join(str(part.get("text") or "") for part in parts if part.get("type") == "output_text")
    return _reply(body, text or heard, "input_tokens", "output_tokens", cut_off=status == "incomplete")


def _reply(body: dict[str, Any], text: str, read: str, written: str, *, cut_off: bool) -> Reply:
    usage = _mapping(body.get("usage"))
    return Reply(
        text=text,
        model=_line(body.get("model")),
        tokens_in=_count(usage.get(read)),
        tokens_out=_count(usage.get(written)),
        cut_off=cut_off,
    )


class ChatStream:
    """Puts the pieces of a Chat Completions stream together."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.refusal = ""
        self.finish: str | None = None
        self.body: dict[str, Any] = {}

    def take(self, event: Any) -> int:
        """One event; answers how many characters it brought."""
        if not isinstance(event, dict):
            raise ModelAnswerUnreadable()
        if isinstance(event.get("error"), dict | str) and event["error"]:
            raise failure_told(event["error"])
        self.body["model"] = event.get("model") or self.body.get("model")
        self.body["usage"] = event.get("usage") or self.body.get("usage")
        if not event.get("choices"):
            return 0
        choice = _first(event["choices"])
        delta = _mapping(choice.get("delta"))
        piece = _text(delta.get("content"))
        self.pieces.append(piece)
        self.refusal += _text(delta.get("refusal"))
        self.finish = choice.get("finish_reason") or self.finish
        return len(piece)

    def reply(self) -> Reply | None:
        """The answer; ``None`` if the stream ended before it."""
        if self.finish is None:
            return None
        message = {"content": "".join(self.pieces), "refusal": self.refusal or None}
        return _chat_reply({**self.body, "choices": [{"message": message, "finish_reason": self.finish}]})


class ResponsesStream:
    """Puts the events of a Responses stream together."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.final: dict[str, Any] | None = None

    def take(self, event: Any) -> int:
        if not isinstance(event, dict):
            raise ModelAnswerUnreadable()
        match event.get("type"):
            case "error":
                raise failure_told(event.get("error") or event)
            case "response.failed":
                raise failure_told(_mapping(event.get("response")).get("error"))
            case "response.completed" | "response.incomplete" if isinstance(event.get("response"), dict):
                self.final = event["response"]
            case "response.output_text.delta":
                self.pieces.append(_text(event.get("delta")))
                return len(self.pieces[-1])
        return 0

    def reply(self) -> Reply | None:
        # Some gateways leave the output out of the last event; what was heard on the way is the same text.
        if self.final is None:
            return None
        return _responses_reply({"output": [], **self.final}, heard="".join(self.pieces))


def stream_of(protocol: Protocol) -> ChatStream | ResponsesStream:
    return ChatStream() if protocol is Protocol.CHAT_COMPLETIONS else ResponsesStream()


def _first(choices: Any) -> dict[str, Any]:
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ModelAnswerUnreadable()
    return choices[0]


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(content: Any) -> str:
    """Text as such, or as the list of parts that some endpoints send."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return ""


def _line(value: Any) -> str:
    return "".join(letter for letter in value if letter.isprintable())[:200] if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**40 else None
