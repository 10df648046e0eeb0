from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError, NotFound


class ProfileNotFound(NotFound):
    sentence = _("There is no memory space {profile_id}.")
    hint = _("usage_profile_list names those there are.")


class ProfileDisabled(MemRelayError):
    code = "PROFILE_DISABLED"
    status = 409
    sentence = _("The memory space {profile_id} is disabled.")
    hint = _("Choose another one, or enable it with usage_profile_save.")


class SharedStays(MemRelayError):
    """``shared`` belongs to the team; what belongs to nobody else lies there (WS-040)."""

    code = "SHARED_PROFILE_STAYS"
    status = 409
    sentence = _("The memory space shared can be neither disabled nor deleted.")
    hint = _("Unbound tokens and sessions without a choice belong to it. Make a further memory space instead.")
