from django.apps import AppConfig


class SourcesConfig(AppConfig):
    name = "apps.sources"
