"""Finding out what a Git server can do, by doing it (GIT-027, GIT-041)."""

from typing import Any

from apps.base import clock
from apps.base.transactions import outside_transactions, short_transaction
from apps.memory_git.mirror.binding import bound_to, try_again
from apps.memory_git.mirror.credentials import access_of, address_at
from apps.memory_git.models import GitConnection, Strategy
from apps.memory_git.remotes.addresses import RemoteAddress
from apps.memory_git.remotes.client import Remote
from apps.memory_git.remotes.failures import RemoteFailure
from apps.memory_git.remotes.probing import Finding, State, probe
from apps.memory_git.repository.repositories import name_for
from apps.operations.caller import SHARED_PROFILE

SHOWN_KEYS, TESTED_URL = "_host_keys", "_tested_url"  # Kept beside the capabilities.


@outside_transactions
def examine(row: GitConnection) -> None:
    """Find out what the server can do, and write it down unless the connection was changed meanwhile."""
    address, access = _target(row), access_of(row)
    shown = [str(key) for key in _host_keys_of(address, row)]
    found = probe(address, access, branch=row.branch, write=row.allow_write_test)
    failed = next((one for one in found.values() if one.state is State.ERROR), Finding(State.UNKNOWN))
    kept: dict[str, Any] = {name: finding.as_dict() for name, finding in found.items()}
    kept |= {SHOWN_KEYS: shown, TESTED_URL: str(address)}
    now = clock.now()
    fields = {"capabilities": kept, "tested_at": now, "error_code": failed.code}
    if found["ls_remote"].state is State.SUPPORTED:
        fields["succeeded_at"] = now
    with short_transaction():
        if GitConnection.objects.filter(pk=row.pk, revision=row.revision).update(**fields):
            try_again(bound_to(row))


def _target(row: GitConnection) -> RemoteAddress:
    """The repository a test asks for: a genuine one, so that no other is ever made at the server (GIT-041)."""
    bound = bound_to(row)
    if bound:
        return address_at(bound[0].remote_url)
    address = address_at(row.url)
    strategy = Strategy.PER_WORKSPACE if address.is_template else Strategy.SINGLE
    return address.named(name_for(strategy, f"global/{SHARED_PROFILE}")) if address.is_template else address


def _host_keys_of(address: RemoteAddress, row: GitConnection) -> list[Any]:
    try:
        return Remote(address, access_of(row)).host_keys()
    except RemoteFailure:
        return []  # The probe that follows tells why.
