"""What a person should look at: vanished files, files that could not be taken in or written, jobs that failed."""

from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.instance.schemas import Attention
from apps.memories.models import FileIntent, FolderJob, Scope

MOST = 20
TROUBLED = Q(alarm__isnull=False) | ~Q(notices=[])
NOTICES: dict[str, Promise] = {
    "name_refused": gettext_lazy("The file's name cannot be kept; rename it."),
    "name_taken": gettext_lazy("Another file already has this name in another spelling; rename one of them."),
    "too_large": gettext_lazy("The file is larger than an import takes; split it."),
    "not_utf8": gettext_lazy("The file is no UTF-8 text; save it as UTF-8."),
    "twin": gettext_lazy("Two files carry the same stable_id; remove the line from the copy."),
    "secret_withheld": gettext_lazy(
        "The file holds a secret; it is kept out of search, recall, curation and Git until you take it out."
    ),
}


def attention_for(may_look: Callable[[str], bool]) -> list[Attention]:
    """The first of them, the gravest kind first, for the scopes that ``may_look`` allows."""
    return [*_alarms_and_notices(may_look), *_blocked_files(may_look), *_failed_jobs(may_look)][:MOST]


def _alarms_and_notices(may_look: Callable[[str], bool]) -> list[Attention]:
    troubled = Scope.objects.filter(TROUBLED).order_by("key")
    rows = [scope for scope in troubled if may_look(scope.key)]
    alarms = [_alarm(scope.key, scope.alarm) for scope in rows if scope.alarm]
    return alarms + [notice for scope in rows for notice in _notices(scope)]


def _alarm(key: str, alarm: dict[str, Any]) -> Attention:
    if alarm.get("code") == "scope_file_vanished":
        text = _("The folder's own file .memrelay/scope.json is gone. Nothing was deleted; decide what holds.")
    else:
        text = _("{missing} of {files} files are gone. Nothing was deleted; decide what holds.").format(
            missing=alarm.get("missing", "?"), files=alarm.get("files", "?")
        )
    return Attention(what="alarm", scope=key, subject=key, text=text)


def _notices(scope: Scope) -> Iterator[Attention]:
    for notice in scope.notices[:MOST]:
        text = NOTICES.get(notice.get("code", ""), gettext_lazy("The file could not be taken in."))
        yield Attention(what="notice", scope=scope.key, subject=notice.get("path", ""), text=str(text))


def _blocked_files(may_look: Callable[[str], bool]) -> Iterator[Attention]:
    blocked = FileIntent.objects.filter(state=FileIntent.BLOCKED).order_by("pk")
    for scope, path, reason in blocked.values_list("scope_id", "path", "blocked_reason")[: MOST * 5]:
        if may_look(scope):
            text = _("The file could not be written: {reason}.").format(reason=reason or _("reason unknown"))
            yield Attention(what="blocked_file", scope=scope, subject=path, text=text)


def _failed_jobs(may_look: Callable[[str], bool]) -> Iterator[Attention]:
    failed = FolderJob.objects.filter(state=FolderJob.State.FAILED).order_by("-created_at")
    for job in failed[:MOST]:
        if may_look(job.scope_key):
            yield Attention(
                what="failed_job",
                scope=job.scope_key,
                subject=job.pk,
                text=job.error or _("The job failed; see the log."),
            )
