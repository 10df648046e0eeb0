"""What the operator's pages of every room share: lists to look at, and buttons that perform operations (D-43).

Nothing is saved through a form of rows: Django saves those inside a transaction, and only operations know what goes along.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.base.errors import MemRelayError
from apps.operations.caller import Caller
from apps.operations.operation import Operation

REFUSALS = 5  # So many are told one by one.


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # Django takes none at run time.
    """Rows to look at, to filter and to search. ``hidden`` fields are never shown: secrets, and what only the code needs."""

    hidden: tuple[str, ...] = ()
    show_full_result_count = False  # Counting all rows of a large table takes longer than the page.
    list_per_page = 50

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return [field.name for field in self.model._meta.fields if field.name not in self.hidden]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def caller_of(request: HttpRequest) -> Caller:
    """Who presses the button; the site has looked at the session."""
    caller: Caller = request.caller  # type: ignore[attr-defined]
    return caller


def do_each(request: HttpRequest, operation: Operation[..., Any], calls: Iterable[Mapping[str, Any]]) -> None:
    """Perform an operation for each row that was chosen, and tell what came of it. One refusal stops no other call."""
    done, refused = 0, []
    for arguments in calls:
        try:
            operation.perform(caller_of(request), arguments)
            done += 1
        except MemRelayError as error:
            refused.append(f"{error} {error.advice}".strip())
    if done:
        messages.success(request, ngettext("Done for {count} row.", "Done for {count} rows.", done).format(count=done))
    for told in refused[:REFUSALS]:
        messages.error(request, told)
    if len(refused) > REFUSALS:
        messages.error(request, _("And {count} more were refused.").format(count=len(refused) - REFUSALS))
