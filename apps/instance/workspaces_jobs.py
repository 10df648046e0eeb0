"""Deleting all that a scope holds, or moving it into another scope: batch by batch, in one logical operation.

Whoever does it has the scopes for himself (L-15). A job that was killed goes on with what is still there; the workspace or
the memory space itself ends last, when nothing is left in it.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from django.conf import settings
from django.db.models import QuerySet

from apps.accounts.services import leave_profile, rebind_tokens_of, revoke_tokens_of
from apps.base.transactions import short_transaction
from apps.curation.services import cancel_all_of
from apps.leases.errors import ScopeBusy
from apps.leases.held import Held, exclusive_key
from apps.leases.services import holding
from apps.memories.ledger import (
    Arrive,
    Attribute,
    Baggage,
    Change,
    Committed,
    Deed,
    Delete,
    Depart,
    IfExists,
    Part,
    commit_parts,
)
from apps.memories.ledger.scan import scan
from apps.memories.ledger.sweep import sweep
from apps.memories.models import ImportedFile, Memory, Resource, Status
from apps.memories.transfer.running import State, Tally, Work
from apps.operations.caller import SHARED_PROFILE, Caller
from apps.profiles.errors import ProfileInUse
from apps.profiles.models import Profile
from apps.profiles.services import end as end_profile
from apps.workspaces.models import Project
from apps.workspaces.services import end as end_project

FIRST_BATCH = 25
BATCH_SECONDS = 0.15  # How long a batch may keep SQLite's only writer.
Making = Callable[[Sequence[Memory]], list[Part]]


def run_deletion(work: Work) -> State:
    """Delete every document of a scope, then end the workspace or the memory space it belongs to."""
    job = work.job
    with _whole(job.scope_key) as held:
        attempt = Attempt(work, held)
        if job.scope_key.startswith("global/") and (sources := sources_of(profile_of(job.scope_key)).count()):
            raise ProfileInUse(profile_id=profile_of(job.scope_key), sources=sources)
        work.note_total(job.done + living(job.scope_key).count())
        if stopped := attempt.each(living(job.scope_key), attempt.deleting):
            return stopped
        attempt.end()
    return State.COMPLETED


def run_merging(work: Work) -> State:
    """Move every document of a scope into another one, then end the one that is empty.

    Curated documents do not move: the other scope has its own, which curation writes anew from all sources.
    """
    job = work.job
    with _whole(job.scope_key, job.target_key) as held:
        attempt = Attempt(work, held)
        here = living(job.scope_key)
        elsewhere = attributed_elsewhere(profile_of(job.scope_key))
        work.note_total(job.done + here.count() + elsewhere.count())
        stopped = attempt.each(here.exclude(resource=Resource.CURATED), attempt.moving)
        stopped = stopped or attempt.each(here.filter(resource=Resource.CURATED), attempt.deleting)
        stopped = stopped or attempt.each(elsewhere, attempt.attributing)
        if stopped:
            return stopped
        attempt.end()
    return State.COMPLETED


@dataclass
class Attempt:
    """One attempt at a deletion or a merging."""

    work: Work
    held: Sequence[Held]

    @property
    def caller(self) -> Caller:
        return Caller.for_job(self.work.job)

    def each(self, rows: QuerySet[Memory], making: Making) -> State | None:
        """Work through rows that leave the query when their turn was. Answers the state to stop in, if somebody wants that."""
        size = min(FIRST_BATCH, settings.SAVE_MANY)
        while batch := list(rows.order_by("scope", "pk")[:size]):
            if stopped := self.work.stop_wanted():
                return stopped
            started = time.monotonic()
            self.commit(making(batch), len(batch), str(batch[-1].pk))
            took = max(time.monotonic() - started, 0.001)
            size = max(1, min(settings.SAVE_MANY, int(size * min(2.0, BATCH_SECONDS / took))))
        return None

    def commit(self, parts: Sequence[Part], count: int, position: str) -> None:
        stored: dict[str, object] = {}

        def advance(done: list[Committed]) -> None:
            stored.update(self.work.advance(Tally(done=count, updated=count), position))

        operation = self.work.job.operation
        assert operation is not None, "A job that changes memories has an operation."  # noqa: S101
        deed = Deed(operation.name, reason=operation.reason, operation=operation, within=advance, held=self.held)
        commit_parts(self.caller, parts, deed)
        self.work.take_over(stored)

    def deleting(self, batch: Sequence[Memory]) -> list[Part]:
        changes = [Delete(memory_id=memory.stable_id, any_resource=True) for memory in batch]
        return [Part(self.work.job.scope_key, changes)]

    def moving(self, batch: Sequence[Memory]) -> list[Part]:
        job = self.work.job
        own, new = profile_of(job.scope_key), profile_of(job.target_key)
        departures: list[Change] = []
        arrivals: list[Change] = []
        for memory in batch:
            baggage = Baggage()
            departures.append(Depart(memory_id=memory.stable_id, revision=None, baggage=baggage, as_part_of_all=True))
            profile = new if own and memory.profile_id == own else ""
            arrivals.append(Arrive(baggage=baggage, if_exists=IfExists.NEW, profile_id=profile))
        return [Part(job.scope_key, departures), Part(job.target_key, arrivals)]

    def attributing(self, batch: Sequence[Memory]) -> list[Part]:
        """Those of the first scope in the batch: its commit is one of that scope alone."""
        new, scope_key = profile_of(self.work.job.target_key), batch[0].scope_id
        own = [memory for memory in batch if memory.scope_id == scope_key]
        return [Part(scope_key, [Attribute(memory_id=memory.stable_id, profile_id=new) for memory in own])]

    def end(self) -> None:
        job = self.work.job
        kind, _slash, name = job.scope_key.partition("/")
        into = job.target_key.partition("/")[2]
        with short_transaction():
            self.work.check()
            cancel_all_of(job.scope_key)
            if job.target_key:
                _remember_imports(job.scope_key, job.target_key)
            if kind == "project":
                _end_workspace(self.caller, name, into)
            else:
                leave_profile(name, into or SHARED_PROFILE)
                if profile := Profile.objects.filter(pk=name).first():
                    end_profile(self.caller, profile)


def living(scope_key: str) -> QuerySet[Memory]:
    """Every document of a scope that is not in the trash."""
    return Memory.objects.filter(scope=scope_key).exclude(status=Status.DELETED)


def sources_of(profile_id: str) -> QuerySet[Memory]:
    """The documents that refer to a memory space: those that lie in it, and those elsewhere that count as its own."""
    return living(f"global/{profile_id}") | attributed_elsewhere(profile_id)


def attributed_elsewhere(profile_id: str) -> QuerySet[Memory]:
    own = Memory.objects.filter(profile_id=profile_id).exclude(status=Status.DELETED)
    return own.exclude(scope=f"global/{profile_id}") if profile_id else own.none()


def profile_of(scope_key: str) -> str:
    """The memory space whose scope this is; nothing for any other scope."""
    kind, _slash, name = scope_key.partition("/")
    return name if kind == "global" else ""


@contextmanager
def _whole(*scope_keys: str) -> Iterator[list[Held]]:
    """Have scopes for oneself: what was edited outside is taken in first, and what waits for its file is written."""
    for key in scope_keys:
        scan(key)
    with ExitStack() as stack:
        held = []
        for key in sorted(scope_keys):
            own = stack.enter_context(holding(exclusive_key(key), kind="ending"))
            if own is None:
                raise ScopeBusy(scope=key, work="ending")
            held.append(own)
        sweep(at_once=True)
        yield held


def _remember_imports(scope_key: str, target_key: str) -> None:
    """A folder that was imported here is known there, so that importing it again doubles nothing (L-16)."""
    known = ImportedFile.objects.filter(scope=target_key).values("source")
    moved = ImportedFile.objects.filter(scope=scope_key, memory__scope=target_key)
    moved.exclude(source__in=known).update(scope=target_key)


def _end_workspace(caller: Caller, project_id: str, into: str) -> None:
    project = Project.objects.filter(pk=project_id, deleted_at=None).first()
    if project is None:
        return  # An attempt before this one had come so far.
    if into:
        rebind_tokens_of(project_id, into)
        end_project(caller, project, merged_into=Project.objects.get(pk=into))
    else:
        revoke_tokens_of(project_id)
        end_project(caller, project)
