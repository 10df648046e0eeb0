"""What a document may not be, and what may not be written into one."""

from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError


class NotUtf8(MemRelayError):
    code = "NOT_UTF8"
    status = 422
    sentence = _("The document is not UTF-8 text (byte {position}).")
    hint = _("Save the file as UTF-8 and try again.")


class Unwritable(MemRelayError):
    code = "FRONTMATTER_VALUE"
    status = 422
    sentence = _("The value of {key} cannot be written into a Markdown file.")
    hint = _("Leave out NUL characters and halves of surrogate pairs.")


class HeadTooLarge(MemRelayError):
    code = "FRONTMATTER_TOO_LARGE"
    status = 422
    sentence = _("The metadata of one document may not exceed {limit} bytes.")
    hint = _("Put long text into the body.")
