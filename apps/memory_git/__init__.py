"""Memory Git: every closed logical operation becomes one commit; history, differences and restoring; a mirror elsewhere."""
