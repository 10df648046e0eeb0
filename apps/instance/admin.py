"""django-q2's rows, which ring for our jobs: to look at. Its own pages would delete them and ring twice."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.template.defaultfilters import truncatechars
from django.utils.translation import pgettext_lazy
from django_q.models import Failure, OrmQ, Schedule, Success

from apps.operations.administration import ReadOnlyAdmin

for model in (Failure, OrmQ, Schedule, Success):
    admin.site.unregister(model)


@admin.register(OrmQ)
class BellAdmin(ReadOnlyAdmin):
    list_display = ["id", "func", "lock", "task_id"]
    ordering = ["lock"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return ["task_id", "func", "args", "lock"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return self.get_fields(request, obj)


class RungAdmin(ReadOnlyAdmin):
    hidden = ("hook", "kwargs", "result", "cluster")
    list_display = ["name", "func", "started", "stopped", "attempt_count"]
    list_filter = ["group"]
    search_fields = ["name", "func"]
    ordering = ["-stopped"]
    date_hierarchy = "started"


@admin.register(Success)
class SuccessAdmin(RungAdmin):
    pass


@admin.register(Failure)
class FailureAdmin(RungAdmin):
    list_display = ["name", "func", "started", "stopped", "attempt_count", "why"]
    readonly_fields = ["why"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return [*super().get_fields(request, obj), "why"]

    @admin.display(description=pgettext_lazy("column", "error"))
    def why(self, failure: Failure) -> str:
        """Its first line: what was raised. The log has the rest."""
        return truncatechars(str(failure.result or "").partition(" : ")[0], 200)


@admin.register(Schedule)
class ScheduleAdmin(ReadOnlyAdmin):
    hidden = ("hook", "kwargs", "intended_date_kwarg", "cluster")
    list_display = ["name", "func", "schedule_type", "next_run"]
