"""No two documents claim one permalink: basic-memory would rewrite the second one's file (L-06)."""

from pathlib import Path
from typing import Any

import pytest

from apps.memories import documents, frontmatter
from apps.memories.models import Memory
from apps.memories.scopes import folder_of
from tests.memories.folder_world import fill, imported
from tests.memories.ledger_world import all_durable, edit_outside, file_of_saved, scanned
from tests.world import World

pytestmark = pytest.mark.django_db


def permalink_in(file: Path) -> str:
    return frontmatter.read(file.read_bytes()).text("permalink")


def test_a_moved_memory_claims_its_new_place_though_its_name_had_to_change(world: World) -> None:
    bob = world.bobs_agent
    bob.call("memory_save", title="Tea!", body="Already there.\n", scope="shared")
    tea = bob.call("memory_save", title="Tea", body="Comes along.\n")
    moved = bob.call("memory_move", memory_id=tea.memory_id, to_scope="shared")
    all_durable()
    assert permalink_in(file_of_saved(moved)) == "global/tea-2"


def test_a_permalink_of_another_program_stays_with_its_document_and_not_with_a_copy(
    world: World, settings: Any, tmp_path: Path
) -> None:
    settings.IMPORT_FOLDERS = [str(tmp_path)]
    imported(world, fill(tmp_path / "vault", {"Coffee.md": "---\npermalink: drinks/coffee\n---\nPour over.\n"}))
    coffee = Memory.objects.get(title="Coffee")
    world.alices_agent.call("memory_append", memory_id=coffee.stable_id, text="Slowly.")
    world.bobs_agent.call("memory_save", title="Any", body="So that the space is there.\n")
    all_durable()
    original = folder_of(coffee.scope_id) / coffee.path
    copy = folder_of("global/bob") / "memories" / "Coffee.md"
    edit_outside(copy, original.read_bytes())
    assert scanned("global/bob").found == 1
    all_durable()
    assert (permalink_in(original), permalink_in(copy)) == ("drinks/coffee", "profiles/bob/global/coffee")


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("drinks/coffee", True),
        ("coffee", True),
        ("global/coffee/brewing", True),
        ("global/another", False),
        ("projects/prj_1/coffee", False),
        ("", False),
    ],
)
def test_what_looks_like_a_permalink_of_ours_is_brought_up_to_date(world: World, told: str, kept: bool) -> None:
    saved = world.bobs_agent.call("memory_save", title="Coffee", body="Black.\n", scope="shared")
    memory = Memory.objects.get(stable_id=saved.memory_id)
    document = documents.stamped(f"---\npermalink: {told}\n---\nBlack.\n".encode(), memory, 2)
    assert frontmatter.read(document).text("permalink") == (told if kept else "global/coffee")
