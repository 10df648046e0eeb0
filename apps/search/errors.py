"""What can be wrong with a search."""

from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError


class EmptyQuery(MemRelayError):
    code = "EMPTY_QUERY"
    status = 422
    sentence = _("The query holds no word to search for.")
    hint = _("Give at least one word, number or identifier. To see everything, list the memories instead.")


class CursorInvalid(MemRelayError):
    code = "CURSOR_INVALID"
    status = 422
    sentence = _("This cursor does not belong to this search.")
    hint = _("Repeat the search without a cursor; keep query and filters the same while you page.")
