"""What curation may read: current memories and checkpoints of a scope, without secrets, hidden text or surprises.

Everything here is untrusted text (SRC-052). It is cleaned, bounded in size, and handed over inside a boundary that the
text cannot close. What was left out is always told.
"""
