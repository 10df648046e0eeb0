"""Revoke a token by its id or its name."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.db.models import Q

from apps.accounts.models import McpToken
from apps.accounts.services import token_revoke
from apps.operations.caller import Caller


class Command(BaseCommand):
    help = "Revoke a token: it opens nothing any more."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("token", help="Its id or its name.")

    def handle(self, *args: Any, token: str, **options: Any) -> None:
        found = list(McpToken.objects.filter(Q(pk=token) | Q(name=token), revoked_at=None).values_list("pk", flat=True))
        if not found:
            raise CommandError(f"There is no token {token}. token_list names those there are.")
        if len(found) > 1:
            raise CommandError(f"Several tokens are called {token}; name one by its id: {', '.join(found)}.")
        revoked = token_revoke(Caller.for_command(), token_id=found[0])
        self.stdout.write(f"Revoked {revoked.token_id} ({revoked.name}).")
