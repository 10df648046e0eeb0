"""Recall: what a user's message brings to mind is laid beside it, once a session, and never holds the message up."""
