from importlib import import_module

from django.apps import AppConfig

# This room has more operations than fit into ``services`` and ``selectors``, where every process looks for them.
FURTHER_SERVICES = ("restore_deeds", "migration_deeds", "connection_deeds", "mirror_deeds", "remote_deeds")


class MemoryGitConfig(AppConfig):
    name = "apps.memory_git"
    label = "memory_git"

    def ready(self) -> None:
        for module in FURTHER_SERVICES:
            import_module(f"{self.name}.{module}")
