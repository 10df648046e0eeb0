"""Who may work on what until when: owners, leases, slots of workers, and file locks.

Three things keep two processes apart, and they are taken in this order, never the other way round:

1. scope: the lock or lease of the scope whose Markdown is written (several: in the order of their keys),
2. repository: the lock of the Git repository that is committed to,
3. transaction: SQLite's only writer, held for milliseconds.

Whoever holds a later one never waits for an earlier one, so nobody waits in a circle. A lease is a row that
outlives transactions and says who works on something; a file lock is held for the file work alone.
"""
