from django.db import connection


def head() -> int:
    """The number of the latest change; 0 before the first."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(sequence) FROM changes_change")
        return int(cursor.fetchone()[0] or 0)
