"""Make what a data folder needs, and end: for scripts and images that prepare one before ``serve``."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils.translation import gettext_lazy as _

from apps.instance.serving.first_start import first_start, prepare
from apps.instance.serving.greeting import greeting


class Command(BaseCommand):
    help = _("Make keys, tables, the administrator and a first token, without serving.")  # type: ignore[assignment]

    def handle(self, **options: Any) -> None:
        prepare()
        self.stdout.write(greeting(settings.HOST, settings.PORT, first_start()))
