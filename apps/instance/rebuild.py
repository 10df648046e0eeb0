"""The database again from the Markdown: for a data folder whose database is lost, or is not to be trusted any more.

A new database is made beside the old place and put there only when it is whole, so that a rebuild that was killed is simply
run again. Markdown files are read, never written; ``.memrelay/scope.json`` alone notes the newly reserved numbers (L-23).
"""

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from apps.base import clock
from apps.base.text import slug_for, with_suffix
from apps.base.transactions import outside_transactions, short_transaction
from apps.curation.rebuilding import recall_documents
from apps.instance.errors import DatabaseThere, ServerRuns
from apps.instance.serving.folders import prepare_folders
from apps.leases.locks import first_start_lock, process_lock, role_is_served
from apps.memories.ledger import close_operation, open_operation
from apps.memories.models import Memory
from apps.memories.scope_files import PROJECT_FIELDS
from apps.memories.transfer.recall import FoundScope, found_scopes, recall
from apps.operations.caller import SHARED_PROFILE, Caller
from apps.profiles.models import Profile
from apps.search.index import tidy
from apps.workspaces.models import Project, WorkspaceType

ROLES = ("web", "worker")
NEW, OLD = ".rebuilding", ".before-rebuild-"
COMPANIONS = ("", "-wal", "-shm", "-journal")  # SQLite's files of one database.


@dataclass
class Report:
    """What came back, and what did not."""

    workspaces: int = 0
    resources: Counter[str] = field(default_factory=Counter)  # Documents by what they are.
    archived: int = 0
    problems: list[tuple[str, str, str]] = field(default_factory=list)  # Code, scope, path.
    moved_aside: str = ""


Told = Callable[[int, int], None]


@outside_transactions
def rebuild(*, force: bool = False, told: Told = lambda done, total: None) -> Report:
    """Make the database anew from the folder. Raises ``ServerRuns``, and ``DatabaseThere`` unless forced."""
    refuse_to_replace(force=force)
    prepare_folders()
    database = Path(settings.DATABASE_FILE)
    with ExitStack() as held:
        for role in ROLES:
            held.enter_context(process_lock(role))
        held.enter_context(first_start_lock())
        if _has_content(database) and not force:
            raise DatabaseThere()
        new = database.with_name(database.name + NEW)
        _remove(new)
        with _connected_to(new):
            call_command("migrate", interactive=False, verbosity=0)
            report = recreate(told)
            _close_whole()
        report.moved_aside = _put_in_place(new, database)
    return report


def refuse_to_replace(*, force: bool) -> None:
    """Raise what ``rebuild`` would raise at its beginning: for those who do something before it."""
    if any(role_is_served(role) for role in ROLES):
        raise ServerRuns()
    if _has_content(Path(settings.DATABASE_FILE)) and not force:
        raise DatabaseThere()


def recreate(told: Told = lambda done, total: None) -> Report:
    """Fill an empty database of the current tables from the folder."""
    report, scopes = Report(), found_scopes()
    total, done = sum(len(scope.documents) for scope in scopes), 0
    caller = Caller.for_system("rebuild")
    with short_transaction():
        for scope in scopes:
            make_owner(scope, report)
        _make_profiles(scopes)
        _lead_on(scopes)
    operation = open_operation(caller, "rebuild", "Rebuilt from the Markdown files.")

    def step(count: int) -> None:
        nonlocal done
        done += count
        told(done, total)

    for scope in scopes:
        report.problems += [(code, scope.key, path) for code, path in scope.problems]
        report.problems += [(code, scope.key, path) for code, path in recall(caller, scope, operation, step)]
    close_operation(operation)
    recall_documents()
    while tidy():
        pass
    report.resources.update(Memory.objects.values_list("resource", flat=True))
    report.archived = Memory.objects.filter(status="archived").count()
    return report


# Whom a scope belongs to.


def make_owner(scope: FoundScope, report: Report) -> None:
    kind, _, name = scope.key.partition("/")
    if (scope.content or {}).get("ended") and not scope.documents:
        return  # A memory space that was deleted.
    if kind == "project":
        _make_workspace(name, _told_of(scope, "workspace"))
        report.workspaces += 1
    elif kind == "global":
        profile = _told_of(scope, "profile")
        Profile.objects.get_or_create(
            pk=name,
            defaults={"name": _text(profile, "name", 120) or name, "description": _text(profile, "description", 1000)},
        )


def _make_profiles(scopes: list[FoundScope]) -> None:
    """Memory spaces that only their documents in workspaces speak of."""
    named = {lying.profile for scope in scopes for lying in scope.documents}
    for name in named - {SHARED_PROFILE}:
        Profile.objects.get_or_create(pk=name, defaults={"name": name})


def _make_workspace(project_id: str, told: dict[str, Any]) -> None:
    fields = {name: told[name] for name in PROJECT_FIELDS if name in told and name != "id"}
    name = _text(told, "name", 200) or project_id
    kind = fields.get("workspace_type")
    now = clock.now()
    Project.objects.create(
        id=project_id,
        name=name,
        slug=project_id if told.get("slug") == project_id else _free_slug(_text(told, "slug", 80) or name),
        description=_text(told, "description", 2000),
        external_key=_free_key("external_key", _text(told, "external_key", 200)),
        git_remote=_text(told, "git_remote", 1000),
        git_remote_key=_free_key("git_remote_key", _text(told, "git_remote_key", 1000)),
        git_branch=_text(told, "git_branch", 250),
        workspace_type=kind if kind in WorkspaceType.values else WorkspaceType.GENERAL,
        template=fields["template"] if isinstance(fields.get("template"), list) else None,
        archived_at=_moment(told, "archived_at"),
        deleted_at=_moment(told, "deleted_at"),
        created_at=_moment(told, "created_at") or now,
        updated_at=_moment(told, "updated_at") or now,
    )


def _lead_on(scopes: list[FoundScope]) -> None:
    """Let workspaces that were merged lead to the one they went into, once all are there."""
    for scope in scopes:
        into = _text(_told_of(scope, "workspace"), "merged_into", 40)
        if into and Project.objects.filter(pk=into).exists():
            gone = Project.objects.filter(pk=scope.key.removeprefix("project/"), deleted_at__isnull=False)
            gone.exclude(pk=into).update(merged_into=into)


def _told_of(scope: FoundScope, what: str) -> dict[str, Any]:
    told = (scope.content or {}).get(what)
    return told if isinstance(told, dict) else {}


def _text(told: dict[str, Any], name: str, limit: int) -> str:
    value = told.get(name)
    return value[:limit] if isinstance(value, str) else ""


def _moment(told: dict[str, Any], name: str) -> Any:
    try:
        return clock.from_stamp(_text(told, name, 40)) if told.get(name) else None
    except (ValueError, OverflowError):
        return None


def _free_slug(wanted: str) -> str:
    slug, number = slug_for(wanted), 1
    while Project.objects.filter(slug=with_suffix(slug, number)).exists():
        number += 1
    return with_suffix(slug, number)


def _free_key(column: str, value: str) -> str | None:
    """What only one workspace may have, where a copied folder would give it to two."""
    return None if not value or Project.objects.filter(**{column: value}).exists() else value


# The database file.


def _has_content(database: Path) -> bool:
    return database.exists() and database.stat().st_size > 0


def _remove(database: Path) -> None:
    for companion in COMPANIONS:
        database.with_name(database.name + companion).unlink(missing_ok=True)


@contextmanager
def _connected_to(database: Path) -> Iterator[None]:
    """Let Django's one connection lead to another file for a while."""
    connection.close()
    usual, connection.settings_dict["NAME"] = connection.settings_dict["NAME"], str(database)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = usual


def _close_whole() -> None:
    """Everything in the one file, nothing in its log, so that it can be renamed."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _put_in_place(new: Path, database: Path) -> str:
    """Answers the name under which the old database lies now, if there was one."""
    aside = ""
    if _has_content(database):
        with suppress(sqlite3.DatabaseError):  # A damaged one is moved as it lies.
            _empty_its_log(database)
        aside = f"{database.name}{OLD}{clock.now():%Y%m%d-%H%M%S}"
        for companion in COMPANIONS[1:] + COMPANIONS[:1]:
            file = database.with_name(database.name + companion)
            if file.exists():
                file.rename(database.with_name(aside + companion))
    else:
        _remove(database)
    for companion in COMPANIONS[1:]:
        new.with_name(new.name + companion).unlink(missing_ok=True)
    os.replace(new, database)
    descriptor = os.open(database.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return aside


def _empty_its_log(database: Path) -> None:
    old = sqlite3.connect(database)
    try:
        old.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        old.close()
