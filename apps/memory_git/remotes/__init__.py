"""Git servers as the mirror of memory: their addresses, how they are spoken to, and what can go wrong.

Nothing here knows a row. Everything that reaches out is in ``client``; ``addresses``, ``failures`` and ``packs`` are pure.
"""
