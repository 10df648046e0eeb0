"""Puts the operator's site in the place of Django's own, so that every room registers there without knowing it."""

from django.contrib.admin.apps import AdminConfig

from apps.instance.admin_words import name_everything


class AdministrationConfig(AdminConfig):
    default = False
    default_site = "apps.instance.admin_site.OperatorSite"

    def ready(self) -> None:
        name_everything()
        super().ready()
