"""``memory_import``: any folder of Markdown comes in once, whatever it holds, and is itself never changed."""

import os
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.memories.errors import FolderRefused
from apps.memories.models import Alias, FileIntent, LogicalOperation, Memory, MemoryRevision, ScopeCommit
from apps.memories.scopes import file_of
from apps.memories.services.jobs import start_import
from apps.memories.transfer import importing
from apps.memories.transfer.folders import as_position, place_at, place_of, source_files
from apps.memories.transfer.places import place_for
from tests.memories.folder_world import codes, fill, imported, read, snapshot, titles
from tests.memories.ledger_world import all_durable
from tests.secrets.made import TOKENS
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _any_folder(settings: Any, tmp_path: Path) -> None:
    settings.IMPORT_FOLDERS = [str(tmp_path / "outside")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "outside" / "vault"
    made.mkdir(parents=True)
    return made


def test_a_folder_becomes_memories_with_their_folders_titles_tags_and_exact_bodies(world: World, folder: Path) -> None:
    fill(
        folder,
        {
            "Tea house.md": "Green #tea and `#code`, see [[Kettle]]\r\n\r\n#123 #工具/水壶\n",
            "kitchen/Kettle.md": "---\naliases: [Water boiler]\ntags: iron, hot\n---\n# The kettle\n\nBoils. #hot\n",
            "kitchen/picture.png": b"\x89PNG",
            ".obsidian/app.md": "no note",
        },
    )
    before = snapshot(folder)
    job = imported(world, folder)
    assert (job.state, job.total, job.imported, job.skipped, job.reported) == ("completed", 2, 2, 0, 0)
    tea, kettle = read(world, "Tea house"), read(world, "The kettle")
    assert tea.path == "memories/Tea house.md" and kettle.path == "memories/kitchen/Kettle.md"
    assert tea.body == "Green #tea and `#code`, see [[Kettle]]\r\n\r\n#123 #工具/水壶\n"
    assert tea.tags == ["tea", "工具/水壶"] and kettle.tags == ["iron", "hot"]
    assert world.alices_agent.call("memory_get", memory_id="Water boiler").memory_id == kettle.memory_id
    assert world.alices_agent.call("memory_get", memory_id="Kettle").memory_id == kettle.memory_id
    assert snapshot(folder) == before


def test_an_import_is_one_closed_operation_of_several_commits(
    world: World, folder: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SAVE_MANY = 3
    monkeypatch.setattr(importing, "BATCH_SECONDS", 1e6)  # A slow moment would make batches smaller.
    fill(folder, {f"note {number:02}.md": f"text {number}\n" for number in range(8)})
    job = imported(world, folder)
    operation = LogicalOperation.objects.get(pk=job.operation_id)
    assert (operation.state, operation.job_id, operation.name) == ("closed", job.job_id, "memory_import")
    assert list(ScopeCommit.objects.filter(operation=operation).values_list("changes", flat=True)) == [3, 3, 2]
    assert Memory.objects.count() == 8
    assert not FileIntent.objects.filter(state="blocked").exists()
    assert all(file_of(memory.scope_id, memory.path).is_file() for memory in Memory.objects.all())


def test_foreign_frontmatter_stays_as_it_was_and_what_is_broken_is_told(world: World, folder: Path) -> None:
    """Reported failure 11: unknown keys, quotes inside quotes, a rule on line 1, a byte-order mark; then a tag changes."""
    head = '# mine\nzebra: 1\ndescription: "abc "def" ghi"\nalpha: {x: [1, 2]}  # why\n'
    fill(
        folder,
        {
            "broken.md": f"---\n{head}---\nBody\n",
            "rule.md": "---\n\nA rule comes first.\n",
            "bom.md": b"\xef\xbb\xbf---\ncssclass: wide\n---\nWith a mark.\n",
            "summary.md": '---\nsummary: "one "two" three"\ntitle: "He said "no""\n---\nBody\n',
        },
    )
    job = imported(world, folder)
    assert codes(job) == {"broken.md": "broken_frontmatter", "summary.md": "broken_frontmatter"}
    assert job.imported == 4
    for title in ("broken", "rule", "bom", 'He said "no"'):
        memory = read(world, title)
        world.alices_agent.call("memory_update", memory_id=memory.memory_id, revision=1, tags=["changed"])
    broken = file_of("global/shared", "memories/broken.md").read_text()
    assert broken.startswith(f"---\n{head}stable_id:") and broken.count("\n---\n") == 1 and "  - changed" in broken
    assert file_of("global/shared", "memories/rule.md").read_text().endswith("---\n---\n\nA rule comes first.\n")
    bom = file_of("global/shared", "memories/bom.md").read_bytes()
    assert bom.startswith(b"\xef\xbb\xbf---\ncssclass: wide\n") and bom.count(b"\xef\xbb\xbf") == 1
    assert 'summary: "one "two" three"\n' in file_of("global/shared", "memories/summary.md").read_text()


def test_bad_files_are_told_with_path_and_reason_and_left_alone(world: World, folder: Path, settings: Any) -> None:
    settings.IMPORT_FILE_BYTES = 4000
    fill(
        folder,
        {
            "good.md": "fine\n",
            "latin.md": "Gr\xfc\xdfe".encode("latin-1"),
            "nul.md": b"a\0b",
            "large.md": "x" * 4001,
            "secret.md": f"The key is {TOKENS['memrelay-token']}\n",
        },
    )
    (folder / "link.md").symlink_to(folder / "good.md")
    (folder / "linked").symlink_to(folder.parent)
    (folder / "fifo.md").mkdir()
    before = snapshot(folder)
    job = imported(world, folder)
    assert codes(job) == {
        "latin.md": "not_utf8",
        "nul.md": "not_text",
        "large.md": "too_large",
        "secret.md": "secret",
        "link.md": "symlink",
        "linked": "symlink",
    }
    assert (job.imported, job.skipped, job.done, job.total) == (1, 6, 7, 7)
    assert all(told.reason.endswith(".") for told in job.reports)
    assert TOKENS["memrelay-token"] not in job.model_dump_json()
    assert snapshot(folder) == before and list(titles(world)) == ["good"]


def test_only_the_first_reports_are_kept_and_the_rest_is_counted(world: World, folder: Path) -> None:
    fill(folder, {f"{number:03}.md": b"\xff" for number in range(230)})
    job = imported(world, folder)
    assert (len(job.reports), job.reported, job.skipped, job.state) == (200, 230, 230, "completed")


def test_a_second_import_does_nothing_twice(world: World, folder: Path) -> None:
    fill(folder, {"a.md": "one\n", "b/c.md": "two\n"})
    imported(world, folder)
    again = imported(world, folder)
    assert (again.imported, again.updated, again.unchanged) == (0, 0, 2)
    assert Memory.objects.count() == 2 and MemoryRevision.objects.count() == 2
    assert ScopeCommit.objects.count() == 1


def test_a_changed_file_becomes_the_next_revision(world: World, folder: Path) -> None:
    fill(folder, {"a.md": "---\ntags: [x]\n---\none\n", "b.md": "same\n"})
    imported(world, folder)
    first = read(world, "a")
    fill(folder, {"a.md": "---\ntags: [y]\n---\ntwo\n"})
    job = imported(world, folder)
    assert (job.imported, job.updated, job.unchanged) == (0, 1, 1)
    second = read(world, "a")
    assert (second.memory_id, second.revision, second.body, second.tags) == (first.memory_id, 2, "two\n", ["y"])
    third = imported(world, folder)
    assert (third.updated, third.unchanged) == (0, 2)


def test_what_was_changed_on_both_sides_is_kept_twice(world: World, folder: Path) -> None:
    fill(folder, {"a.md": "one\n"})
    imported(world, folder)
    mine = read(world, "a")
    world.alices_agent.call("memory_update", memory_id=mine.memory_id, revision=1, body="mine\n")
    fill(folder, {"a.md": "theirs\n"})
    job = imported(world, folder)
    assert (job.imported, job.updated) == (1, 0) and codes(job) == {"a.md": "changed_on_both_sides"}
    bodies = {
        memory.path: world.alices_agent.call("memory_get", memory_id=memory.memory_id).body for memory in _listed(world)
    }
    assert bodies == {"memories/a.md": "mine\n", "memories/a-2.md": "theirs\n"}
    assert imported(world, folder).unchanged == 1


def test_an_edit_in_the_memorys_own_file_counts_as_a_change_here(world: World, folder: Path) -> None:
    fill(folder, {"a.md": "one\n"})
    imported(world, folder)
    all_durable()
    file = file_of("global/shared", "memories/a.md")
    file.write_text(file.read_text().replace("one", "edited outside"))
    os.utime(file, (1, 1))
    fill(folder, {"a.md": "theirs\n"})
    job = imported(world, folder)
    assert codes(job) == {"a.md": "changed_on_both_sides"}
    bodies = sorted(world.alices_agent.call("memory_get", memory_id=memory.memory_id).body for memory in _listed(world))
    assert bodies == ["edited outside\n", "theirs\n"]


def test_a_memory_deleted_here_stays_deleted_until_its_file_changes(world: World, folder: Path) -> None:
    fill(folder, {"a.md": "one\n"})
    imported(world, folder)
    world.alices_agent.call("memory_delete", memory_id=read(world, "a").memory_id)
    job = imported(world, folder)
    assert (job.unchanged, codes(job)) == (1, {"a.md": "deleted_here"}) and not titles(world)
    fill(folder, {"a.md": "two\n"})
    assert imported(world, folder).imported == 1
    assert read(world, "a").body == "two\n"


def test_both_unicode_forms_of_a_name_are_one_memory(world: World, folder: Path) -> None:
    """Reported failure 15: NFC at the first import, NFD at the next."""
    name = "01_ナレッジベース Übung"
    file = folder / f"{unicodedata.normalize('NFC', name)}.md"
    file.write_text("text\n")
    imported(world, folder)
    file.rename(folder / f"{unicodedata.normalize('NFD', name)}.md")
    assert imported(world, folder).unchanged == 1
    memory = read(world, name)
    assert memory.path == f"memories/{name}.md" and Memory.objects.count() == 1
    fill(folder, {f"{name}.md": "text\n"})
    job = imported(world, folder)
    assert (job.unchanged, job.skipped, [told.code for told in job.reports]) == (1, 1, ["name_twice"])


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
def test_row_15_a_note_in_either_form_is_found_linked_and_fetched_in_both(
    world: World, folder: Path, form: str, asked: str
) -> None:
    """Title, folder, tags, other names and links each in one form; looked for, linked to and read in the other."""
    kept, other = (lambda text: unicodedata.normalize(form, text)), (lambda text: unicodedata.normalize(asked, text))
    head = "---\ntitle: 01_ナレッジベース Übung\ntags: [Öl, ガス]\naliases: [Prüfung Ä]\n---\n"
    fill(
        folder,
        {
            kept("Ordner Ü/ザ Notiz.md"): kept(f"{head}Der Körper. がぎ\n"),
            "Andere.md": other("Siehe [[01_ナレッジベース Übung]], [[ザ Notiz]] und [[Prüfung Ä]].\n"),
        },
    )
    imported(world, folder)
    caller = world.alices_agent
    note = read(world, "01_ナレッジベース Übung")
    assert note.title == "01_ナレッジベース Übung" and note.tags == ["Öl", "ガス"]
    assert note.path == "memories/Ordner Ü/ザ Notiz.md"
    for name in (note.slug, note.path, "Prüfung Ä"):
        assert caller.call("memory_get", memory_id=other(name)).memory_id == note.memory_id
    for words in ("Übung", "ナレッジベース", "Körper", "がぎ"):
        found = caller.call("memory_search", query=other(words)).results
        assert note.memory_id in [hit.memory_id for hit in found], words
    assert [hit.memory_id for hit in caller.call("memory_list", tags=[other("öl"), other("ガス")]).memories] == [
        note.memory_id
    ]
    links = caller.call("memory_links", memory_id="Andere").links_to
    assert {link.memory.memory_id for link in links} == {note.memory_id} and len(links) == 3
    assert note.body == kept("Der Körper. がぎ\n")  # Every byte of a text survives.
    renamed = folder / kept("Ordner Ü/ザ Notiz.md")
    renamed.parent.rename(folder / other("Ordner Ü"))
    assert imported(world, folder).unchanged == 2 and Memory.objects.count() == 2


def test_equal_titles_and_colliding_names_are_all_kept(world: World, folder: Path) -> None:
    fill(
        folder,
        {"a/x.md": "# Same\n1", "b/x.md": "# Same\n2", "Case.md": "3", "case.md": "4", "con.md": "5", "what?.md": "6"},
    )
    job = imported(world, folder)
    assert (job.imported, job.reported) == (6, 0)
    paths = sorted(memory.path for memory in _listed(world))
    expected = ["_con", "Case", "case-2", "what-", "a/x", "b/x"]
    assert paths == sorted(f"memories/{name}.md" for name in expected)
    assert len({memory.slug for memory in _listed(world)}) == 6


def test_an_alias_never_takes_the_name_of_another_file(world: World, folder: Path) -> None:
    fill(folder, {"a.md": "---\naliases: [Zoo, Other]\n---\nA\n", "zoo.md": "the zoo\n"})
    imported(world, folder)
    assert world.alices_agent.call("memory_get", memory_id="zoo").body == "the zoo\n"
    assert world.alices_agent.call("memory_get", memory_id="other").body == "A\n"
    assert set(Alias.objects.values_list("slug_key", flat=True)) == {"other"}


def test_a_full_folder_gets_a_successor(world: World, folder: Path, settings: Any) -> None:
    settings.FOLDER_FILES = 2
    fill(folder, {f"d/{number}.md": f"{number}" for number in range(5)} | {f"{number}.md": "x" for number in range(3)})
    imported(world, folder)
    folders = sorted(memory.path.rpartition("/")[0] for memory in _listed(world))
    assert folders == [
        "memories",
        "memories",
        "memories/d",
        "memories/d",
        *["memories/d-2"] * 2,
        "memories/d-3",
        "memories/more-2",
    ]


def test_a_workspace_gets_its_own_import(world: World, folder: Path) -> None:
    fill(folder, {"a.md": "one\n"})
    job = imported(world, folder, project_id=world.workspace.slug)
    assert job.scope == f"project/{world.workspace.pk}" and job.project_id == world.workspace.pk
    assert imported(world, folder).imported == 1  # Another scope is another import.


def test_basic_memorys_permalink_and_observations_stay(world: World, folder: Path) -> None:
    head = "---\ntitle: Coffee\ntype: note\npermalink: drinks/coffee-brewing\n---\n"
    body = "# Coffee\n\n- [method] Pour over #slow (best)\n- relates_to [[Tea]]\n"
    fill(folder, {"drinks/Coffee.md": head + body})
    imported(world, folder)
    memory = read(world, "Coffee")
    assert memory.body == body
    document = file_of("global/shared", memory.path).read_text()
    assert "permalink: drinks/coffee-brewing\n" in document and "type: note\n" in document
    assert world.alices_agent.call("memory_get", memory_id="coffee-brewing").memory_id == memory.memory_id


def test_a_folder_outside_the_allowed_ones_is_refused_without_telling_whether_it_exists(
    world: World, tmp_path: Path, folder: Path
) -> None:
    fill(tmp_path / "private", {"a.md": "x"})
    (folder.parent / "way out").symlink_to(tmp_path / "private")
    told = set()
    for place in ("private", "nowhere", "outside/way out", "outside/../private"):
        answer = world.alices_agent.rest.post("/memories/import", folder=str(tmp_path / place))
        told.add((answer.status_code, answer.json()["error"]["message"]))
    assert len(told) == 1 and told.pop()[0] == 422
    assert world.bobs_agent.rest.post("/memories/import", folder=str(folder)).status_code == 403
    assert world.alices_agent.rest.post("/memories/import", folder=str(folder / "none")).status_code == 422


def test_the_servers_own_folder_is_no_source(world: World, data_folder: Path) -> None:
    world.alices_agent.call("memory_save", title="Tea", body="x")
    for place in (data_folder, data_folder / "basic-memory" / "memories" / "global"):
        with pytest.raises(FolderRefused):
            start_import(world.operator, str(place), "global/shared")


def test_the_command_shows_progress_and_tells_of_files(world: World, folder: Path, capsys: Any, settings: Any) -> None:
    settings.IMPORT_FOLDERS = []
    fill(folder, {"a.md": "one\n", "bad.md": b"\xff"})
    call_command("memory_import", str(folder), project=world.workspace.slug)
    shown = capsys.readouterr()
    assert "bad.md: The file is not UTF-8 text" in shown.out
    assert "Imported 1, updated 0, unchanged 0, left out 1." in shown.out
    assert "2 of 2 files" in shown.err


def test_positions_follow_the_order_of_files(tmp_path: Path) -> None:
    fill(tmp_path, {name: "" for name in ("a/z.md", "a.md", "a b/c.md", "a-b.md", "ü/1.md", "B.md", "é%20.md")})
    paths = [file.path for file in source_files(tmp_path)]
    assert sorted(paths, key=place_of) == paths
    assert all(place_at(as_position(path)) == place_of(path) for path in paths)
    assert all(place_at("") < place_of(path) for path in paths)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("a.md", "memories/a.md"),
        ("a.markdown", "memories/a.md"),
        ("memories/2026/11/x.md", "memories/2026/11/x.md"),
        ("dir/.hidden.md", "memories/dir/hidden.md"),
        ('a/"b": c|d?.md', "memories/a/-b-- c-d-.md"),
        ("nul.dir/PROGRA~1.md", "memories/_nul.dir/PROGRA-1.md"),
        ("trailing. /x .md", "memories/trailing/x.md"),
        ("u\u0308ber/\u202ex.md", "memories/über/x.md"),
        ("é" * 200 + ".md", "memories/" + "é" * 100 + ".md"),
        ("/".join(["deep" * 20] * 15) + "/x.md", None),
    ],
)
def test_names_become_fit_for_every_system(path: str, place: str | None) -> None:
    assert place_for(path) == place


def _listed(world: World) -> list[Any]:
    return world.alices_agent.call("memory_list", limit=200).memories
