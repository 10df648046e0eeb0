"""The server as a whole over REST."""

from ninja import Router

from apps.instance import selectors
from apps.operations.rest import route

router = Router(tags=["instance"])

route(router, "GET", "/capabilities", selectors.capabilities_get)
route(router, "GET", "/dashboard", selectors.dashboard_get)
route(router, "GET", "/health", selectors.health_get)
