from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from apps.curation.models import CuratedDocument, CurationAttempt, CurationJob


class ReadOnlyAdmin(admin.ModelAdmin):
    """To look at. Jobs are changed by operations, documents by the ledger."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(CurationJob)
class JobAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "scope_key", "mode", "state", "attempt", "tokens_in", "tokens_out", "error_code"]
    list_filter = ["state", "mode", "trigger"]
    search_fields = ["id", "scope_key", "reason"]


@admin.register(CurationAttempt)
class AttemptAdmin(ReadOnlyAdmin):
    list_display = ["started_at", "job", "number", "state", "model", "prompt_version", "error_code"]
    list_filter = ["state"]


@admin.register(CuratedDocument)
class DocumentAdmin(ReadOnlyAdmin):
    list_display = ["scope_key", "document_type", "written_revision", "model", "updated_at"]
    list_filter = ["document_type"]
