from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class OperationsConfig(AppConfig):
    name = "apps.operations"
    label = "operations"

    def ready(self) -> None:
        # Every process knows every operation, whichever surface it serves.
        autodiscover_modules("selectors", "services")
