"""Bring a folder of Markdown in, here and now; killed or stopped, it goes on later."""

from django.utils.translation import gettext_lazy as _

from apps.memories.models import FolderJob
from apps.memories.services.jobs import start_import, take_up
from apps.memories.transfer.commands import FolderCommand
from apps.operations.caller import Caller


class Command(FolderCommand):
    help = _("Import a folder of Markdown: Obsidian, Basic Memory or plain. The folder is only read.")  # type: ignore[assignment]
    folder_help = _("the folder")
    project_help = _("id or slug of the workspace to import into")
    scope_help = _("scope to import into, such as global/alice or library")

    def start(self, caller: Caller, folder: str, scope_key: str) -> FolderJob:
        job = start_import(caller, folder, scope_key, by_bell=False)
        return take_up(caller, job.pk)
