"""The connection to a Git server: saved, tested, taken away. Its secrets come in and never go out (GIT-024)."""

from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from apps.base import clock
from apps.base.bells import hurry
from apps.base.errors import Invalid
from apps.base.ids import new_id
from apps.base.text import clean_line
from apps.base.transactions import outside_transactions, short_transaction
from apps.memory_git.binding import bind_all, bound_to, rebind_all, try_again, unbind
from apps.memory_git.credentials import COLUMNS, access_of, address_at, current_connection, opened, seal_into
from apps.memory_git.models import GitConnection, MemoryRepository, Strategy
from apps.memory_git.remote_errors import ConnectionChanged, ConnectionMissing
from apps.memory_git.remote_schemas import (
    AllowCreation,
    AllowWriteTest,
    Authorities,
    CapabilityOut,
    ConnectionEnabled,
    ConnectionName,
    ExpectedRevision,
    GitConnectionOut,
    HostKeyOut,
    HostKeys,
    Passphrase,
    PrivateKey,
    ProxyUrl,
    RemoteBranch,
    RemoteProblem,
    RemoteUrl,
    Secret,
    TestNow,
    UserName,
)
from apps.memory_git.remotes.addresses import RemoteAddress, UnusableAddress, check_mode
from apps.memory_git.remotes.client import Remote
from apps.memory_git.remotes.failures import RemoteFailure, known_failure
from apps.memory_git.remotes.probing import CAPABILITIES, Finding, State, probe
from apps.memory_git.remotes.ssh import load_key
from apps.memory_git.repositories import name_for
from apps.memory_git.switch import chosen
from apps.operations.caller import SHARED_PROFILE, Caller, Right
from apps.operations.operation import UNCHANGED, Effect, operation

PLAIN_FIELDS = "name url user_name host_keys authorities branch allow_write_test allow_push_to_create enabled".split()
# Where one of these changes, what was found out about the server holds no longer.
SPEAKING = {"url", "user_name", "host_keys", "authorities", *COLUMNS}
SHOWN_KEYS, TESTED_URL = "_host_keys", "_tested_url"  # Kept beside the capabilities.


@operation(needs=Right.ADMINISTER, answers=GitConnectionOut)
def git_connection_get(caller: Caller) -> GitConnectionOut:
    """Read the connection to the Git server without its secrets, and what the server can do."""
    return described()


@operation(needs=Right.ADMINISTER, answers=GitConnectionOut, effect=Effect.CHANGES)
def git_connection_save(
    caller: Caller,
    *,
    url: RemoteUrl = UNCHANGED,
    user_name: UserName = UNCHANGED,
    secret: Secret | None = UNCHANGED,
    private_key: PrivateKey | None = UNCHANGED,
    passphrase: Passphrase | None = UNCHANGED,
    host_keys: HostKeys = UNCHANGED,
    authorities: Authorities = UNCHANGED,
    proxy: ProxyUrl | None = UNCHANGED,
    branch: RemoteBranch = UNCHANGED,
    name: ConnectionName = UNCHANGED,
    allow_write_test: AllowWriteTest = UNCHANGED,
    allow_push_to_create: AllowCreation = UNCHANGED,
    enabled: ConnectionEnabled = UNCHANGED,
    revision: ExpectedRevision | None = None,
    test: TestNow = True,
) -> GitConnectionOut:
    """Save the connection to a Git server that histories are mirrored to. What is left out stays; the first time it needs a url.

    A whole address is for the strategy single, one with {repo} for per_workspace. Secrets are stored sealed and never shown
    again; another server needs them anew. The first SSH test shows the server's fingerprints: save those you trust in host_keys.
    """
    sent = dict(locals())
    wanted = {field: sent[field] for field in PLAIN_FIELDS if sent[field] is not UNCHANGED}
    secrets = {field: sent[field] or "" for field in COLUMNS if sent[field] is not UNCHANGED}
    _check(wanted, secrets)
    with short_transaction():
        before = current_connection()
        found = before.revision if before else 0
        if revision is not None and revision != found:
            raise ConnectionChanged(revision=found)
        if before is None and "url" not in wanted:
            raise Invalid(fields={"url": _("This is required.")})
        row = _changed(caller, before, wanted, secrets)
    if test and row.enabled:
        examine(row)
    hurry()
    return described()


@operation(needs=Right.ADMINISTER, answers=GitConnectionOut, effect=Effect.CHANGES, repeatable=True)
@outside_transactions
def git_connection_test(caller: Caller) -> GitConnectionOut:
    """Test now what the Git server can do: resolve, list, fetch, and with the write test push and delete a branch of its own.

    Whether a first push creates a repository is learnt only from a genuine first push. Success lets waiting pushes go on.
    """
    row = current_connection()
    if row is None:
        raise ConnectionMissing()
    examine(row)
    hurry()
    return described()


@operation(needs=Right.ADMINISTER, answers=GitConnectionOut, effect=Effect.DESTROYS, repeatable=True)
def git_connection_delete(caller: Caller) -> GitConnectionOut:
    """Take the connection away and destroy its secrets. Local history and what lies at the server both stay as they are."""
    with short_transaction():
        for row in GitConnection.objects.all():
            for repository in MemoryRepository.objects.filter(connection=row):
                unbind(repository, stays_local=False)
            row.delete()
    return described()


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


def _check(wanted: dict[str, Any], secrets: dict[str, str]) -> None:
    """Bring what was sent into the form it is kept in. Raises ``Invalid``, and never repeats a secret."""
    wrong: dict[str, str] = {}
    if "url" in wanted:
        try:
            address = address_at(wanted["url"])
            check_mode(address, chosen().strategy)
            wanted["url"], wanted["transport"] = str(address), address.transport
        except UnusableAddress as why:
            wrong["url"] = str(why)
    for field in ("name", "user_name"):
        if field in wanted:
            wanted[field] = clean_line(wanted[field])
    if ":" in wanted.get("user_name", ""):
        wrong["user_name"] = _("A user name has no colon.")
    if "host_keys" in wanted:
        wanted["host_keys"] = [clean_line(key) for key in wanted["host_keys"] if clean_line(key)]
        if not all(key.rpartition(" ")[2].startswith("SHA256:") for key in wanted["host_keys"]):
            wrong["host_keys"] = _("A fingerprint looks like ssh-ed25519 SHA256:... or SHA256:...")
    if secrets.get("proxy") and urlsplit(secrets["proxy"]).scheme not in ("http", "https"):
        wrong["proxy"] = _("A proxy begins with http:// or https://.")
    if wanted.get("authorities", "").strip() and "-----BEGIN CERTIFICATE-----" not in wanted["authorities"]:
        wrong["authorities"] = _("This must be certificates in PEM form.")
    secrets.update({name: value.strip() for name, value in secrets.items() if name in ("secret", "proxy")})
    if any(not letter.isprintable() for letter in secrets.get("secret", "")):
        wrong["secret"] = _("A token or password is one line.")
    if wrong:
        raise Invalid(fields=wrong)


def _changed(
    caller: Caller, before: GitConnection | None, wanted: dict[str, Any], secrets: dict[str, str]
) -> GitConnection:
    row = before or GitConnection(id=new_id("gcn"), revision=0)
    old_url, old = row.url, {field: getattr(row, field) for field in PLAIN_FIELDS}
    for field, value in wanted.items():
        setattr(row, field, value)
    _keep_to_the_server(before, old_url, row, secrets)
    changed = {field for field in PLAIN_FIELDS if old[field] != getattr(row, field)}
    changed |= {name for name, value in secrets.items() if before is None or opened(before, name) != value}
    for name, value in secrets.items():
        seal_into(row, name, value)
    _check_key(row, secrets)
    row.name = row.name or address_at(row.url).host or row.transport
    if before is not None and not changed:
        return row
    if changed & SPEAKING:
        row.capabilities, row.tested_at, row.error_code = {}, None, ""
    if changed & SPEAKING - {"host_keys", "authorities"}:
        row.succeeded_at = None  # These credentials have never worked there (D-18).
    row.revision, row.updated_at, row.updated_by = row.revision + 1, clock.now(), caller.name[:120]
    row.save()
    if before is not None and old_url != row.url:
        rebind_all(row)
    if row.enabled:
        bind_all(row)
        try_again(bound_to(row))
    return row


def _keep_to_the_server(
    before: GitConnection | None, old_url: str, row: GitConnection, secrets: dict[str, str]
) -> None:
    """Else whoever may change the address could have the stored secrets sent to themselves."""
    if before is None or address_at(old_url).origin == address_at(row.url).origin:
        return
    kept = [name for name in COLUMNS if name != "proxy" and name not in secrets and getattr(before, COLUMNS[name])]
    if kept:
        told = _("Enter this again: the stored one belongs to another server.")
        raise Invalid(fields={name: told for name in kept})


def _check_key(row: GitConnection, secrets: dict[str, str]) -> None:
    """A key that cannot be read is told at once, not at the first push."""
    if not {"private_key", "passphrase"} & set(secrets) or not (key := opened(row, "private_key")):
        return
    try:
        load_key(key, opened(row, "passphrase"))
    except RemoteFailure as failure:
        field = "passphrase" if secrets.get("private_key") is None else "private_key"
        raise Invalid(fields={field: f"{failure} {failure.advice}"}) from None


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
