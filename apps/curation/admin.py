from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from apps.curation.models import CuratedDocument, CurationAttempt, CurationJob
from apps.curation.services import curation_cancel, curation_retry
from apps.operations.administration import ReadOnlyAdmin, do_each


@admin.register(CurationJob)
class JobAdmin(ReadOnlyAdmin):
    hidden = ("coalesce_key",)
    list_display = ["created_at", "scope_key", "mode", "state", "attempt", "tokens_in", "tokens_out", "error_code"]
    list_filter = ["state", "mode", "trigger"]
    search_fields = ["id", "scope_key", "reason"]
    date_hierarchy = "created_at"
    actions = ["retry", "cancel"]

    @admin.action(description=_("Try the selected curations again"))
    def retry(self, request: HttpRequest, jobs: QuerySet[CurationJob]) -> None:
        do_each(request, curation_retry, [{"job_id": job.pk} for job in jobs])

    @admin.action(description=_("Cancel the selected curations"))
    def cancel(self, request: HttpRequest, jobs: QuerySet[CurationJob]) -> None:
        do_each(request, curation_cancel, [{"job_id": job.pk} for job in jobs])


@admin.register(CurationAttempt)
class AttemptAdmin(ReadOnlyAdmin):
    hidden = ("id",)
    list_display = ["started_at", "job", "number", "state", "model", "prompt_version", "error_code"]
    list_filter = ["state", "model"]
    list_select_related = ["job"]
    search_fields = ["job__id", "job__scope_key"]
    date_hierarchy = "started_at"


@admin.register(CuratedDocument)
class DocumentAdmin(ReadOnlyAdmin):
    list_display = ["memory", "scope_key", "document_type", "written_revision", "model", "updated_at"]
    list_filter = ["document_type"]
    list_select_related = ["memory"]
    search_fields = ["scope_key", "document_type"]
