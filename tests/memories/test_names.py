"""The questions that every save asks must not cost more the more there is."""

import pytest
from django.db import connection

from apps.memories.ledger import names

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("statement", "values", "index"),
    [
        (names._TITLE, ["global/shared", "title", 0], "memory_title (scope_id=? AND title_key=?)"),
        (names._PATH, ["global/shared", "path", 0], "(scope_id=? AND path_key=?)"),
        (names._SLUG, ["global/shared", "slug", "global/shared", "slug", 0], "(scope_id=? AND slug_key=?)"),
    ],
)
def test_a_name_is_looked_up_by_itself_not_among_all_of_its_scope(statement, values, index):
    with connection.cursor() as cursor:
        plan = [row[3] for row in cursor.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()]
    assert any(index in step for step in plan), plan
    assert not any("SCAN memories" in step for step in plan), plan
