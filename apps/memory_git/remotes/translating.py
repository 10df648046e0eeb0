"""From the exceptions of five libraries to the failures that the rest of the house knows."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import paramiko
import urllib3.exceptions as http_errors
from dulwich.client import HTTPProxyUnauthorized, HTTPUnauthorized
from dulwich.errors import GitProtocolError, HangupException, NotGitRepository, SendPackError
from paramiko.ssh_exception import SSHException

from apps.memory_git.remotes.addresses import RemoteAddress
from apps.memory_git.remotes.failures import (
    ProxyFailed,
    RemoteAuthFailed,
    RemoteBroken,
    RemoteFailure,
    RemoteForbidden,
    RemoteNameUnknown,
    RemoteRejected,
    RemoteRepositoryMissing,
    RemoteServerFailed,
    RemoteTimedOut,
    RemoteUnreachable,
    RemoteUntrusted,
)
from apps.memory_git.remotes.http import HttpStatus

# What servers write to people when they refuse over SSH, where there is no number for it.
WORDS_OF_MISSING = (
    "does not appear to be a git repository",
    "repository not found",
    "does not exist",
    "could not be found",
    "no such repository",
    "project you were looking for",
)
WORDS_OF_FORBIDDEN = (
    "denied",
    "permission",
    "not authorized",
    "unauthorized",
    "forbidden",
    "read-only",
    "deploy key",
    "push to create is not enabled",
)
# In this order: a proxy's failure holds a socket's, a name's failure is a connection's too.
BY_KIND: tuple[tuple[tuple[type[BaseException], ...], type[RemoteFailure]], ...] = (
    ((HTTPProxyUnauthorized, http_errors.ProxyError), ProxyFailed),
    ((HTTPUnauthorized, paramiko.AuthenticationException), RemoteAuthFailed),
    ((NotGitRepository,), RemoteRepositoryMissing),
    ((SendPackError,), RemoteRejected),
    ((socket.gaierror, http_errors.NameResolutionError), RemoteNameUnknown),
    ((ssl.SSLEOFError, ssl.SSLZeroReturnError), RemoteBroken),  # Its server went away; no certificate was seen.
    ((ssl.SSLError, http_errors.SSLError), RemoteUntrusted),
    ((ConnectionRefusedError,), RemoteUnreachable),
    ((http_errors.ConnectTimeoutError, http_errors.ReadTimeoutError, TimeoutError), RemoteTimedOut),
    ((http_errors.NewConnectionError, OSError), RemoteUnreachable),
)
OF_LIBRARIES = (
    GitProtocolError,
    NotGitRepository,
    HTTPUnauthorized,
    HTTPProxyUnauthorized,
    SSHException,
    http_errors.HTTPError,
    OSError,
    EOFError,
    ValueError,
)


@contextmanager
def translated(address: RemoteAddress) -> Iterator[None]:
    """Whatever a library raises inside comes out as a ``RemoteFailure``, without its words: they may quote a credential."""
    try:
        yield
    except RemoteFailure:
        raise
    except (*OF_LIBRARIES, AssertionError, KeyError, IndexError, TypeError, AttributeError) as error:
        # The last ones are what a parser does with an answer that is none.
        raise failure_for(error, address) from None


def failure_for(error: BaseException, address: RemoteAddress) -> RemoteFailure:
    """The failure that stands for this exception and those inside it."""
    chain = list(_chain(error))
    for inner in chain:
        if isinstance(inner, RemoteFailure):
            return inner
        if isinstance(inner, HttpStatus):
            return _of_status(inner.status)
    if said := _of_words(chain):
        return _made(said, address)
    for kinds, failure in BY_KIND:
        if any(isinstance(inner, kinds) for inner in chain):
            return _made(failure, address)
    if any(isinstance(inner, SSHException) and "banner" in str(inner) for inner in chain):
        return RemoteTimedOut()  # Something took the connection and never said that it is an SSH server.
    return RemoteBroken()


def _made(failure: type[RemoteFailure], address: RemoteAddress) -> RemoteFailure:
    return failure(url=str(address)) if failure is RemoteRepositoryMissing else failure()


def _of_status(status: int) -> RemoteFailure:
    if status == 403:
        return RemoteForbidden()
    if status == 429 or status >= 500:
        return RemoteServerFailed()
    return RemoteBroken()


def _of_words(chain: list[BaseException]) -> type[RemoteFailure] | None:
    """Over SSH a server says why in words, on stderr or as an ERR line."""
    is_authentication = any(isinstance(inner, paramiko.AuthenticationException) for inner in chain)
    spoken = [inner for inner in chain if isinstance(inner, (HangupException, GitProtocolError))]
    if is_authentication or not spoken:
        return None
    text = " ".join(str(inner) for inner in spoken).lower()
    if any(words in text for words in WORDS_OF_MISSING):
        return RemoteRepositoryMissing
    if any(words in text for words in WORDS_OF_FORBIDDEN):
        return RemoteForbidden
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and all that caused it; libraries keep theirs in different places."""
    seen: set[int] = set()
    waiting: list[object] = [error]
    while waiting:
        inner = waiting.pop(0)
        if not isinstance(inner, BaseException) or id(inner) in seen:
            continue
        seen.add(id(inner))
        yield inner
        waiting += [getattr(inner, "reason", None), inner.__cause__, inner.__context__, *inner.args]
