from apps.base.rows import fetched


def head() -> int:
    """The number of the latest change; 0 before the first."""
    [(latest,)] = fetched("SELECT max(sequence) FROM changes_change", [])
    return int(latest or 0)
