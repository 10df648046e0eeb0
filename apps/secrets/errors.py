from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError


class CredentialDetected(MemRelayError):
    """The text would put a credential where agents, models and repositories read; ``locations`` says where in it."""

    code = "CREDENTIAL_DETECTED"
    status = 422
    sentence = _("The text holds what looks like a credential, so nothing was saved.")
    hint = _(
        "Keep the secret in a vault or an environment variable and write down only its name and where to find it. "
        "The places are listed in facts. An example is accepted when its characters are replaced by x."
    )
