from django.apps import AppConfig


class MemoryGitConfig(AppConfig):
    name = "apps.memory_git"
    label = "memory_git"
