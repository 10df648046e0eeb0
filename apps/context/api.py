"""Context, prompt and client set-up over REST."""

from ninja import Router

from apps.context import selectors
from apps.operations.rest import route

router = Router(tags=["context"])

route(router, "GET", "/context", selectors.context_get)
route(router, "GET", "/agent-prompt", selectors.agent_prompt_get)
route(router, "GET", "/clients/{client}", selectors.client_config_get)
route(router, "GET", "/connector/search", selectors.search)
route(router, "GET", "/connector/fetch", selectors.fetch)
