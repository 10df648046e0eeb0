from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from apps.llm.models import ModelCall, ModelConnection


class ReadOnlyAdmin(admin.ModelAdmin):
    """To look at. What changes a connection are operations: a token must never go through a form of rows."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(ModelConnection)
class ConnectionAdmin(ReadOnlyAdmin):
    list_display = [
        "revision",
        "name",
        "base_url",
        "text_model",
        "protocol",
        "enabled",
        "is_current",
        "made_at",
        "made_by",
    ]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return [field.name for field in ModelConnection._meta.fields if field.name != "sealed_token"]


@admin.register(ModelCall)
class CallAdmin(ReadOnlyAdmin):
    list_display = ["started_at", "purpose", "scope_key", "model", "tokens_in", "tokens_out", "duration_ms", "outcome"]
    list_filter = ["outcome", "purpose", "model"]
