"""One command starts MemRelay: web and worker, watched and replaced, ended together."""

import argparse
from contextlib import ExitStack
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.base.errors import MemRelayError
from apps.instance.serving import work
from apps.instance.serving.first_start import first_start, prepare
from apps.instance.serving.greeting import greeting
from apps.instance.serving.listening import door, listen
from apps.instance.serving.supervisor import Supervisor
from apps.leases.locks import process_lock
from apps.search.embedding.choice import current_key
from apps.search.embedding.frames import socket_file

ROLES = ["web", "worker"]
MARGIN_SECONDS = 2.0  # What gunicorn needs beyond the grace time of its requests.


class Command(BaseCommand):
    help = gettext_lazy("Start MemRelay: the web server and the worker.")  # type: ignore[assignment]

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--host", default=settings.HOST, help=_("the address to listen on"))
        parser.add_argument("--port", type=int, default=settings.PORT, help=_("the port to listen on"))
        parser.add_argument("--only", choices=ROLES, help=_("start one role; another process starts the other"))

    def handle(self, *, host: str, port: int, only: str | None, **options: Any) -> None:
        roles = [only] if only else ROLES
        prepare()
        try:
            with ExitStack() as held:
                for role in roles:
                    held.enter_context(process_lock(role))
                self.serve(roles, host, port, held)
        except MemRelayError as failure:
            raise CommandError(f"{failure} {failure.advice}".strip()) from failure

    def serve(self, roles: list[str], host: str, port: int, held: ExitStack) -> None:
        listener = held.enter_context(listen(host, port)) if "web" in roles else None
        has_embedder = "worker" in roles and current_key() is not None
        doors = work.Doors(listener, held.enter_context(door(socket_file())) if has_embedder else None)
        access = first_start()
        connections.close_all()  # A connection must not be shared with forked children.
        if listener:
            # The children are forked from here, so that what they tell of addresses is the one that --port opened.
            settings.HOST, settings.PORT = host, listener.getsockname()[1]
            self.stdout.write(greeting(settings.HOST, settings.PORT, access))
        children = [work.web(doors, listener)] if listener else []
        if "worker" in roles:
            children += [work.jobs(doors), work.keeping(doors)]
        if doors.embedder:
            children.append(work.embedding(doors, doors.embedder))
        Supervisor(children, roles=roles, stop_seconds=settings.STOP_SECONDS + MARGIN_SECONDS).run()
