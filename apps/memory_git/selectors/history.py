"""Commits as they are listed: of everything, of a scope or of one document, each by an index of its own."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from apps.base.days import bound
from apps.base.paging import cursor_of, position_of
from apps.memories.doors import scope_for, visible_scopes
from apps.memories.schemas import ProjectRef, ScopeRef
from apps.memory_git.models import (
    CommitScope,
    DocumentVersion,
    GitCommit,
)
from apps.memory_git.schemas import (
    CommitItem,
    CommitListOut,
    KindFilter,
    OperatorFilter,
    OriginFilter,
    RepositoryOrAll,
    ResourceOrAll,
    Since,
    Until,
)
from apps.memory_git.selectors.commits import commit_facts, scopes_of, visible
from apps.memory_git.selectors.repositories import repository_for
from apps.memory_git.selectors.versions import stable_id_of
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation
from apps.operations.words import Cursor, PageLimit


@operation(needs=Right.READ, answers=CommitListOut)
def memory_repository_history(
    caller: Caller,
    *,
    repository_id: RepositoryOrAll = "",
    scope: ScopeRef = "",
    project_id: ProjectRef = "",
    resource_id: ResourceOrAll = "",
    operator: OperatorFilter = "",
    origin: OriginFilter = "",
    kind: KindFilter = "",
    since: Since = "",
    until: Until = "",
    limit: PageLimit = 50,
    cursor: Cursor = "",
) -> CommitListOut:
    """List commits, the newest first: of everything, a workspace, one document, one person, one kind of operation, some time."""
    asked = _source(caller, repository_id, scope, project_id, resource_id)
    asked.narrow(actor=operator, origin=origin, name=kind, at__gte=bound(since, caller.zone, "since"))
    asked.narrow(at__lte=bound(until, caller.zone, "until", end=True))
    if cursor:
        asked.after(*position_of(cursor, str, int))
    found = asked.page(limit + 1)
    last = found[limit - 1][0] if len(found) > limit else None
    page = found[:limit]
    scopes = scopes_of(caller, [row for row, _version in page])
    return CommitListOut(
        commits=[CommitItem(**commit_facts(row, scopes[row.pk], version)) for row, version in page],
        next_cursor=cursor_of(last.at.isoformat(), last.pk) if last else "",
    )


@dataclass
class Source:
    """Where commits are looked up: by themselves, by a scope or by a document; each has an index in the order asked for."""

    rows: QuerySet[Any]
    prefix: str

    def narrow(self, **wanted: object) -> None:
        asked = {name: value for name, value in wanted.items() if value}
        times = {name: value for name, value in asked.items() if name.startswith("at__")}
        others = {f"{self.prefix}{name}": value for name, value in asked.items() if name not in times}
        self.rows = self.rows.filter(**times, **others)

    def after(self, at: str, pk: int) -> None:
        moment = datetime.fromisoformat(at)
        self.rows = self.rows.filter(Q(at__lt=moment) | Q(at=moment, **{f"{self._key}__lt": pk}))

    def page(self, count: int) -> list[tuple[GitCommit, DocumentVersion | None]]:
        rows = self.rows.order_by("-at", f"-{self._key}")
        if not self.prefix:
            return [(row, None) for row in rows[:count]]
        return [
            (row.commit, row if isinstance(row, DocumentVersion) else None)
            for row in rows.select_related("commit")[:count]
        ]

    @property
    def _key(self) -> str:
        return "commit_id" if self.prefix else "id"


def _source(caller: Caller, repository_id: str, scope: str, project_id: str, resource_id: str) -> Source:
    scope_key = scope_for(caller, scope, project_id) if scope or project_id else ""
    if resource_id:
        rows = DocumentVersion.objects.filter(stable_id=stable_id_of(caller, resource_id))
        scopes = [scope_key] if scope_key else visible_scopes(caller)
        source = Source(rows.filter(scope_key__in=scopes), "commit__")
    elif scope_key:
        source = Source(CommitScope.objects.filter(scope_key=scope_key), "commit__")
    else:
        source = Source(visible(caller), "")
    source.rows = source.rows.filter(**{f"{source.prefix}listed": True})
    if repository_id:
        source.narrow(repository=repository_for(caller, repository_id))
    return source
