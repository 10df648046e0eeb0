"""Write a scope's current Markdown into an empty folder, here and now."""

from django.utils.translation import gettext_lazy as _

from apps.memories.models import FolderJob
from apps.memories.services.jobs import start_export
from apps.memories.transfer.commands import FolderCommand
from apps.operations.caller import Caller


class Command(FolderCommand):
    help = _("Export the current Markdown of a scope into an empty folder.")  # type: ignore[assignment]
    folder_help = _("the folder; made if it is missing")
    project_help = _("id or slug of the workspace to export")
    scope_help = _("scope to export, such as global/alice or library")

    def start(self, caller: Caller, folder: str, scope_key: str) -> FolderJob:
        return start_export(caller, folder, scope_key, by_bell=False)
