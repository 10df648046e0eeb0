from django.contrib import admin

from apps.llm.models import ConnectionHealth, ModelCall, ModelConnection
from apps.operations.administration import ReadOnlyAdmin


@admin.register(ModelConnection)
class ConnectionAdmin(ReadOnlyAdmin):
    """To look at. What changes a connection are operations: a token must never go through a form of rows."""

    hidden = ("id", "sealed_token")
    list_display = [
        *("revision", "name", "base_url", "text_model", "protocol"),
        *("enabled", "is_current", "made_at", "made_by"),
    ]
    list_filter = ["is_current", "protocol"]
    search_fields = ["name", "base_url", "text_model"]


@admin.register(ConnectionHealth)
class HealthAdmin(ReadOnlyAdmin):
    list_display = ["connection", "state", "failures", "error_code", "checked_at", "succeeded_at", "next_probe_at"]
    list_filter = ["state"]


@admin.register(ModelCall)
class CallAdmin(ReadOnlyAdmin):
    list_display = ["started_at", "purpose", "scope_key", "model", "tokens_in", "tokens_out", "duration_ms", "outcome"]
    list_filter = ["outcome", "purpose", "model"]
    search_fields = ["id", "job_id", "scope_key", "service_request_id"]
    date_hierarchy = "started_at"
