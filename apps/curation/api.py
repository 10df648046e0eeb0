"""Curation over REST: one line a path."""

from ninja import Router

from apps.curation import selectors, services
from apps.operations.rest import route

router = Router(tags=["curation"])

route(router, "POST", "/curation/jobs", services.curation_run, status=202)
route(router, "GET", "/curation/status", selectors.curation_status)
route(router, "GET", "/curation/jobs/{job_id}", selectors.curation_job_get)
route(router, "POST", "/curation/jobs/{job_id}/cancel", services.curation_cancel)
route(router, "POST", "/curation/jobs/{job_id}/retry", services.curation_retry)
route(router, "GET", "/curation/history", selectors.curation_history)
route(router, "GET", "/curation/documents", selectors.curated_document_list)
route(router, "GET", "/curation/documents/{path:document_id}", selectors.curated_document_get)
route(router, "GET", "/curation/settings", selectors.curation_settings_get)
route(router, "PATCH", "/curation/settings", services.curation_settings_update)
