"""Memory Git over REST: one line a path."""

from ninja import Router

from apps.memory_git import (
    connection_deeds,
    migration_deeds,
    mirror_deeds,
    remote_deeds,
    restore_deeds,
    selectors,
    services,
)
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
route(router, "POST", "/git/versions/{commit}/{path:resource_id}/restore", restore_deeds.memory_version_restore)
route(router, "POST", "/git/repositories", restore_deeds.memory_repository_create)
route(router, "GET", "/git/repositories/{repository_id}/restore-preview", restore_deeds.memory_snapshot_preview)
route(router, "POST", "/git/repositories/{repository_id}/restore", restore_deeds.memory_snapshot_restore, status=202)
route(
    router,
    "POST",
    "/git/repositories/{repository_id}/maintain",
    restore_deeds.memory_repository_maintain,
    status=202,
)
route(
    router,
    "POST",
    "/git/repositories/{repository_id}/purge",
    restore_deeds.memory_repository_archive_purge,
    status=202,
)
route(router, "GET", "/git/migration", migration_deeds.memory_repository_migrate_plan)
route(router, "POST", "/git/migration", migration_deeds.memory_repository_migrate, status=202)

route(router, "GET", "/git/connections", connection_deeds.git_connection_get)
route(router, "POST", "/git/connections", connection_deeds.git_connection_save)
route(router, "PATCH", "/git/connections", connection_deeds.git_connection_save, named="git_connection_update")
route(router, "DELETE", "/git/connections", connection_deeds.git_connection_delete)
route(router, "POST", "/git/connections/test", connection_deeds.git_connection_test)
route(router, "POST", "/git/repositories/{repository_id}/sync", mirror_deeds.memory_repository_sync)
route(router, "POST", "/git/repositories/{repository_id}/remote", mirror_deeds.memory_repository_bind)
route(router, "DELETE", "/git/repositories/{repository_id}/remote", mirror_deeds.memory_repository_unbind)
route(
    router, "POST", "/git/repositories/{repository_id}/remote/inspect", remote_deeds.memory_remote_inspect, status=202
)
route(router, "POST", "/git/repositories/{repository_id}/remote/import", remote_deeds.memory_remote_import, status=202)
