from django.contrib import admin

from apps.changes.models import Change
from apps.operations.administration import ReadOnlyAdmin


@admin.register(Change)
class ChangeAdmin(ReadOnlyAdmin):
    list_display = ["sequence", "at", "kind", "scope_key", "stable_id", "revision", "origin", "actor", "profile"]
    list_filter = ["origin", "resource", "kind"]
    search_fields = ["stable_id", "scope_key", "actor", "operation_id"]
    ordering = ["-sequence"]
    date_hierarchy = "at"
