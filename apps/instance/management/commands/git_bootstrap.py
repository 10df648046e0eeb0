"""An empty data folder filled from a Git remote: documents, workspaces and the history of commits.

Credentials come as JSON on standard input, never as arguments that other users of the machine could read.
"""

import argparse
import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.base.errors import MemRelayError
from apps.instance.management.commands.rebuild import Progress, told
from apps.instance.rebuild import rebuild, refuse_to_replace
from apps.memory_git.importing.bootstrapping import Brought, bring, look
from apps.memory_git.mirror.credentials import address_at
from apps.memory_git.remotes.access import Access
from apps.memory_git.remotes.addresses import UnusableAddress
from apps.memory_git.trees.problems import readable

FIELDS = ("user", "secret", "private_key", "passphrase", "authorities", "proxy")


class Command(BaseCommand):
    help = gettext_lazy("Fill an empty data folder from a Git remote. The server must not run.")  # type: ignore[assignment]
    requires_system_checks = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("url", help=_("address of the repository, as git clone takes it"))
        parser.add_argument("--branch", default="main", help=_("the branch that holds the memories"))
        parser.add_argument(
            "--dry-run", action="store_true", help=_("only tell what would come in and what would be left out")
        )
        parser.add_argument("--force", action="store_true", help=_("move an existing database aside first"))

    def handle(self, *, url: str, branch: str, force: bool, dry_run: bool, **options: Any) -> None:
        try:
            if dry_run:
                self._tell(look(address_at(url), _access(), branch))
                self.stdout.write(_("Nothing was changed."))
                return
            refuse_to_replace(force=force)
            brought = bring(address_at(url), _access(), branch)
            report = rebuild(force=force, told=Progress())
        except UnusableAddress as why:
            raise CommandError(str(why)) from None
        except MemRelayError as failure:
            raise CommandError(f"{failure} {failure.advice}".strip()) from None
        self._tell(brought)
        for line in [*told(report), *never_in_git()]:
            self.stdout.write(line)

    def _tell(self, brought: Brought) -> None:
        self.stdout.write(
            _("From the remote: {documents} documents and {commits} commits, up to {commit}.").format(
                documents=brought.documents, commits=brought.commits, commit=brought.commit[:12]
            )
        )
        for path in brought.ignored[:50]:
            self.stdout.write(_("{path}: it is no document and was left out.").format(path=path))
        for one in brought.left_out:
            self.stdout.write(
                _("{path}: left out ({problem}).").format(path=readable(one.path), problem=one.problem.label)
            )
        if brought.left_out:
            self.stdout.write(
                _("What was left out stays in the history. Mend it at the remote, then take it in from there.")
            )


def never_in_git() -> list[str]:
    return [
        _("Git never had these either; only a backup of the whole data folder brings them back:"),
        _("- the key ring and everything sealed with it: tokens of services, SSH keys, the vault's connection"),
        _("- files of the file repository, and the contents of caches and indexes"),
        _("Connect the Git server again and switch Memory Git on to go on pushing to the same remote."),
    ]


def _access() -> Access:
    """What standard input says: an object with ``user``, ``secret``, ``private_key``, ... and ``host_keys``."""
    text = "" if sys.stdin.isatty() else sys.stdin.read().strip()
    try:
        given = json.loads(text) if text else {}
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise CommandError(_("Standard input must be a JSON object with the credentials, or empty."))
    plain: dict[str, Any] = {name: str(given[name]) for name in FIELDS if given.get(name)}
    return Access(**plain, host_keys=tuple(map(str, given.get("host_keys", []))))
