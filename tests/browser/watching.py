"""Everything that a page must not do, noted while it is used."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Request, Response

VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) => {
  console.error(`Content-Security-Policy: ${event.violatedDirective} ${event.blockedURI}`);
});
"""


@dataclass
class Watch:
    """``complaints``: errors in the console, refusals of the policy, requests to other hosts, answers that failed."""

    origin: str
    expected: set[int] = field(default_factory=set)  # Statuses that a test asks for.
    complaints: list[str] = field(default_factory=list)

    def over(self, context: BrowserContext) -> None:
        context.add_init_script(VIOLATIONS)
        context.on("console", self._on_console)
        context.on("weberror", lambda error: self.complaints.append(f"script: {error.error}"))
        context.on("request", self._on_request)
        context.on("response", self._on_response)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning"):
            return
        if "Failed to load resource" in message.text:
            return  # The answer itself is looked at.
        if message.text.startswith(("htmx:sendAbort", "htmx:afterRequest")):
            return  # An answer that nobody waits for any more is given up; a request that fails is told of besides.
        self.complaints.append(f"console: {message.text}")

    def _on_request(self, request: Request) -> None:
        asked = urlsplit(request.url)
        if asked.scheme in ("http", "https", "ws", "wss") and f"{asked.scheme}://{asked.netloc}" != self.origin:
            self.complaints.append(f"another host: {request.url}")

    def _on_response(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.expected:
            self.complaints.append(f"{response.status}: {response.url}")
