"""Make a token for an agent; it stands alone on standard output, so that a script can take it from there."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from apps.accounts.services import token_create
from apps.base.errors import MemRelayError
from apps.operations.caller import SHARED_PROFILE, Caller


class Command(BaseCommand):
    help = "Make a token for an agent and print it, alone. It can't be shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", required=True, help="What you will recognise the token by.")
        parser.add_argument("--profile", default=SHARED_PROFILE, help="The memory space it works in.")
        parser.add_argument("--project", help="Id of the one workspace it may reach.")
        parser.add_argument("--toolset", default="agent", help="agent, full or connector.")
        parser.add_argument("--rights", default="read,write", help="Of read,write,administer.")
        parser.add_argument("--expires", type=int, metavar="DAYS", help="Days until it expires.")

    def handle(self, *args: Any, **options: Any) -> None:
        given = {
            "name": options["name"],
            "profile_id": options["profile"],
            "project_id": options["project"],
            "toolset": options["toolset"],
            "rights": [right.strip() for right in options["rights"].split(",") if right.strip()],
            "expires_days": options["expires"],
        }
        try:
            made = token_create.perform(
                Caller.for_command(), {key: value for key, value in given.items() if value is not None}
            )
        except MemRelayError as error:
            raise CommandError(f"{error} {error.advice}".strip()) from error
        self.stdout.write(made.token)
