"""Gather static files ahead of the first start, as an installation or an image does."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils.translation import gettext_lazy as _

from apps.instance.serving.static_files import gather_static_files


class Command(BaseCommand):
    help = _("Gather the static files if any of them changed.")  # type: ignore[assignment]
    requires_system_checks = []

    def handle(self, **options: Any) -> None:
        gather_static_files()
