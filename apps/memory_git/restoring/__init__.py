"""Older versions come back: one document, or everything of a repository, told before."""
