"""Refusals as people read them: operations advise agents, who call tools; a page has buttons."""

from collections.abc import Iterable

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError

ADVICE: dict[str, Promise] = {
    "TITLE_TAKEN": _("Choose another title, or edit the memory that has this one."),
    "REVISION_CONFLICT": _("Somebody changed it in the meantime. Reload the page and try again."),
    "FILE_UNSETTLED": _("Another program is writing its file. Try again in a few seconds."),
    "WRONG_STATE": _("Reload the page to see how it stands now."),
    "WRONG_RESOURCE": _("Checkpoints and curated documents cannot be put away like memories."),
    "CREDENTIAL_DETECTED": _("Take the secret out of the text. A memory is read by agents and models."),
    "PROJECT_TAKEN": _("Open the workspace that has it, or choose another one."),
    "WRONG_PASSWORD": _("Check both. Forgotten passwords are reset on the server with manage.py password_reset."),
    "CURSOR_INVALID": _("Go back to the first page of the list."),
}

WARNINGS: dict[str, Promise] = {
    "secret_withheld": _(
        "Its file holds something that looks like a secret, so it is kept out of search, recall, curation and Git."
    ),
    "file_missing": _("Its file is not in the folder. What you see is the last text MemRelay knows."),
    "file_too_large": _("Its file has grown too large to read in. What you see is the last text MemRelay knows."),
    "unsettled": _("Its file is being edited outside MemRelay right now. Reload in a moment to see the new text."),
    "file_pending": _("It is saved. Its file is written as soon as the folder can be written to."),
    "outside_edit_kept": _("Its file had been edited outside MemRelay; that text is kept as a revision of its own."),
    "headings_broken": _("Its headings were changed outside MemRelay, so the text is shown as it stands in the file."),
}

INCOMPLETE: dict[str, Promise] = {
    "DEPTH_LIMIT": _("More memories match than are shown. Narrow the search to see the others."),
    "INDEX_REBUILDING": _("The index is being made anew, so that some memories may be missing here."),
    "OUTSIDE_CHANGES_PENDING": _("Files changed outside MemRelay are being read in. Search again in a moment."),
    "CURSOR_STALE": _("Something changed since the first page, so that results may repeat or be missing."),
    "QUERY_SHORTENED": _("The search was very long; only its first words were looked for."),
    "SEMANTIC_STARTING": _(
        "The search by meaning is starting. These are the matches by words; search again in a moment."
    ),
    "SEMANTIC_UNAVAILABLE": _("The search by meaning does not answer. These are the matches by words."),
    "VECTORS_PENDING": _("Some new texts are found by their words only, until their meaning has been read in."),
}


def advice_for(error: MemRelayError) -> str:
    """What a person can do about a refusal; empty where its sentence says it all."""
    told = ADVICE.get(error.code)
    return str(told) if told is not None else error.advice


def told(error: MemRelayError) -> str:
    """A refusal and what to do about it, for a notice that has one line."""
    return f"{error} {advice_for(error)}".strip()


def warnings_of(codes: Iterable[str]) -> list[str]:
    return [str(WARNINGS.get(code, code)) for code in codes]


def incomplete_because(reason: str | None) -> str:
    return str(INCOMPLETE.get(reason, reason)) if reason else ""
