"""The child of ``serve`` that runs jobs: django-q2's cluster, made to die as one."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils.translation import gettext_lazy as _

from apps.instance.serving.bells import release_bells
from apps.instance.serving.cluster import run_cluster


class Command(BaseCommand):
    help = _("Run jobs. `serve` starts this; use it alone only where nothing else serves the same data folder.")  # type: ignore[assignment]
    requires_system_checks = []

    def handle(self, **options: Any) -> None:
        release_bells()
        run_cluster()
