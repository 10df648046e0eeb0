from django.contrib import admin

from apps.operations.administration import ReadOnlyAdmin
from apps.operations.models import RequestReceipt


@admin.register(RequestReceipt)
class ReceiptAdmin(ReadOnlyAdmin):
    """What callers' request ids led to. The answer itself may hold texts, so it stays out of sight."""

    hidden = ("id", "answer")
    list_display = ["created_at", "operation", "request_id", "profile", "job_id"]
    list_filter = ["operation"]
    search_fields = ["request_id", "job_id"]
    date_hierarchy = "created_at"
