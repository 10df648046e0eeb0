"""The console calls operations (D-42): what a page can do, REST, MCP and the command line can do too."""

import ast
from importlib import import_module
from pathlib import Path

import pytest
from django.conf import settings

from apps.operations.operation import Operation

CONSOLE = settings.PROJECT_FOLDER / "apps" / "console"
FILES = sorted(CONSOLE.rglob("*.py"))
# Signing in is no operation, and neither is what a session has chosen; differences and excerpts are pure.
NO_OPERATIONS = {
    "apps.accounts.models": {"User"},
    "apps.accounts.sessions": {
        "administers",
        "caller_for_session",
        "choose_profile",
        "chosen_profile",
        "profiles_to_choose",
    },
    "apps.accounts.signing_in": {"password_change", "sign_in", "sign_out"},
    "apps.memories.differences": {"difference"},
    "apps.search.excerpts": {"excerpt"},
    "apps.memory_git.trees.problems": {"Problem"},
}
FREE = ("apps.base.", "apps.console.", "apps.operations.")  # Storeys below that know no rows, and the room itself.
ROWS = {"objects", "_default_manager", "_base_manager", "save", "bulk_create", "bulk_update", "raw"}


def name_of(file: Path) -> str:
    return file.relative_to(CONSOLE).as_posix()


def imports_of(file: Path) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found += [(node.module or "", alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
    return found


def is_allowed(module: str, name: str) -> bool:
    if module.startswith("django.db"):
        return False
    if not module.startswith("apps.") or module.startswith(FREE):
        return True
    if name in NO_OPERATIONS.get(module, ()):
        return True
    if module.endswith((".errors", ".schemas", "_schemas")):
        return True  # Words and refusals.
    return module.endswith((".selectors", ".services", "_deeds")) and isinstance(
        getattr(import_module(module), name), Operation
    )


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_page_reaches_other_rooms_through_operations_only(file: Path) -> None:
    assert [told for told in imports_of(file) if not is_allowed(*told)] == []


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_page_touches_no_rows(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in ROWS] == []


def test_the_rule_would_notice() -> None:
    assert not is_allowed("apps.memories.models", "Memory")
    assert not is_allowed("apps.memories.doors", "memory_for")
    assert not is_allowed("apps.memories.selectors.memories", "memory_get")
    assert not is_allowed("apps.workspaces.selectors", "project_for")
    assert not is_allowed("django.db", "transaction")
    assert is_allowed("apps.workspaces.selectors", "project_get")
