"""The operator's pages: Django's own administration, opened by the state of the instance and grouped by room (D-43).

Who enters is the caller of the operations behind every button. The session is the console's, and so is the way in.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.accounts.models import User
from apps.accounts.sessions import caller_for_session
from apps.accounts.signing_in import sign_out
from apps.base.errors import MemRelayError
from apps.curation.services import curation_settings_update
from apps.instance import workspaces_deeds as deeds
from apps.instance.admin_words import ROOMS
from apps.instance.services import bell_release
from apps.instance.state import state_for
from apps.llm.services import curation_model_connection_test
from apps.operations.administration import caller_of
from apps.operations.operation import Operation
from apps.profiles.selectors import usage_profile_list
from apps.workspaces.selectors import project_list

View = Callable[..., HttpResponse]
# The buttons of the first page: the operation, its arguments, and what is told when it is done.
BUTTONS: dict[str, tuple[Operation[..., Any], dict[str, Any], Any]] = {
    "release-bells": (bell_release, {}, gettext_lazy("Bells that nobody answers are offered again.")),
    "test-model": (curation_model_connection_test, {}, gettext_lazy("The model connection was tested.")),
    "curation-on": (curation_settings_update, {"enabled": True}, gettext_lazy("AI curation is switched on.")),
    "curation-off": (curation_settings_update, {"enabled": False}, gettext_lazy("AI curation is switched off.")),
}


def may_enter(request: HttpRequest) -> bool:
    """Superusers, once their one-time password is gone."""
    user = request.user
    return isinstance(user, User) and user.is_active and user.is_superuser and not user.must_change_password


class OperatorSite(admin.AdminSite):
    site_header = site_title = gettext_lazy("MemRelay administration")
    index_title = gettext_lazy("State of the server")
    index_template = "admin/index.html"

    def has_permission(self, request: HttpRequest) -> bool:
        return may_enter(request)

    def admin_view(self, view: View, cacheable: bool = False) -> Any:  # type: ignore[override]
        """Every page knows its caller, and shows times in their zone."""

        @wraps(view)
        def with_caller(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            caller = caller_for_session(request)
            request.caller = caller  # type: ignore[attr-defined]
            with timezone.override(caller.zone):
                response = view(request, *args, **kwargs)
                if isinstance(response, TemplateResponse):
                    response.render()
                return response

        inner = super().admin_view(with_caller, cacheable)

        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            user = request.user
            if isinstance(user, User) and not may_enter(request):
                # Signed in already: to send them to sign in would send them in circles.
                if user.must_change_password:
                    return redirect("password-change")
                raise PermissionDenied
            return inner(request, *args, **kwargs)

        return guarded

    def get_urls(self) -> list[URLResolver | URLPattern]:
        own: list[URLResolver | URLPattern] = [
            path("do/<slug:name>/", self.admin_view(require_POST(self.do)), name="do"),
            path("workspaces/project/<str:key>/end/", self.admin_view(self.delete_workspace), name="workspace-delete"),
            path("workspaces/project/<str:key>/merge/", self.admin_view(self.merge_workspace), name="workspace-merge"),
            path("profiles/profile/<str:key>/end/", self.admin_view(self.delete_space), name="space-delete"),
        ]
        return own + super().get_urls()

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Room by room, in the words of the pages."""
        rooms = super().get_app_list(request, app_label)
        for room in rooms:
            room["name"] = ROOMS.get(room["app_label"], room["name"])
        order = list(ROOMS)
        return sorted(
            rooms, key=lambda room: order.index(room["app_label"]) if room["app_label"] in order else len(order)
        )

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        return super().index(request, {**state_for(caller_of(request)), **(extra_context or {})})

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        sign_out(request)
        return redirect("sign-in")

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return redirect("password-change")

    # Buttons.

    def do(self, request: HttpRequest, name: str) -> HttpResponse:
        if name not in BUTTONS:
            raise Http404
        operation, arguments, told = BUTTONS[name]
        if _performed(request, operation, arguments) is not None:
            messages.success(request, told)
        return redirect("admin:index")

    # Ends of workspaces and memory spaces: what goes where is shown first.

    def delete_workspace(self, request: HttpRequest, key: str) -> HttpResponse:
        named = {"project_id": key}
        back = "admin:workspaces_project_changelist"
        return self._end(request, deeds.workspace_delete_preview, deeds.project_delete, named, back)

    def merge_workspace(self, request: HttpRequest, key: str) -> HttpResponse:
        back = "admin:workspaces_project_changelist"
        into = request.POST.get("into") or request.GET.get("into") or ""
        others = project_list(caller_of(request), limit=200).projects
        choices = [(one.project_id, one.name) for one in others if one.project_id != key]
        named = {"project_id": key, "into": into}
        return self._end(
            request,
            deeds.workspace_merge_preview if into else None,
            deeds.project_merge,
            named,
            back,
            field="into",
            choices=choices,
            title=_("Merge a workspace into another"),
        )

    def delete_space(self, request: HttpRequest, key: str) -> HttpResponse:
        back = "admin:profiles_profile_changelist"
        to = request.POST.get("migrate_to") or request.GET.get("migrate_to") or ""
        spaces = usage_profile_list(caller_of(request), with_disabled=False).profiles
        choices = [(one.profile_id, one.name) for one in spaces if one.profile_id != key]
        named = {"profile_id": key, **({"migrate_to": to} if to else {})}
        return self._end(
            request,
            deeds.usage_profile_delete_preview,
            deeds.usage_profile_delete,
            named,
            back,
            field="migrate_to",
            choices=choices,
            title=_("Delete a memory space"),
        )

    def _end(
        self,
        request: HttpRequest,
        preview: Operation[..., Any] | None,
        deed: Operation[..., Any],
        named: dict[str, str],
        back: str,
        *,
        field: str = "",
        choices: list[tuple[str, str]] | None = None,
        title: str = "",
    ) -> HttpResponse:
        if request.method == "POST" and (job := _performed(request, deed, named)) is not None:
            if job.state == "completed":
                messages.success(request, _("It is done: {count} documents.").format(count=job.updated))
            else:
                messages.info(request, _("The job {job_id} does it; see how far it is.").format(job_id=job.job_id))
            return redirect(back)
        told = _performed(request, preview, named) if preview else None
        if preview and told is None:
            return redirect(back)
        context = {
            **self.each_context(request),
            "title": title or _("Delete a workspace"),
            "preview": told,
            "field": field,
            "choices": choices or [],
            "chosen": named.get(field, ""),
            "back": back,
        }
        return TemplateResponse(request, "admin/ending.html", context)


def _performed(request: HttpRequest, operation: Operation[..., Any], arguments: dict[str, Any]) -> Any:
    """The operation's answer; None where it refuses, and the next page says why."""
    try:
        return operation.answer(caller_of(request), arguments)
    except MemRelayError as error:
        messages.error(request, f"{error} {error.advice}".strip())
        return None
