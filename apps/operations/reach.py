"""Which workspace a call is about: the connection's, else the one it names (D-22)."""

from django.utils.translation import gettext_lazy as _

from apps.base.errors import Denied
from apps.operations.caller import Caller


class WorkspaceMismatch(Denied):
    """Told alike whether the other workspace exists or not."""

    code = "WORKSPACE_MISMATCH"
    sentence = _("This connection is bound to another workspace.")
    hint = _("Leave the workspace out, or connect with a token and an address that are not bound to one.")


def workspace_of_call(caller: Caller, named: str | None) -> str | None:
    """The id of the workspace a call is about; None where neither connection nor call names one.

    Raises ``WorkspaceMismatch`` where both do and differ. ``named`` is an id: a slug is for ``project_for`` to resolve.
    """
    if caller.project_id is None:
        return named
    if named not in (None, "", caller.project_id):
        raise WorkspaceMismatch()
    return caller.project_id
