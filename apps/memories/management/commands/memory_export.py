"""Write a scope's current Markdown into an empty folder, here and now."""

import os
from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.base.errors import MemRelayError
from apps.memories.doors import scope_for
from apps.memories.services.jobs import start_export, take_up
from apps.memories.transfer.foreground import work_on
from apps.operations.caller import SHARED_PROFILE, Caller


class Command(BaseCommand):
    help = gettext_lazy("Export the current Markdown of a scope into an empty folder.")  # type: ignore[assignment]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", nargs="?", help=_("the folder; made if it is missing"))
        parser.add_argument("--project", default="", help=_("id or slug of the workspace to export"))
        parser.add_argument("--scope", default="", help=_("scope to export, such as global/alice or library"))
        parser.add_argument("--profile", default=SHARED_PROFILE, help=_("the memory space to work in"))
        parser.add_argument("--resume", metavar="JOB", help=_("go on with a stopped job"))

    def handle(
        self, *, folder: str | None, project: str, scope: str, profile: str, resume: str | None, **options: Any
    ) -> None:
        if bool(folder) == bool(resume):
            raise CommandError(_("Name a folder, or a job with --resume."))
        os.umask(0o077)
        caller = Caller.for_command(profile=profile)
        try:
            if resume:
                job = take_up(caller, resume)
            else:
                job = start_export(caller, folder or "", scope_for(caller, scope, project), by_bell=False)
        except MemRelayError as error:
            raise CommandError(f"{error} {error.advice}".strip()) from error
        work_on(job, self.stdout.write)
