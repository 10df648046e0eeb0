"""Recall over REST."""

from ninja import Router

from apps.operations.rest import route
from apps.recall import services

router = Router(tags=["recall"])

route(router, "POST", "/recall", services.memory_recall)
# Clients choose the names of their sessions, and a name may hold a slash.
route(router, "POST", "/recall/sessions/{path:session_id}/release", services.recall_release)
