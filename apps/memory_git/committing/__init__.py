"""From closed operations to commits: gathered from the ledger, made in passes, entered in rows; made up for by a baseline."""
