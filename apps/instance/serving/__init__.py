"""Serving: the first start, and the processes that ``manage.py serve`` starts, watches, replaces and ends."""
