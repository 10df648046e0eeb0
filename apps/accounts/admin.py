from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.accounts.models import McpToken, SignInTries, User
from apps.accounts.selectors import state_of
from apps.accounts.services import token_revoke
from apps.operations.administration import ReadOnlyAdmin, do_each

admin.site.unregister(Group)  # Rights are three, and a token or a person has them itself.


@admin.register(User)
class MemberAdmin(UserAdmin):
    list_display = ["username", "profile", "is_superuser", "is_staff", "is_active", "last_login"]
    list_filter = ["is_active", "is_superuser", "is_staff", "profile"]
    search_fields = ["username", "profile__name"]
    fieldsets = (
        (None, {"fields": ("username", "password", "must_change_password")}),
        (_("Memory space and time zone"), {"fields": ("profile", "zone")}),
        (_("Rights"), {"fields": ("is_active", "is_staff", "is_superuser", "last_login")}),
    )
    filter_horizontal = ()
    readonly_fields = ["last_login"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """History names people: one who leaves is switched off."""
        return False


@admin.register(McpToken)
class TokenAdmin(ReadOnlyAdmin):
    """To look at and to revoke. Tokens are made where the token itself can be shown: console, REST, command."""

    hidden = ("digest",)
    list_display = ["name", "hint", "state", "profile", "project", "toolset", "expires_at", "last_used_at"]
    list_filter = [("revoked_at", admin.EmptyFieldListFilter), "toolset", "profile"]
    list_select_related = ["profile", "project"]
    search_fields = ["name", "hint", "id", "made_by"]
    date_hierarchy = "created_at"
    actions = ["revoke"]

    @admin.display(description=pgettext_lazy("column", "state"))
    def state(self, token: McpToken) -> str:
        return str(STATES[state_of(token).value])

    @admin.action(description=_("Revoke the selected tokens"))
    def revoke(self, request: HttpRequest, tokens: QuerySet[McpToken]) -> None:
        do_each(request, token_revoke, [{"token_id": token.pk} for token in tokens])


@admin.register(SignInTries)
class TriesAdmin(ReadOnlyAdmin):
    """Under digests: what people type as a name may be a password."""

    list_display = ["key", "tries", "since"]
    date_hierarchy = "since"


STATES = {
    "active": pgettext_lazy("token", "active"),
    "expired": pgettext_lazy("token", "expired"),
    "revoked": pgettext_lazy("token", "revoked"),
}
