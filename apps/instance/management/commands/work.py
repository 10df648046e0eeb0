"""The child of ``serve`` that runs jobs: django-q2's cluster, made to die as one."""

import os
from typing import Any

from django.core.management.base import BaseCommand
from django.utils.translation import gettext_lazy as _
from django_q.cluster import Cluster

from apps.instance.serving.bells import release_bells
from apps.instance.serving.processes import die_with_parent


class Command(BaseCommand):
    help = _("Run jobs. `serve` starts this; use it alone only where nothing else serves the same data folder.")  # type: ignore[assignment]
    requires_system_checks = []

    def handle(self, **options: Any) -> None:
        release_bells()
        # Its processes are forked from one another; a killed one must not leave orphans that go on taking jobs.
        os.register_at_fork(after_in_child=die_with_parent)
        cluster = Cluster()
        cluster.start()
        cluster.sentinel.join()
