"""The server as a whole over REST."""

from ninja import Router

from apps.instance import bootstrap, selectors, services, workspaces_deeds
from apps.operations.rest import route

router = Router(tags=["instance"])

route(router, "GET", "/capabilities", selectors.capabilities_get)
route(router, "GET", "/dashboard", selectors.dashboard_get)
route(router, "GET", "/health", selectors.health_get)
route(router, "POST", "/bells/release", services.bell_release)
route(router, "GET", "/projects/{project_id}/delete-preview", workspaces_deeds.workspace_delete_preview)
route(router, "DELETE", "/projects/{project_id}", workspaces_deeds.project_delete)
route(router, "GET", "/projects/{project_id}/merge-preview", workspaces_deeds.workspace_merge_preview)
route(router, "POST", "/projects/{project_id}/merge", workspaces_deeds.project_merge)
route(
    router,
    "GET",
    "/curation/profiles/{profile_id}/delete-preview",
    workspaces_deeds.usage_profile_delete_preview,
)
route(router, "DELETE", "/curation/profiles/{profile_id}", workspaces_deeds.usage_profile_delete)
route(router, "POST", "/git/repositories/bootstrap", bootstrap.memory_remote_bootstrap, status=202)
