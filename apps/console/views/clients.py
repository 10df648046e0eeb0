"""Connecting agents: how each client is set up, the bridge for those that only start programs, the hook for recall."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.console.clients import clients_for, hook_steps, prompts_for, public_address
from apps.console.views.tokens import has_active_token
from apps.console.visiting import caller_for, for_people

BRIDGE, HOOK = "memrelay_stdio.py", "memrelay_hook.py"


@require_safe
@for_people
def clients(request: HttpRequest) -> HttpResponse:
    page = {
        "clients": clients_for(request),
        "prompts": prompts_for(request),
        "hook_steps": hook_steps(request),
        "has_token": has_active_token(caller_for(request)),
        "address": public_address(request),
    }
    return render(request, "console/clients.html", page)


@require_safe
def bridge(request: HttpRequest) -> HttpResponse:
    """The stdio bridge as a file. It holds no secret, and machines fetch it that have no session."""
    return _script(BRIDGE, BRIDGE)


@require_safe
def hook(request: HttpRequest) -> HttpResponse:
    """The hook script for Claude Code, under the same terms."""
    return _script(HOOK, "memrelay-hook")


def _script(file: str, name: str) -> HttpResponse:
    source = (settings.PROJECT_FOLDER / "client" / file).read_bytes()
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(source, content_type="text/x-python; charset=utf-8", headers=disposition)
