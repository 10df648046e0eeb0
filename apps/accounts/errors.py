from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError, NotFound, NotSignedIn, TooMany


class TokenNotFound(NotFound):
    sentence = _("There is no token {token_id}.")
    hint = _("token_list names those there are.")


class WorkspaceNotFound(NotFound):
    sentence = _("There is no workspace {project_id}.")
    hint = _("project_list names those there are.")


class WrongPassword(NotSignedIn):
    """One answer for a name nobody has, a wrong password and an account that is switched off."""

    code = "WRONG_PASSWORD"
    sentence = _("The name or the password is wrong.")
    hint = _("Check both. The administrator can run manage.py password_reset.")


class SignInPaused(TooMany):
    code = "SIGN_IN_PAUSED"
    sentence = _("There were too many failed sign-ins.")
    hint = _("Wait {seconds} seconds and try again.")


class PasswordMustChange(MemRelayError):
    code = "PASSWORD_MUST_CHANGE"
    status = 403
    sentence = _("The one-time password must be changed first.")
    hint = _("Sign in to the console and choose a password of your own.")


class ProfileOutOfReach(MemRelayError):
    code = "PROFILE_OUT_OF_REACH"
    status = 403
    sentence = _("You may choose your own memory space or shared.")
    hint = _("An administrator may choose any memory space.")


class CsrfFailed(MemRelayError):
    code = "CSRF_FAILED"
    status = 403
    sentence = _("The request carries no valid CSRF token.")
    hint = _("Send the value of the cookie memrelay_csrf as the header X-CSRFToken, from a page of this server.")
