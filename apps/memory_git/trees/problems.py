"""What can be wrong with a tree and its names, and which of it leaves out no more than one file."""

import unicodedata

from django.db import models
from django.utils.translation import gettext_lazy as _
from dulwich.index import validate_path_element_hfs, validate_path_element_ntfs

from apps.memory_git.errors import UnsafeTree

WINDOWS = frozenset(
    ["con", "prn", "aux", "nul", *(f"{kind}{number}" for kind in ("com", "lpt") for number in range(1, 10))]
)
UNSEEN = ("Cc", "Cf", "Cs")  # Control characters and what turns text around.
LONGEST_NAME = 255


class Problem(models.TextChoices):
    """What can be wrong with a tree: a word for programs, and one for people."""

    BAD_NAME = "bad_name", _("a name that leads out of its folder")
    DOTGIT = "dotgit", _("a name that stands for .git")
    NOT_UTF8 = "not_utf8", _("a name that is no UTF-8")
    NAME_TOO_LONG = "name_too_long", _("a name that is too long")
    CONTROL_CHARACTER = "control_character", _("a control character in a name")
    TRAILING_DOT_OR_SPACE = "trailing_dot_or_space", _("a name that ends with a dot or a space")
    WINDOWS_NAME = "windows_name", _("a name that Windows reserves")
    SUBMODULE = "submodule", _("a submodule")
    SYMLINK = "symlink", _("a symbolic link")
    BAD_MODE = "bad_mode", _("an entry that is neither file nor folder")
    CASE_TWINS = "case_twins", _("two names that are one on other systems")
    TOO_DEEP = "too_deep", _("folders inside each other too deeply")
    TOO_MANY_ENTRIES = "too_many_entries", _("too many entries")
    PATH_TOO_LONG = "path_too_long", _("a path that is too long")
    TOO_LARGE = "too_large", _("a file that is too large")
    TREE_TOO_LARGE = "tree_too_large", _("more bytes than are let in")
    DAMAGED = "damaged", _("an object that is missing or damaged")
    NOT_TEXT = "not_text", _("a document that is no UTF-8")
    BROKEN_FRONTMATTER = "broken_frontmatter", _("frontmatter that cannot be read")
    NO_ID = "no_id", _("a document without a usable stable_id")
    DUPLICATE_ID = "duplicate_id", _("a stable_id that two documents have")
    WRONG_MODE = "wrong_mode", _("a layout of the other strategy")


# Of a tree from outside: they concern one file, which does no harm as long as nobody writes it.
LEFT_OUT = frozenset(
    [
        *(Problem.NOT_UTF8, Problem.NAME_TOO_LONG, Problem.PATH_TOO_LONG, Problem.CONTROL_CHARACTER),
        *(Problem.TRAILING_DOT_OR_SPACE, Problem.WINDOWS_NAME, Problem.CASE_TWINS, Problem.TOO_LARGE),
        *(Problem.NOT_TEXT, Problem.BROKEN_FRONTMATTER, Problem.NO_ID, Problem.DUPLICATE_ID),
    ]
)


def unsafe(problem: Problem, path: str) -> UnsafeTree:
    return UnsafeTree(problem=problem.label, what=problem.value, path=readable(path))


def readable(path: str) -> str:
    """A path for people: what would steer a terminal or turn the text around is spelled out."""
    return "".join(
        character.encode("unicode_escape").decode() if unicodedata.category(character) in UNSEEN else character
        for character in path
    )


def problem_of(name: bytes, *, strict: bool = True) -> Problem | None:
    """What is wrong with one name of a tree, if anything; ``strict``: on any system, not only on this one."""
    if name in (b"", b".", b"..") or b"/" in name or b"\0" in name or (strict and _leads_out(name)):
        return Problem.BAD_NAME
    if len(name) > LONGEST_NAME:
        return Problem.NAME_TOO_LONG
    try:
        text = name.decode()
    except UnicodeDecodeError:
        return Problem.NOT_UTF8
    if not validate_path_element_ntfs(name) or not validate_path_element_hfs(name):
        return Problem.DOTGIT
    if text.lower() == ".gitmodules":
        return Problem.SUBMODULE
    return _problem_elsewhere(text) if strict else None


def _leads_out(name: bytes) -> bool:
    """Where a backslash parts folders."""
    return name.startswith(b"\\") or b".." in name.split(b"\\")


def _problem_elsewhere(text: str) -> Problem | None:
    if any(unicodedata.category(character) in UNSEEN for character in text):
        return Problem.CONTROL_CHARACTER
    if text != text.rstrip(" ."):
        return Problem.TRAILING_DOT_OR_SPACE
    if text.partition(".")[0].lower() in WINDOWS or any(character in '<>:"|?*\\' for character in text):
        return Problem.WINDOWS_NAME
    return None
