"""What can go wrong with a Git server, and what it means for what waits to be pushed.

No sentence quotes the server: it may echo a credential, or say anything at all.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError


class Consequence(StrEnum):
    """What becomes of a repository whose server failed so."""

    WAIT = "wait"  # It passes by itself: waiting_remote.
    CONFIGURE_AT_FIRST = "configure_at_first"  # configuration_error, unless it worked before: then it waits (D-18).
    CONFIGURE = "configure"  # A person has to change something: configuration_error.
    MISSING = "missing"  # remote_repository_missing: somebody makes the repository, or gives the right to.
    DIVERGED = "diverged"  # remote_diverged: an administrator chooses.


class RemoteFailure(MemRelayError):
    """Any failure of a Git server."""

    status = 502
    consequence: ClassVar[Consequence] = Consequence.WAIT


class RemoteAuthFailed(RemoteFailure):
    code = "GIT_REMOTE_AUTH_FAILED"
    consequence = Consequence.CONFIGURE_AT_FIRST
    sentence = _("The Git server refused the credentials.")
    hint = _("Enter a valid token, password or key in the connection and test it.")


class RemoteForbidden(RemoteFailure):
    code = "GIT_REMOTE_FORBIDDEN"
    consequence = Consequence.CONFIGURE_AT_FIRST
    sentence = _("The Git server knows the account, but does not let it do this.")
    hint = _("Give the account the right to read and write the repository.")


class RemoteRepositoryMissing(RemoteFailure):
    code = "REMOTE_REPOSITORY_MISSING"
    consequence = Consequence.MISSING
    sentence = _("There is no repository at {url}.")
    hint = _("Create an empty repository there and try again; local history is kept and pushed then.")


class RemoteNotGit(RemoteFailure):
    code = "GIT_REMOTE_NOT_GIT"
    consequence = Consequence.CONFIGURE_AT_FIRST
    sentence = _("What answers at the address does not speak Git.")
    hint = _("Check the address: it must be the one that git clone takes. A sign-in page may have answered.")


class RemoteRedirected(RemoteFailure):
    code = "GIT_REMOTE_REDIRECTED"
    consequence = Consequence.CONFIGURE
    sentence = _("The Git server sends to another address; redirects are not followed.")
    hint = _("Enter the address it sends to, if you trust it.")


class RemoteNameUnknown(RemoteFailure):
    code = "GIT_REMOTE_NAME_UNKNOWN"
    sentence = _("The name of the Git server cannot be resolved.")
    hint = _("Check the address and the network. What waits is pushed when the server is back.")


class RemoteUnreachable(RemoteFailure):
    code = "GIT_REMOTE_UNREACHABLE"
    sentence = _("The Git server cannot be reached.")
    hint = _("Check the address and the network. What waits is pushed when the server is back.")


class RemoteUntrusted(RemoteFailure):
    code = "GIT_REMOTE_TLS"
    consequence = Consequence.CONFIGURE_AT_FIRST
    sentence = _("The Git server's certificate is not trusted, or it does not speak TLS.")
    hint = _("Enter the certificate of the authority that signed it in the connection, or check the address.")


class RemoteTimedOut(RemoteFailure):
    code = "GIT_REMOTE_TIMED_OUT"
    sentence = _("The Git server did not answer in time.")
    hint = _("What waits is pushed when the server is well again.")


class RemoteServerFailed(RemoteFailure):
    code = "GIT_REMOTE_SERVER_FAILED"
    sentence = _("The Git server failed at the request.")
    hint = _("What waits is pushed when the server is well again.")


class RemoteBroken(RemoteFailure):
    """The conversation ended in the middle, or made no sense."""

    code = "GIT_REMOTE_BROKEN"
    sentence = _("The conversation with the Git server broke off.")
    hint = _("What waits is pushed at the next try.")


class ProxyFailed(RemoteFailure):
    code = "GIT_PROXY_FAILED"
    consequence = Consequence.CONFIGURE_AT_FIRST
    sentence = _("The proxy did not let the connection through.")
    hint = _("Check the proxy in the connection.")


class RemoteRejected(RemoteFailure):
    code = "GIT_REMOTE_REJECTED"
    consequence = Consequence.CONFIGURE_AT_FIRST
    sentence = _("The Git server took the connection, but rejected the change.")
    hint = _("A protected branch or a rule of the server may forbid it; let the account push to it.")


class RemoteMoved(RemoteFailure):
    """The branch is not where the lease says: somebody pushed since we looked."""

    code = "GIT_REMOTE_MOVED"
    consequence = Consequence.DIVERGED
    sentence = _("The branch on the Git server has moved.")
    hint = _("Nothing was pushed. Look at what is there with memory_remote_inspect.")


class RemoteDiverged(RemoteFailure):
    code = "REMOTE_DIVERGED"
    status = 409
    consequence = Consequence.DIVERGED
    sentence = _("The branch on the Git server has commits that this history does not have.")
    hint = _(
        "Nothing was pushed and nothing taken over. An administrator chooses: bind an empty repository, import from"
        " the remote, or stay with local history."
    )


class RemoteTooLarge(RemoteFailure):
    code = "GIT_REMOTE_TOO_LARGE"
    status = 409
    consequence = Consequence.CONFIGURE
    sentence = _("What the Git server sends is larger than allowed.")
    hint = _("Nothing of it was kept. MEMRELAY_GIT_FETCH_BYTES sets the limit.")


class RemoteUnsafe(RemoteFailure):
    """A pack that could not be what a memory repository holds: a bomb, or garbage."""

    code = "GIT_REMOTE_UNSAFE"
    status = 409
    consequence = Consequence.CONFIGURE
    sentence = _("What the Git server sent was refused: {problem}.")
    hint = _("Nothing of it was kept. Look at the repository with other tools before you trust it.")


class HostKeyUnknown(RemoteFailure):
    code = "GIT_HOST_KEY_UNKNOWN"
    status = 409
    consequence = Consequence.CONFIGURE
    sentence = _("The SSH server's key is not known yet: {fingerprint}.")
    hint = _("Compare the fingerprint with what the service publishes and trust it in the connection.")


class HostKeyChanged(RemoteFailure):
    code = "GIT_HOST_KEY_CHANGED"
    status = 409
    consequence = Consequence.CONFIGURE
    sentence = _("The SSH server shows another key than the trusted one: {fingerprint}.")
    hint = _(
        "Somebody may stand in between. Trust the new key only after comparing it with what the service publishes."
    )


class PassphraseMissing(RemoteFailure):
    code = "GIT_KEY_PASSPHRASE_MISSING"
    status = 409
    consequence = Consequence.CONFIGURE
    sentence = _("The SSH key is locked with a passphrase.")
    hint = _("Enter the passphrase of the key.")


class KeyUnreadable(RemoteFailure):
    code = "GIT_KEY_UNREADABLE"
    status = 409
    consequence = Consequence.CONFIGURE
    sentence = _("The SSH key cannot be read: the passphrase is wrong, or it is no private key.")
    hint = _("Enter a private key of the kind Ed25519, ECDSA or RSA, whole, with its passphrase.")


class AddressRefused(RemoteFailure):
    code = "GIT_ADDRESS_REFUSED"
    status = 409
    consequence = Consequence.CONFIGURE
    sentence = _("The address of the remote is not allowed by this server's settings.")
    hint = _("Change the address, or MEMRELAY_GIT_PLAIN_HTTP and MEMRELAY_GIT_FILE_FOLDERS.")


class CredentialsUnreadable(RemoteFailure):
    code = "GIT_CREDENTIALS_UNREADABLE"
    status = 409
    consequence = Consequence.CONFIGURE
    sentence = _("The stored credentials do not open: the key ring is another one, or they were changed.")
    hint = _("Restore the key ring that belongs to this database, or enter the credentials again.")


def known_failure(code: str, facts: Mapping[str, Any] | None = None) -> RemoteFailure | None:
    """The failure with this code, for what was stored as a code and facts."""
    kind = _BY_CODE.get(code)
    return kind(**facts or {}) if kind else None


_BY_CODE = {kind.code: kind for kind in RemoteFailure.__subclasses__()}
