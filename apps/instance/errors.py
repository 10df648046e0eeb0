from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError


class CannotListen(MemRelayError):
    code = "CANNOT_LISTEN"
    status = 500
    sentence = _("Port {port} of {host} cannot be opened.")
    hint = _("Choose another with --host and --port, or with MEMRELAY_HOST and MEMRELAY_PORT.")
