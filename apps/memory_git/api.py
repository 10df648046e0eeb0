"""Memory Git over REST: one line a path."""

from ninja import Router

from apps.memory_git import selectors, services
from apps.operations.rest import route

router = Router(tags=["git"])

route(router, "GET", "/git/settings", selectors.git_settings_get)
route(router, "PATCH", "/git/settings", services.git_settings_update)
route(router, "GET", "/git/status", selectors.memory_repository_status)
route(router, "GET", "/git/repositories", selectors.memory_repository_list)
route(router, "GET", "/git/jobs/{job_id}", selectors.git_job_get)
route(router, "GET", "/git/commits", selectors.memory_repository_history)
route(router, "GET", "/git/commits/{commit}", selectors.memory_repository_commit_get)
route(router, "GET", "/git/repositories/{repository_id}/diff", selectors.memory_repository_diff)
route(router, "GET", "/git/versions/{commit}/{path:resource_id}", selectors.memory_version_get)
route(router, "POST", "/git/versions/{commit}/{path:resource_id}/restore", services.memory_version_restore)
route(router, "POST", "/git/repositories", services.memory_repository_create)
route(router, "GET", "/git/repositories/{repository_id}/restore-preview", services.memory_snapshot_preview)
route(router, "POST", "/git/repositories/{repository_id}/restore", services.memory_snapshot_restore, status=202)
route(
    router,
    "POST",
    "/git/repositories/{repository_id}/maintain",
    services.memory_repository_maintain,
    status=202,
)
route(
    router,
    "POST",
    "/git/repositories/{repository_id}/purge",
    services.memory_repository_archive_purge,
    status=202,
)
route(router, "GET", "/git/migration", services.memory_repository_migrate_plan)
route(router, "POST", "/git/migration", services.memory_repository_migrate, status=202)

route(router, "GET", "/git/connections", services.git_connection_get)
route(router, "POST", "/git/connections", services.git_connection_save)
route(router, "PATCH", "/git/connections", services.git_connection_save, named="git_connection_update")
route(router, "DELETE", "/git/connections", services.git_connection_delete)
route(router, "POST", "/git/connections/test", services.git_connection_test)
route(router, "POST", "/git/repositories/{repository_id}/sync", services.memory_repository_sync)
route(router, "POST", "/git/repositories/{repository_id}/remote", services.memory_repository_bind)
route(router, "DELETE", "/git/repositories/{repository_id}/remote", services.memory_repository_unbind)
route(router, "POST", "/git/repositories/{repository_id}/remote/inspect", services.memory_remote_inspect, status=202)
route(router, "POST", "/git/repositories/{repository_id}/remote/import", services.memory_remote_import, status=202)
