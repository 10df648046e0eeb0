"""Workspaces: what agents work on. Rows and fields stay ``Project`` and ``project_id``; people read "workspace"."""
