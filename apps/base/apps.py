from django.apps import AppConfig


class BaseConfig(AppConfig):
    name = "apps.base"
    label = "base"
