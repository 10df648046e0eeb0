"""The numbered change log: what changed, in which order, from where; written in the transaction that changed it."""
