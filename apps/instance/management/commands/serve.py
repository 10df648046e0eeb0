"""One command starts MemRelay: web and worker, watched and replaced, ended together."""

import argparse
import sys
from contextlib import ExitStack
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError
from apps.instance.serving.children import Child
from apps.instance.serving.first_start import first_start
from apps.instance.serving.folders import prepare_folders
from apps.instance.serving.greeting import greeting
from apps.instance.serving.listening import listen
from apps.instance.serving.supervisor import Supervisor
from apps.leases.locks import process_lock

ROLES = ["web", "worker"]
MARGIN_SECONDS = 2.0  # What gunicorn needs beyond the grace time of its requests.


class Command(BaseCommand):
    help = _("Start MemRelay: the web server and the worker.")  # type: ignore[assignment]

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--host", default=settings.HOST, help=_("the address to listen on"))
        parser.add_argument("--port", type=int, default=settings.PORT, help=_("the port to listen on"))
        parser.add_argument("--only", choices=ROLES, help=_("start one role; another process starts the other"))

    def handle(self, *, host: str, port: int, only: str | None, **options: Any) -> None:
        roles = [only] if only else ROLES
        prepare_folders()
        try:
            with ExitStack() as held:
                for role in roles:
                    held.enter_context(process_lock(role))
                self.serve(roles, host, port, held)
        except MemRelayError as failure:
            raise CommandError(f"{failure} {failure.advice}".strip()) from failure

    def serve(self, roles: list[str], host: str, port: int, held: ExitStack) -> None:
        children = []
        if "web" in roles:
            listener = held.enter_context(listen(host, port))
            port = listener.getsockname()[1]
            children.append(Child("web", gunicorn_command(listener.fileno()), pass_fds=(listener.fileno(),)))
        if "worker" in roles:
            children.append(Child("jobs", manage_command("work"), has_family=True))
            children.append(Child("keeper", manage_command("keeper")))
        access = first_start()
        connections.close_all()  # The supervisor keeps nothing open that its children work on.
        if "web" in roles:
            self.stdout.write(greeting(host, port, access))
            self.stdout.flush()
        Supervisor(children, roles=roles, stop_seconds=settings.STOP_SECONDS + MARGIN_SECONDS).run()


def gunicorn_command(descriptor: int) -> list[str]:
    return [sys.executable, "-m", "gunicorn", "-c", "python:memrelay.gunicorn", "--bind", f"fd://{descriptor}"]


def manage_command(name: str) -> list[str]:
    return [sys.executable, str(settings.PROJECT_FOLDER / "manage.py"), name]
