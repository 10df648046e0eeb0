from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from apps.operations.administration import ReadOnlyAdmin, do_each
from apps.profiles.models import Profile
from apps.profiles.services import usage_profile_save


@admin.register(Profile)
class ProfileAdmin(ReadOnlyAdmin):
    """A space is changed by ``usage_profile_save``, and ends on a page of its own that asks where its memories go."""

    list_display = ["id", "name", "enabled", "created_at", "updated_at"]
    list_filter = ["enabled"]
    search_fields = ["id", "name", "description"]
    actions = ["enable", "disable"]

    @admin.action(description=_("Enable the selected memory spaces"))
    def enable(self, request: HttpRequest, profiles: QuerySet[Profile]) -> None:
        do_each(request, usage_profile_save, [{"profile_id": profile.pk, "enabled": True} for profile in profiles])

    @admin.action(description=_("Disable the selected memory spaces"))
    def disable(self, request: HttpRequest, profiles: QuerySet[Profile]) -> None:
        do_each(request, usage_profile_save, [{"profile_id": profile.pk, "enabled": False} for profile in profiles])
