from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError, Unavailable


class ScopeBusy(MemRelayError):
    """Something that needs the scope for itself, such as a restore, is at work there."""

    code = "SCOPE_BUSY"
    status = 423
    retryable = True
    sentence = _("This space is being worked on as a whole and takes no changes until that is done.")
    hint = _("Nothing was changed. Try again in a minute; reading works meanwhile.")


class LeaseLost(MemRelayError):
    """Somebody else took the work over; what this attempt found must not be written."""

    code = "LEASE_LOST"
    status = 409
    sentence = _("This work was taken over by another process, so its result was not applied.")
    hint = _("Nothing is lost: the process that took over does the work again.")


class LockTaken(Unavailable):
    """A file lock did not become free in time."""

    sentence = _("Another process is working on the same files.")


class AlreadyServing(MemRelayError):
    code = "ALREADY_SERVING"
    status = 409
    sentence = _("A server of the role {role} already runs on this data folder, so this one does not start.")
    hint = _("Stop the running one first, or give this one a data folder of its own with MEMRELAY_DATA.")
