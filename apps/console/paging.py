"""Lists by cursor: links to the next page and back to the first."""

from django.http import HttpRequest


def paging(request: HttpRequest, next_cursor: str | None) -> dict[str, str]:
    """What ``_pagination.html`` needs; every filter stays in the links."""
    asked = request.GET.copy()
    cursor = asked.pop("cursor", [""])[-1]
    for name in [name for name, value in asked.items() if not value]:
        del asked[name]
    first = asked.urlencode()
    following = asked.copy()
    following["cursor"] = next_cursor or ""
    return {
        "cursor": cursor,
        "next_cursor": next_cursor or "",
        "first_url": f"{request.path}?{first}" if first else request.path,
        "next_url": f"{request.path}?{following.urlencode()}",
    }
