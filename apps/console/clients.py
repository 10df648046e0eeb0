"""How agents reach this server, at the address that the reader's browser reached it at."""

from dataclasses import dataclass
from typing import get_args

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import get_language, get_language_info
from django.utils.translation import gettext as _

from apps.console.visiting import caller_for
from apps.context.schemas import AgentPromptOut, ClientConfigOut, ClientName
from apps.context.selectors import agent_prompt_get, client_config_get

NAMES: tuple[str, ...] = get_args(get_args(ClientName)[0])


@dataclass(frozen=True)
class Snippet:
    place: str
    text: str


@dataclass(frozen=True)
class Client:
    key: str
    name: str
    explanation: str
    snippets: list[Snippet]


def public_address(request: HttpRequest) -> str:
    """The operator's public address; else the one that the browser used, since it leads here for sure."""
    return str(settings.PUBLIC_URL) or f"{request.scheme}://{request.get_host()}"


def clients_for(request: HttpRequest, token: str = "") -> list[Client]:
    """Every client's set-up, with a token in the place of the placeholder where there is one."""
    return [_client(request, name, token) for name in NAMES]


@dataclass(frozen=True)
class Prompt:
    """The agent prompt in one language, under the language's own name."""

    language: str
    text: str


def prompts_for(request: HttpRequest) -> list[Prompt]:
    """What an agent should be told of this server, in both languages, the reader's first."""
    own = get_language() or "en"
    codes = sorted(("en", "zh-hans"), key=lambda code: code != own)
    return [_prompt(request, code) for code in codes]


def _prompt(request: HttpRequest, code: str) -> Prompt:
    told: AgentPromptOut = agent_prompt_get.perform(caller_for(request), {"language": code})
    return Prompt(get_language_info(code)["name_local"], told.text)


def hook_steps(request: HttpRequest) -> list[Snippet]:
    """What somebody pastes who wants memories recalled in Claude Code, step by step. The token goes into a file."""
    here = public_address(request)
    keep = (
        "mkdir -p ~/.memrelay && touch ~/.memrelay/token && chmod 600 ~/.memrelay/token\n"
        'read -rs TOKEN && printf %s "$TOKEN" > ~/.memrelay/token && unset TOKEN'
    )
    fetch = f"curl -fsS {here}{reverse('client-hook')} -o ~/.memrelay/memrelay-hook"
    run = "python3 ~/.memrelay/memrelay-hook"
    install = f"{run} install --url {here} --token-file ~/.memrelay/token"
    return [
        Snippet(_("1. Put a token where only you can read it: paste it and press Enter; nothing is shown"), keep),
        Snippet(_("2. Fetch the hook and install it"), f"{fetch}\n{install}"),
        Snippet(_("Look whether it works"), f"{run} status"),
        Snippet(_("Take it out again"), f"{run} uninstall"),
    ]


def claude_command(request: HttpRequest) -> str:
    return _client(request, "claude-code", "").snippets[0].text


def _client(request: HttpRequest, name: str, token: str) -> Client:
    told: ClientConfigOut = client_config_get.perform(caller_for(request), {"client": name})
    own, here = told.mcp_url.removesuffix("/mcp"), public_address(request)
    texts = [
        Snippet(one.place, one.text.replace(own, here).replace(told.token_placeholder, token or told.token_placeholder))
        for one in told.snippets
    ]
    return Client(told.client, told.name, told.explanation, texts)
