from ninja import Router

from apps.operations.rest import route
from apps.workspaces import selectors, services

router = Router(tags=["workspaces"])

route(router, "GET", "/projects", selectors.project_list)
route(router, "POST", "/projects", services.project_create, status=201)
route(router, "POST", "/projects/resolve", selectors.project_resolve)
route(router, "POST", "/projects/resolve-or-create", services.project_resolve_or_create)
route(router, "GET", "/projects/{project_id}", selectors.project_get)
route(router, "PATCH", "/projects/{project_id}", services.project_update)
route(router, "POST", "/projects/{project_id}/archive", services.project_archive)
route(router, "POST", "/projects/{project_id}/unarchive", services.project_unarchive)
