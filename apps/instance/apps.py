from django.apps import AppConfig
from django.core.checks import register

from apps.instance.checks import CHECKS


class InstanceConfig(AppConfig):
    name = "apps.instance"
    label = "instance"

    def ready(self) -> None:
        for check in CHECKS:
            register(check)
