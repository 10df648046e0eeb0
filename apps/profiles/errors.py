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


class ProfileInUse(MemRelayError):
    """WS-049: what belongs to a space must not lose its owner."""

    code = "PROFILE_IN_USE"
    status = 409
    sentence = _("The memory space {profile_id} still has {sources} sources, so it was not deleted.")
    hint = _("Name in migrate_to the memory space they go to, or delete them first.")


class SharedStays(MemRelayError):
    """``shared`` belongs to the team; what belongs to nobody else lies there (WS-040)."""

    code = "SHARED_PROFILE_STAYS"
    status = 409
    sentence = _("The memory space shared can be neither disabled nor deleted.")
    hint = _("Unbound tokens and sessions without a choice belong to it. Make a further memory space instead.")
