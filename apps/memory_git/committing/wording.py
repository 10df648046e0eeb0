"""What a commit says: a subject people can read, and trailers a program can (GIT-052, GIT-053)."""

from collections.abc import Sequence

from apps.base.text import clean_line
from apps.memories.documents import is_clean
from apps.memories.models import LogicalOperation
from apps.memory_git.committing.gathering import End

SUBJECT_CHARACTERS = 72
NAMED = 20  # So many documents are named one by one.
OPERATION, PREFIX = "MemRelay-Operation", "MemRelay-"
VERBS = {
    "save": "Save",
    "update": "Update",
    "append": "Append to",
    "archive": "Archive",
    "unarchive": "Take out of the archive",
    "delete": "Delete",
    "vanished": "Delete",
    "restore": "Restore",
    "revert": "Revert",
    "move": "Move",
    "external": "Take in an outside edit of",
    "identity": "Take in an outside edit of",
    "kept": "Keep",
    "curate": "Curate",
    "version_restore": "Restore an older version of",
}


def subject_of(operation: LogicalOperation, ends: Sequence[End]) -> str:
    """One line: what was done, to what."""
    deed = operation.name.replace("_", " ").capitalize()
    if len(ends) == 1 and ends[0].action in VERBS:
        name = "a document that is kept out" if ends[0].withheld else ends[0].title
        line = f"{VERBS[ends[0].action]} {name}"
    elif ends:
        line = f"{deed}: {len(ends)} document{'s' if len(ends) > 1 else ''}"
    else:
        line = deed
    return _short(line)


def message_of(
    subject: str, operation: LogicalOperation, scopes: Sequence[str], ids: Sequence[str], withheld: Sequence[str]
) -> str:
    """Subject, reason and trailers. A value never spans lines, so none can pass itself off as a trailer."""
    reason = clean_line(operation.reason) if is_clean(operation.reason.encode()) else ""
    body = [f"Withheld: {clean_line(path)}" for path in withheld]
    trailers = [(OPERATION, operation.pk), ("MemRelay-Kind", operation.name)]
    trailers += [("MemRelay-Workspace", scope.removeprefix("project/")) for scope in scopes if "project/" in scope]
    trailers += [("MemRelay-Memory", stable_id) for stable_id in ids[:NAMED]]
    if len(ids) > NAMED:
        trailers.append(("MemRelay-Documents", str(len(ids))))
    if operation.job_id:
        name = "MemRelay-Curation-Job" if operation.origin == "curation" else "MemRelay-Job"
        trailers.append((name, operation.job_id))
    trailers += [("MemRelay-Caller", operation.origin), ("MemRelay-Actor", operation.actor)]
    told = "\n".join(f"{name}: {value}" for name, text in trailers if (value := clean_line(text)))
    return "\n\n".join(part for part in (subject, reason, "\n".join(body), told) if part) + "\n"


def operation_in(message: bytes) -> str:
    """The operation a commit names in its trailers; empty where it names none."""
    return trailers_in(message).get("Operation", "")


def trailers_in(message: bytes) -> dict[str, str]:
    """Our trailers, by their names without the prefix; of a repeated one the last."""
    last = message.decode("utf-8", "replace").rstrip().rpartition("\n\n")[2]
    pairs = [line.partition(": ") for line in last.splitlines() if line.startswith(PREFIX)]
    return {name.removeprefix(PREFIX): value.strip() for name, _colon, value in pairs}


def _short(line: str) -> str:
    line = clean_line(line)
    return line if len(line) <= SUBJECT_CHARACTERS else f"{line[: SUBJECT_CHARACTERS - 1].rstrip()}…"
