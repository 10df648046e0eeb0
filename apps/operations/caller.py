"""Who is asking, for which memory space, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol


class Right(StrEnum):
    READ = "read"
    WRITE = "write"
    ADMINISTER = "administer"


ALL_RIGHTS = frozenset(Right)
SHARED_PROFILE = "shared"


class Origin(StrEnum):
    """Where a change came from; only the first three may set curation going."""

    USER = "user"
    AGENT = "agent"
    EXTERNAL = "external"
    CURATION = "curation"
    GIT = "git"
    SYSTEM = "system"


class CallerKind(StrEnum):
    SESSION = "session"
    TOKEN = "token"  # noqa: S105 - a kind of caller, not a secret
    JOB = "job"
    COMMAND = "command"


class JobRow(Protocol):
    """What a job row keeps of the caller that started it."""

    actor: str
    profile: str
    project_id: str | None
    rights: list[str]


@dataclass(frozen=True, slots=True)
class Caller:
    """One caller. ``project_id`` is the workspace the token or the URL is bound to; other workspaces are out of reach."""

    name: str
    kind: CallerKind
    origin: Origin
    rights: frozenset[Right]
    profile: str = SHARED_PROFILE
    project_id: str | None = None
    token_id: str | None = None
    toolset: str = "agent"
    zone: str = "UTC"
    language: str = "en"
    request_id: str = field(default="", compare=False)

    def may(self, right: Right) -> bool:
        return right in self.rights

    @property
    def administers(self) -> bool:
        return Right.ADMINISTER in self.rights

    def bound_to(self, project_id: str) -> Caller:
        return replace(self, project_id=project_id)

    @staticmethod
    def for_command(name: str = "command", *, profile: str = SHARED_PROFILE) -> Caller:
        """The operator at the server's own terminal."""
        return Caller(name, CallerKind.COMMAND, Origin.USER, ALL_RIGHTS, profile=profile, toolset="full")

    @staticmethod
    def for_system(name: str = "system") -> Caller:
        """The server itself: adoption, replay, sweeps."""
        return Caller(name, CallerKind.JOB, Origin.SYSTEM, ALL_RIGHTS)

    @staticmethod
    def for_job(row: JobRow) -> Caller:
        """A job acts as whoever started it, with the rights they had then."""
        rights = frozenset(Right(right) for right in row.rights)
        return Caller(row.actor, CallerKind.JOB, Origin.SYSTEM, rights, profile=row.profile, project_id=row.project_id)
