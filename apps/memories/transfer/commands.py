"""What ``memory_import`` and ``memory_export`` share as commands: their arguments, and how a job runs in the foreground."""

import os
from argparse import ArgumentParser
from typing import Any, ClassVar

from django.core.management import BaseCommand, CommandError
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from apps.base.errors import MemRelayError
from apps.memories.doors import scope_for
from apps.memories.models import FolderJob
from apps.memories.services.jobs import take_up
from apps.memories.transfer.foreground import work_on
from apps.operations.caller import SHARED_PROFILE, Caller


class FolderCommand(BaseCommand):
    """One folder, one scope, one job that is worked on here and now."""

    folder_help: ClassVar[Promise]
    project_help: ClassVar[Promise]
    scope_help: ClassVar[Promise]

    def start(self, caller: Caller, folder: str, scope_key: str) -> FolderJob:
        raise NotImplementedError

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", nargs="?", help=str(self.folder_help))
        parser.add_argument("--project", default="", help=str(self.project_help))
        parser.add_argument("--scope", default="", help=str(self.scope_help))
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
                job = self.start(caller, folder or "", scope_for(caller, scope, project))
        except MemRelayError as error:
            raise CommandError(f"{error} {error.advice}".strip()) from error
        work_on(job, self.stdout.write)
