"""Rows written and read past the ORM are the rows the ORM would have."""

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.base import clock
from apps.base.rows import fetched, insert_rows, new_row, rows_where
from apps.memories.models import Alias, LogicalOperation, Memory, MemoryTag, Scope, ScopeCommit
from tests.world import World

pytestmark = pytest.mark.django_db


def memory(scope: Scope, number: int, **fields: Any) -> Memory:
    now = clock.now()
    return Memory(
        stable_id=f"mem_{number}",
        resource="memory",
        scope=scope,
        slug=f"s{number}",
        slug_key=f"s{number}",
        path=f"p{number}.md",
        path_key=f"p{number}.md",
        title="Tee 茶",
        title_key="tee 茶",
        tags=["茶", "a"],
        raw_hash="x",
        content_hash="y",
        created_at=now,
        updated_at=now,
        **fields,
    )


def test_inserted_rows_are_what_the_orm_loads() -> None:
    scope = Scope.objects.create(key="library")
    rows = [memory(scope, number, withheld=number == 2) for number in range(3)]
    insert_rows(rows)
    assert [row.pk for row in rows] == list(Memory.objects.order_by("pk").values_list("pk", flat=True))
    for row in rows:
        loaded = Memory.objects.get(pk=row.pk)
        for field in Memory._meta.concrete_fields:
            assert getattr(loaded, field.attname) == getattr(row, field.attname), field.name


def test_rows_read_are_what_the_orm_loads() -> None:
    scope = Scope.objects.create(key="library")
    insert_rows([memory(scope, 1), memory(scope, 2)])
    read = rows_where(Memory, "stable_id IN (%s, %s) ORDER BY id", ["mem_1", "mem_2"])
    assert read == list(Memory.objects.order_by("pk"))
    for row, loaded in zip(read, Memory.objects.order_by("pk"), strict=True):
        assert all(
            getattr(row, field.attname) == getattr(loaded, field.attname) for field in Memory._meta.concrete_fields
        )
        assert not row._state.adding


def test_keys_of_rows_inserted_just_before_are_followed_and_kept_at_hand(django_assert_num_queries: Any) -> None:
    scope = Scope.objects.create(key="library")
    operation = LogicalOperation(id="op_1", name="x", actor="a", origin="agent", profile="shared")
    commit = ScopeCommit(scope=scope, version=1, operation=operation, changes=1, at=clock.now())
    first = memory(scope, 1)
    tag = MemoryTag(memory=first, tag_key="a")
    insert_rows([operation])
    insert_rows([commit])
    insert_rows([first])
    insert_rows([tag])
    assert (commit.operation_id, tag.memory_id) == ("op_1", first.pk)
    with django_assert_num_queries(0):
        assert tag.memory is first


def test_plain_statements_see_what_a_cursor_sees_and_are_heard_by_who_listens(world: World) -> None:
    world.workspace  # noqa: B018 - made here
    statement = "SELECT id, slug FROM workspaces_project WHERE id = %s"
    plain = fetched(statement, [world.workspace.pk])
    with CaptureQueriesContext(connection) as heard:
        assert fetched(statement, [world.workspace.pk]) == plain == [(world.workspace.pk, world.workspace.slug)]
    assert len(heard) == 1
    assert fetched(statement, ["nobody"]) == []


def test_a_broken_rule_of_the_database_is_djangos_error(world: World) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        fetched("INSERT INTO memories_scope (key, version) VALUES (%s, %s)", ["nowhere", 0])


def test_a_row_made_in_short_is_the_row_made_at_length() -> None:
    scope = Scope(key="global/shared")
    values = {"scope": scope, "slug_key": "x"}
    assert new_row(Alias, **values).__dict__.keys() == Alias(**values).__dict__.keys()
    short, long = new_row(Memory, scope=scope, title="Tea"), Memory(scope=scope, title="Tea")
    assert {k: v for k, v in short.__dict__.items() if k != "_state"} == {
        k: v for k, v in long.__dict__.items() if k != "_state"
    }
    assert short.scope is scope and short.tags is not new_row(Memory).tags
    with pytest.raises(TypeError):
        new_row(Memory, nonsense=1)
