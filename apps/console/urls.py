from django.urls import path

from apps.console.views import checkpoints, clients, dashboard, entrance, history, memories, search, tokens, workspaces

# Lists stand under the plural and single things under the singular, so that a memory may be called "trash" or "new".
urlpatterns = [
    path("", dashboard.dashboard, name="dashboard"),
    path("search", search.search, name="search"),
    path("sign-in", entrance.signing_in, name="sign-in"),
    path("sign-out", entrance.signing_out, name="sign-out"),
    path("password", entrance.changing_password, name="password-change"),
    path("appearance", entrance.appearance, name="appearance"),
    path("profile", entrance.profile, name="profile-choose"),
    path("memories", memories.memories, name="memory-list"),
    path("memories/new", memories.new, name="memory-new"),
    path("memories/trash", memories.trash, name="memory-trash"),
    path("memories/preview", memories.preview, name="memory-preview"),
    path("memory/<str:memory_id>/edit", memories.edit, name="memory-edit"),
    path("memory/<str:memory_id>/archive", memories.archive, name="memory-archive"),
    path("memory/<str:memory_id>/unarchive", memories.unarchive, name="memory-unarchive"),
    path("memory/<str:memory_id>/delete", memories.delete, name="memory-delete"),
    path("memory/<str:memory_id>/restore", memories.restore, name="memory-restore"),
    path("memory/<str:memory_id>/history", history.history, name="memory-history"),
    path("memory/<str:memory_id>/history/<int:number>", history.revision, name="memory-revision"),
    path("memory/<str:memory_id>/difference", history.differences, name="memory-difference"),
    path("memory/<str:memory_id>/revert", history.revert, name="memory-revert"),
    # Last: a link may name a memory by its path.
    path("memory/<path:memory_id>", memories.memory, name="memory-detail"),
    path("checkpoints", checkpoints.checkpoints, name="checkpoint-list"),
    path("checkpoint/<str:checkpoint_id>", checkpoints.checkpoint, name="checkpoint-detail"),
    path("workspaces", workspaces.workspaces, name="workspace-list"),
    path("workspaces/new", workspaces.new, name="workspace-new"),
    path("workspace/<str:project_id>", workspaces.workspace, name="workspace-detail"),
    path("workspace/<str:project_id>/edit", workspaces.edit, name="workspace-edit"),
    path("clients", clients.clients, name="client-list"),
    path("client/memrelay-stdio", clients.bridge, name="client-bridge"),
    path("tokens", tokens.tokens, name="token-list"),
    path("tokens/new", tokens.new, name="token-new"),
    path("token/<str:token_id>/revoke", tokens.revoke, name="token-revoke"),
]
