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
from apps.memory_git.mirror.binding import bind_all, bound_to, rebind_all, try_again, unbind
from apps.memory_git.mirror.credentials import COLUMNS, address_at, current_connection, opened, seal_into
from apps.memory_git.mirror.errors import ConnectionChanged, ConnectionMissing
from apps.memory_git.mirror.examining import examine
from apps.memory_git.mirror.schemas import (
    AllowCreation,
    AllowWriteTest,
    Authorities,
    ConnectionEnabled,
    ConnectionName,
    ExpectedRevision,
    GitConnectionOut,
    HostKeys,
    Passphrase,
    PrivateKey,
    ProxyUrl,
    RemoteBranch,
    RemoteUrl,
    Secret,
    TestNow,
    UserName,
)
from apps.memory_git.mirror.telling import described
from apps.memory_git.models import GitConnection, MemoryRepository
from apps.memory_git.remotes.addresses import UnusableAddress, check_mode
from apps.memory_git.remotes.failures import RemoteFailure
from apps.memory_git.remotes.ssh import load_key
from apps.memory_git.switch import chosen
from apps.operations.caller import Caller, Right
from apps.operations.operation import UNCHANGED, Effect, operation

PLAIN_FIELDS = "name url user_name host_keys authorities branch allow_write_test allow_push_to_create enabled".split()
# Where one of these changes, what was found out about the server holds no longer.
SPEAKING = {"url", "user_name", "host_keys", "authorities", *COLUMNS}


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
