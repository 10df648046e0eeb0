from django.contrib import admin
from django.http import HttpRequest

from apps.profiles.models import Profile


@admin.register(Profile)
class ProfileAdmin(admin.ModelAdmin):
    """To look at. A space is changed by ``usage_profile_save``, and never deleted here: its memories would be nobody's."""

    list_display = ["id", "name", "enabled", "updated_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Profile | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Profile | None = None) -> bool:
        return False
