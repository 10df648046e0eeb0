"""Give somebody who forgot their password a new one-time password."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from apps.accounts.first import ADMINISTRATOR, one_time_password
from apps.accounts.models import SignInTries, User


class Command(BaseCommand):
    help = "Print a new one-time password. Sessions of this person end, pauses after failed sign-ins too."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "user", nargs="?", default=ADMINISTRATOR, help=f"The name to sign in with; else {ADMINISTRATOR}."
        )

    def handle(self, *args: Any, user: str, **options: Any) -> None:
        person = User.objects.filter(username=user).first()
        if person is None:
            raise CommandError(f"There is no user {user}.")
        password = one_time_password()
        person.set_password(password)
        person.must_change_password = person.is_active = True
        person.save(update_fields=["password", "must_change_password", "is_active"])
        SignInTries.objects.all().delete()
        self.stdout.write(password)
