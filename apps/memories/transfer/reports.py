"""What is told of single files: a row keeps path and code, people read a sentence in their own language."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

REPORTS = 200  # Of one job; the rest is counted.

SENTENCES: Mapping[str, str | Promise] = {
    "not_utf8": _("The file is not UTF-8 text, so it was left out (byte {detail})."),
    "not_text": _("The file holds NUL characters, so it is no text and was left out."),
    "too_large": _("The file is larger than an import takes, so it was left out ({detail} bytes)."),
    "secret": _("The file holds a secret, so it was left out ({detail})."),
    "unreadable": _("The server could not read it, so it was left out."),
    "symlink": _("It is a symbolic link; those are not followed."),
    "name_not_utf8": _("The file's name is not UTF-8, so it was left out."),
    "name_twice": _("Another file has the same name in another Unicode form, so this one was left out."),
    "vanished": _("The file was gone when its turn came."),
    "refused": _("The file could not be stored: {detail}"),
    "unsettled": _("The memory's own file is being edited right now, so nothing was changed."),
    "broken_frontmatter": _("Imported as it is; part of its frontmatter cannot be read ({detail})."),
    "changed_on_both_sides": _(
        "It was changed in the folder and also here since it was last imported; both are kept, the folder's as {detail}."
    ),
    "deleted_here": _("Its memory {detail} was deleted here and stays deleted, since the file has not changed."),
    "id_taken": _("A memory with the id in this file exists already; the file became {detail}."),
    "exists": _("Another file lies in its place, so it was not written."),
    "no_text": _("Its file and text could not be read, so it was not written."),
}


def report(path: str, code: str, detail: str = "") -> dict[str, str]:
    return {"path": path[:900], "code": code, "detail": detail[:300]}


def sentence(told: Mapping[str, str]) -> str:
    """A report in the reader's language. The detail is never a secret, a host path or a text."""
    return str(SENTENCES.get(told["code"], told["code"])).replace("{detail}", told.get("detail", ""))
