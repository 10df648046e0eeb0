"""Probes for whoever runs the server: is the process up, is the service ready."""

from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from apps.instance.health import is_ready, readiness


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers; nothing else is looked at."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    states = readiness()
    ready = is_ready(states)
    return JsonResponse({"status": "ready" if ready else "not ready", "parts": states}, status=200 if ready else 503)
