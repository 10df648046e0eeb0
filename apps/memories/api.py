"""Memories over REST: one line a path."""

from ninja import Router

from apps.memories import selectors, services
from apps.operations.rest import route

router = Router(tags=["memories"])

route(router, "POST", "/memories", services.memory_save, status=201)
route(router, "POST", "/memories/many", services.memory_save_many, status=201)
route(router, "POST", "/memories/import", services.memory_import, status=202)
route(router, "POST", "/memories/export", services.memory_export, status=202)
route(router, "GET", "/memories", selectors.memory_list)
route(router, "GET", "/memories/search", selectors.memory_search)
route(router, "GET", "/memories/index", selectors.memory_index_get)
route(router, "GET", "/memories/{path:memory_id}/history", selectors.memory_history)
route(router, "GET", "/memories/{path:memory_id}/revisions/{int:revision}", selectors.memory_revision_get)
route(router, "GET", "/memories/{path:memory_id}/diff", selectors.memory_diff)
route(router, "GET", "/memories/{path:memory_id}/links", selectors.memory_links)
route(router, "GET", "/memories/{path:memory_id}/alike", selectors.memory_alike)
route(router, "PATCH", "/memories/{path:memory_id}", services.memory_update)
route(router, "POST", "/memories/{path:memory_id}/append", services.memory_append)
route(router, "POST", "/memories/{path:memory_id}/archive", services.memory_archive)
route(router, "POST", "/memories/{path:memory_id}/unarchive", services.memory_unarchive)
route(router, "POST", "/memories/{path:memory_id}/restore", services.memory_restore)
route(router, "POST", "/memories/{path:memory_id}/revert", services.memory_revert)
route(router, "POST", "/memories/{path:memory_id}/move", services.memory_move)
route(router, "DELETE", "/memories/{path:memory_id}", services.memory_delete)
route(router, "GET", "/memories/{path:memory_id}", selectors.memory_get)

route(router, "POST", "/checkpoints", services.checkpoint_save, status=201)
route(router, "GET", "/checkpoints", selectors.checkpoint_list)
route(router, "GET", "/checkpoints/latest", selectors.checkpoint_latest)
route(router, "GET", "/checkpoints/{path:checkpoint_id}", selectors.checkpoint_get)
route(router, "GET", "/timeline", selectors.timeline_get)
route(router, "GET", "/scopes", selectors.scope_list)
route(router, "GET", "/search/state", selectors.search_state_get)
route(router, "POST", "/search/embeddings/rebuild", services.embedding_rebuild)
route(router, "POST", "/search/embeddings/stop", services.embedding_stop)
route(router, "POST", "/search/embeddings/resume", services.embedding_resume)
route(router, "POST", "/scopes/alarm", services.scope_alarm_decide)

route(router, "GET", "/jobs", selectors.job_list)
route(router, "GET", "/jobs/{job_id}", selectors.job_get)
route(router, "POST", "/jobs/{job_id}/stop", services.job_stop)
route(router, "POST", "/jobs/{job_id}/resume", services.job_resume)
