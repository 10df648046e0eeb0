"""What an endpoint takes of a protocol: learnt from its refusals, one step at a time, never towards more.

Endpoints differ in the parameters they accept, and say so with a 400 that names the parameter. That is no fault of the
protocol (MOD-014): the request is said once more without it, and what was learnt is kept with the connection.
"""

import re
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any


class Protocol(StrEnum):
    RESPONSES = "responses"
    CHAT_COMPLETIONS = "chat_completions"


class Structure(StrEnum):
    """How the structure of an answer is asked for, best first."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    IN_WORDS = "in_words"


STRUCTURES = list(Structure)
LIMITS = {
    Protocol.RESPONSES: ["max_output_tokens", ""],
    # Endpoints that know only the older name ignore the newer one in silence; the other way round they complain.
    Protocol.CHAT_COMPLETIONS: ["max_tokens", "max_completion_tokens", ""],
}


@dataclass(frozen=True, slots=True)
class Dialect:
    protocol: Protocol
    structure: Structure = Structure.JSON_SCHEMA
    limit: str = ""  # The name of the parameter that limits the answer; empty: it takes none.
    says_store: bool = True  # Whether it is told to keep nothing.
    counts_streams: bool = True  # Whether it can be asked to count the tokens of a stream.

    @staticmethod
    def of(protocol: Protocol) -> "Dialect":
        """What the protocol itself says; an endpoint is taken to know all of it until it complains."""
        return Dialect(protocol, limit=LIMITS[protocol][0])

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(kept: dict[str, Any]) -> "Dialect":
        known = {field.name for field in fields(Dialect)}
        told = {name: value for name, value in kept.items() if name in known}
        protocol = Protocol(told.pop("protocol"))
        return Dialect(protocol, Structure(told.pop("structure", Structure.JSON_SCHEMA)), **told)

    def without_structure(self) -> "Dialect":
        return replace(self, structure=Structure.IN_WORDS)

    def bare(self) -> "Dialect":
        """The least that can be said: model and text."""
        return Dialect(self.protocol, Structure.IN_WORDS, limit="", says_store=False, counts_streams=False)


def refuses_streams(complaint: str) -> bool:
    """Whether a refusal is about streaming as such."""
    return bool(re.search(r"\bstream(ing|s)?\b", complaint))


def adapted(dialect: Dialect, complaint: str) -> Dialect | None:
    """The dialect without what the complaint is about; ``None`` where it names nothing that could be left out."""
    if dialect.counts_streams and _names(complaint, "stream_options", "include_usage"):
        return replace(dialect, counts_streams=False)
    if dialect.says_store and _names(complaint, "store"):
        return replace(dialect, says_store=False)
    if dialect.limit and _names(complaint, "max_tokens", "max_completion_tokens", "max_output_tokens"):
        names = LIMITS[dialect.protocol]
        return replace(dialect, limit=names[names.index(dialect.limit) + 1])
    if dialect.structure is not Structure.IN_WORDS and _names(
        complaint, "response_format", "text.format", "json_schema", "json_object", "text", "schema", "format"
    ):
        return replace(dialect, structure=STRUCTURES[STRUCTURES.index(dialect.structure) + 1])
    return None


def _names(complaint: str, *names: str) -> bool:
    return any(re.search(rf"(?<![\w.]){re.escape(name)}(?![\w])", complaint) for name in names)
