"""Meaning: documents in pieces, a vector for each, and the nearest to a question.

``pieces`` cuts, ``working`` embeds what waits, ``matrix`` ranks (both inside the embedder process), ``asking`` is how everybody
else asks. The rows are the truth; what lies in memory is a cache of them.
"""
