"""What every page of the console gets."""

from typing import Any

from django.http import HttpRequest


def console(request: HttpRequest) -> dict[str, Any]:
    return {"theme": request.COOKIES.get("memrelay_theme", "")}
