from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from apps.accounts import services
from apps.accounts.models import McpToken, User
from apps.accounts.sessions import caller_for_session


@admin.register(User)
class MemberAdmin(UserAdmin):
    list_display = ["username", "profile", "is_staff", "is_active", "last_login"]
    fieldsets = (
        (None, {"fields": ("username", "password", "must_change_password")}),
        (_("Memory space and time zone"), {"fields": ("profile", "zone")}),
        (_("Rights"), {"fields": ("is_active", "is_staff", "is_superuser")}),
    )
    readonly_fields = ["last_login"]


@admin.register(McpToken)
class TokenAdmin(admin.ModelAdmin):
    """To look at and to revoke. Tokens are made where the token itself can be shown: console, REST, command."""

    list_display = [
        "name",
        "hint",
        "profile",
        "project",
        "toolset",
        "created_at",
        "expires_at",
        "revoked_at",
        "last_used_at",
    ]
    actions = ["revoke"]

    @admin.action(description=_("Revoke the selected tokens"))
    def revoke(self, request: HttpRequest, tokens: QuerySet[McpToken]) -> None:
        caller = caller_for_session(request)
        for token_id in tokens.values_list("pk", flat=True):
            services.token_revoke(caller, token_id=token_id)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return [field.name for field in McpToken._meta.fields if field.name != "digest"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: McpToken | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: McpToken | None = None) -> bool:
        return False


def may_enter(request: HttpRequest) -> bool:
    """Staff, once their one-time password is gone."""
    user = request.user
    return isinstance(user, User) and user.is_active and user.is_staff and not user.must_change_password
