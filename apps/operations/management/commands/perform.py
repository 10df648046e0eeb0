"""Run any operation from the server's own terminal."""

import json
from argparse import ArgumentParser
from difflib import get_close_matches
from typing import Any

from django.core.management import BaseCommand

from apps.base.errors import Invalid, MemRelayError, NotFound
from apps.operations.caller import SHARED_PROFILE, Caller
from apps.operations.operation import OPERATIONS


class Command(BaseCommand):
    help = "Run an operation with all rights: its arguments as JSON; the answer as JSON on standard output."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="The operation's name, such as memory_save.")
        parser.add_argument("arguments", nargs="?", default="{}", help="Its arguments, a JSON object.")
        parser.add_argument("--profile", default=SHARED_PROFILE, help="The memory space to work in.")

    def handle(self, *args: Any, name: str, arguments: str, profile: str, **options: Any) -> None:
        try:
            answer = named(name).answer(Caller.for_command(profile=profile), object_in(arguments))
        except MemRelayError as error:
            self.stderr.write(json.dumps({"error": error.as_dict()}, ensure_ascii=False, default=str))
            raise SystemExit(1) from error
        self.stdout.write(answer.model_dump_json())


def named(name: str) -> Any:
    if name not in OPERATIONS:
        raise NotFound(
            "There is no operation {name}.", name=name, near=get_close_matches(name, OPERATIONS, n=5, cutoff=0.5)
        )
    return OPERATIONS[name]


def object_in(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text)
    except ValueError as error:
        raise Invalid(fields={"arguments": f"This is no JSON: {error}."}) from error
    if not isinstance(arguments, dict):
        raise Invalid(fields={"arguments": "This must be a JSON object."})
    return arguments
