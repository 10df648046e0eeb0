from ninja import Router

from apps.llm import selectors, services
from apps.operations.rest import route

router = Router(tags=["model"])

route(router, "PUT", "/curation/model-connection", services.curation_model_connection_save)
route(router, "DELETE", "/curation/model-connection", services.curation_model_connection_delete)
route(router, "GET", "/curation/model-connection/status", selectors.curation_model_connection_status)
route(router, "GET", "/curation/model-connection/models", selectors.curation_model_list)
route(router, "POST", "/curation/model-connection/test", services.curation_model_connection_test)
route(router, "GET", "/curation/model-usage", selectors.curation_model_usage)
route(router, "GET", "/curation/model-calls", selectors.curation_model_call_list)
