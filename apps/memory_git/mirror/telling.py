"""The connection as callers read it: without its secrets, with what was found out about the server."""

from typing import Any

from apps.memory_git.mirror.binding import bound_to
from apps.memory_git.mirror.credentials import address_at, current_connection
from apps.memory_git.mirror.examining import SHOWN_KEYS, TESTED_URL
from apps.memory_git.mirror.schemas import (
    CapabilityOut,
    GitConnectionOut,
    HostKeyOut,
    RemoteProblem,
)
from apps.memory_git.models import GitConnection
from apps.memory_git.remotes.failures import RemoteFailure, known_failure
from apps.memory_git.remotes.probing import CAPABILITIES, Finding, State


def described() -> GitConnectionOut:
    row = current_connection()
    is_there = row is not None
    row = row or GitConnection(id="", name="", url="", transport="", revision=0, enabled=False)
    facts: dict[str, Any] = next((kept["facts"] for kept in _kept(row) if kept["code"] == row.error_code), {})
    failure = known_failure(row.error_code, facts)
    return GitConnectionOut(
        configured=is_there,
        connection_id=row.pk,
        revision=row.revision,
        name=row.name,
        url=row.url,
        mode=address_at(row.url).mode if is_there else "",
        transport=row.transport,
        user_name=row.user_name,
        credential_storage=row.credential_storage,
        has_secret=row.sealed_secret is not None,
        has_private_key=row.sealed_private_key is not None,
        has_passphrase=row.sealed_passphrase is not None,
        has_proxy=row.sealed_proxy is not None,
        host_keys=list(row.host_keys),
        authorities=row.authorities,
        branch=row.branch,
        allow_write_test=row.allow_write_test,
        allow_push_to_create=row.allow_push_to_create,
        enabled=row.enabled,
        capabilities={name: _capability(kept) for name, kept in _matrix(row).items()},
        shown_host_keys=[
            HostKeyOut(fingerprint=key, trusted=any(_same_key(key, pin) for pin in row.host_keys))
            for key in row.capabilities.get(SHOWN_KEYS, [])
        ],
        tested_url=row.capabilities.get(TESTED_URL, ""),
        error=problem_of(failure) if failure else None,
        tested_at=row.tested_at,
        succeeded_at=row.succeeded_at,
        repositories=len(bound_to(row)) if is_there else 0,
    )


def _matrix(row: GitConnection) -> dict[str, dict[str, Any] | None]:
    matrix = {name: row.capabilities.get(name) for name in CAPABILITIES}
    return {**matrix, "push_to_create": _learnt(row).as_dict()} if row.pk else matrix


def _kept(row: GitConnection) -> list[dict[str, Any]]:
    return [row.capabilities[name] for name in CAPABILITIES if name in row.capabilities]


def problem_of(failure: RemoteFailure) -> RemoteProblem:
    return RemoteProblem(code=failure.code, message=str(failure), hint=failure.advice)


def _learnt(row: GitConnection) -> Finding:
    """What first pushes have shown so far."""
    states = [repository.push_to_create for repository in bound_to(row)]
    for state in (State.SUPPORTED, State.UNSUPPORTED):
        if state in states:
            return Finding(state)
    return Finding(State.UNKNOWN)


def _capability(kept: dict[str, Any] | None) -> CapabilityOut:
    if kept is None:
        return CapabilityOut(state=State.UNKNOWN)
    told = {name: value for name, value in kept.items() if name != "facts"}
    failure = known_failure(kept["code"], kept["facts"])
    return CapabilityOut(**told, message=str(failure), hint=failure.advice) if failure else CapabilityOut(**told)


def _same_key(shown: str, pin: str) -> bool:
    return shown.rpartition(" ")[2] == pin.rpartition(" ")[2]
