"""The database again from the Markdown files, and what that cannot bring back."""

import argparse
import sys
import time
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.base.errors import MemRelayError
from apps.instance.rebuild import Report, rebuild

SHOWN = 200
LINE_SECONDS = 0.5


class Command(BaseCommand):
    help = gettext_lazy("Make the database anew from the Markdown files. The server must not run.")  # type: ignore[assignment]
    requires_system_checks = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--force", action="store_true", help=_("move an existing database aside first"))

    def handle(self, *, force: bool, **options: Any) -> None:
        try:
            report = rebuild(force=force, told=Progress())
        except MemRelayError as failure:
            raise CommandError(f"{failure} {failure.advice}".strip()) from failure
        for line in told(report):
            self.stdout.write(line)


class Progress:
    def __init__(self) -> None:
        self.next_line = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self.next_line and done < total:
            return
        self.next_line = now + LINE_SECONDS
        line = _("{done} of {total} documents").format(done=done, total=total)
        sys.stderr.write(f"\r{line}" if sys.stderr.isatty() and done < total else f"{line}\n")


def told(report: Report) -> list[str]:
    """The report as a person reads it: what is back, what was left out, what cannot come back."""
    lines = [
        _(
            "Back: {memories} memories ({archived} archived), {checkpoints} checkpoints, {curated} curated documents."
        ).format(
            memories=report.resources["memory"],
            archived=report.archived,
            checkpoints=report.resources["checkpoint"],
            curated=report.resources["curated"],
        ),
        _("Workspaces: {count}.").format(count=report.workspaces),
    ]
    if report.moved_aside:
        lines.append(_("The old database lies beside the new one as {name}.").format(name=report.moved_aside))
    sentences = problem_sentences()
    for code, scope, path in report.problems[:SHOWN]:
        lines.append(f"{scope}/{path}: {sentences[code]}")
    if len(report.problems) > SHOWN:
        counts = Counter(code for code, _scope, _path in report.problems)
        shown = ", ".join(f"{code} {count}" for code, count in sorted(counts.items()))
        lines.append(_("All in all: {counts}.").format(counts=shown))
    lines.append(_("Not brought back, since only the database held it:"))
    lines += [f"- {line}" for line in lost()]
    lines.append(
        _("Start the server with manage.py serve: it makes a first sign-in and a first token, as at the beginning.")
    )
    return lines


def problem_sentences() -> dict[str, str]:
    return {
        "twin": _("Another file has the same id and is newer; this one was left out."),
        "unreadable": _("It cannot be read as Markdown in UTF-8, or is too large; it was left out."),
        "stranger": _("It has no id yet; the running server takes it in."),
        "name_taken": _("Another file's name differs only in case; this one was left out."),
        "scope_file": _("It is missing or damaged: name and settings of the workspace are guessed from its folder."),
    }


def lost() -> list[str]:
    return [
        _("history: older revisions, who changed what and why, deleted memories, old names of moved ones"),
        _("cursors of agents, and the numbers of versions and changes they count"),
        _("receipts: a repeated request id is a new request"),
        _("tokens and sessions"),
        _("users and their passwords"),
        _("settings made in the server"),
        _("sealed values"),
        _("which files of imported folders became which memories; equal texts are recognised"),
    ]
