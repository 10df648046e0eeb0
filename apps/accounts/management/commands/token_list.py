"""List the tokens of agents."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand

from apps.accounts.schemas import TokenOut
from apps.accounts.selectors import token_list
from apps.operations.caller import Caller

HEAD = ("ID", "NAME", "BEGINS", "STATE", "SPACE", "WORKSPACE", "TOOLSET", "RIGHTS", "EXPIRES", "LAST USED")


class Command(BaseCommand):
    help = "List the tokens of agents; the tokens themselves are not kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", help="Revoked ones too.")

    def handle(self, *args: Any, **options: Any) -> None:
        tokens = token_list(Caller.for_command(), with_revoked=options["all"]).tokens
        rows = [HEAD, *(_row(token) for token in tokens)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
        for row in rows:
            self.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _row(token: TokenOut) -> tuple[str, ...]:
    return (
        token.token_id,
        token.name,
        token.hint,
        token.state.value,
        token.profile_id,
        token.project_id or "-",
        token.toolset,
        ",".join(token.rights),
        f"{token.expires_at:%Y-%m-%d}" if token.expires_at else "-",
        f"{token.last_used_at:%Y-%m-%d %H:%M}" if token.last_used_at else "-",
    )
