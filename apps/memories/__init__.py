"""Memories, checkpoints, timeline, links, and the ledger: the only writer of Markdown."""
