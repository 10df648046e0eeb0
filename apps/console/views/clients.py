"""Connecting agents: how each client is set up, and the bridge for those that only start programs."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.console.clients import clients_for, prompts_for, public_address
from apps.console.views.tokens import has_active_token
from apps.console.visiting import caller_for, for_people

BRIDGE = "memrelay_stdio.py"


@require_safe
@for_people
def clients(request: HttpRequest) -> HttpResponse:
    page = {
        "clients": clients_for(request),
        "prompts": prompts_for(request),
        "has_token": has_active_token(caller_for(request)),
        "address": public_address(request),
    }
    return render(request, "console/clients.html", page)


@require_safe
def bridge(request: HttpRequest) -> HttpResponse:
    """The stdio bridge as a file. It holds no secret, and machines fetch it that have no session."""
    source = (settings.PROJECT_FOLDER / "client" / BRIDGE).read_bytes()
    disposition = {"Content-Disposition": f'attachment; filename="{BRIDGE}"'}
    return HttpResponse(source, content_type="text/x-python; charset=utf-8", headers=disposition)
