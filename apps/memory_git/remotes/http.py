"""Git over HTTP(S): one request pool for one conversation, typed answers, no redirects, no fall back to plain files."""

import ssl
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import urllib3
from dulwich.client import HTTPProxyUnauthorized, HTTPUnauthorized, Urllib3HttpGitClient
from dulwich.config import ConfigDict
from dulwich.errors import GitProtocolError, NotGitRepository
from urllib3.util import Retry, Timeout

from apps.memory_git.remotes.access import Access, Watch
from apps.memory_git.remotes.addresses import RemoteAddress
from apps.memory_git.remotes.failures import RemoteNotGit, RemoteRedirected

USER_AGENT = "git/memrelay"  # Some servers speak Git only with clients that say they are Git.


class HttpStatus(GitProtocolError):
    """The server answered with another status than 200."""

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status


class HttpClient(Urllib3HttpGitClient):
    """dulwich's client, which tells most refusals by their text only and would read a sign-in page as a list of refs."""

    def __init__(self, base_url: str, *, watch: Watch, **options: Any) -> None:
        super().__init__(base_url, config=ConfigDict(), **options)
        self._watch = watch

    def _http_request(
        self,
        url: str,
        headers: dict[str, str] | None = None,
        data: bytes | Iterator[bytes] | None = None,
        raise_for_status: bool = True,
    ) -> tuple[Any, Callable[[int], bytes]]:
        self._watch.check()
        response, read = super()._http_request(url, headers, data, raise_for_status=False)
        if response.status != 200:
            response.close()
            raise _refusal(response.status, response.headers, url)
        if not (response.headers.get("Content-Type") or "").startswith("application/x-git-"):
            response.close()
            raise RemoteNotGit()

        def watched(count: int) -> bytes:
            data = read(count)
            self._watch.received(len(data))
            return data

        return response, watched

    def let_go(self) -> None:
        self.pool_manager.clear()


def http_client(address: RemoteAddress, access: Access, watch: Watch) -> HttpClient:
    """A client for one repository: the empty path is its root."""
    timeout = Timeout(connect=access.connect_seconds, read=access.silence_seconds)
    # Redirects are refused, not followed: the next address would get what this one was trusted with.
    never = Retry(total=None, connect=0, read=0, redirect=0, status=0, other=0, raise_on_redirect=False)
    options: dict[str, Any] = {"timeout": timeout, "retries": never, "headers": {"User-Agent": USER_AGENT}}
    if address.transport == "https":
        options["ssl_context"] = _tls(access.authorities)
    pool = _through(access.proxy, options) if access.proxy else urllib3.PoolManager(**options)
    login = {"username": access.user, "password": access.secret} if access.user or access.secret else {}
    return HttpClient(f"{address}/", watch=watch, pool_manager=pool, **login)


def _tls(authorities: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if authorities:
        context.load_verify_locations(cadata=authorities)
    return context


def _through(proxy: str, options: dict[str, Any]) -> urllib3.ProxyManager:
    parts = urlsplit(proxy)
    headers = None
    if parts.username is not None:
        headers = urllib3.make_headers(proxy_basic_auth=f"{parts.username}:{parts.password or ''}")
    port = f":{parts.port}" if parts.port else ""
    return urllib3.ProxyManager(f"{parts.scheme}://{parts.hostname}{port}", proxy_headers=headers, **options)


def _refusal(status: int, headers: Any, url: str) -> Exception:
    if status == 401:
        return HTTPUnauthorized(headers.get("WWW-Authenticate"), url)
    if status == 407:
        return HTTPProxyUnauthorized(headers.get("Proxy-Authenticate"), url)
    if status in (404, 410):
        return NotGitRepository("HTTP 404")
    if 300 <= status < 400:
        return RemoteRedirected()
    return HttpStatus(status)
