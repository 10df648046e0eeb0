"""The child of ``serve`` that keeps files and rows together: the ledger's scan and sweep (L-27)."""

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand
from django.utils.translation import gettext_lazy as _

from apps.instance.serving.state import beat
from apps.memories import keeper


class Command(BaseCommand):
    help = _("Watch the Markdown folder and make written files durable. `serve` starts this.")  # type: ignore[assignment]
    requires_system_checks = []

    def handle(self, **options: Any) -> None:
        stopping = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_signal: stopping.set())
        keeper.run(stopping.is_set, beat)
