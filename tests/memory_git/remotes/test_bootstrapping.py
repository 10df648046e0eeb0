"""An empty folder filled from a remote (ACC-041): everything that Git had, and nothing that is not in order."""

import io
import shutil
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

from apps.memory_git.importing.bootstrapping import bring, look
from apps.memory_git.mirror.credentials import address_at
from apps.memory_git.remotes.access import Access
from tests.memory_git.conftest import git
from tests.world import call

pytestmark = pytest.mark.django_db


@pytest.fixture
def mirrored(memory_git, save, server, world):
    server.create()
    server.connect()
    memory_git.on()
    save("Shared note")
    save("Relay note", project_id=world.workspace.pk, scope="")
    memory_git.work()
    return memory_git


def memories() -> Path:
    return Path(settings.MEMORIES_FOLDER)


def empty() -> None:
    shutil.rmtree(memories())
    memories().mkdir()


def test_acc_041_files_and_history_come_back_as_they_were(mirrored, server):
    before = {path: (memories() / path).read_bytes() for path in mirrored.files()}
    subjects = mirrored.subjects()
    empty()
    brought = bring(address_at(server.url()), Access(), "main")
    assert {path: (memories() / path).read_bytes() for path in mirrored.files()} == before
    assert (mirrored.subjects(), brought.commits, brought.documents) == (subjects, len(subjects), 2)
    assert git(memories(), "rev-parse", "main").strip() == brought.commit
    assert mirrored.is_sound()
    assert not list(Path(settings.STATE_FOLDER).glob("git-staging/*"))


def test_a_folder_that_is_in_use_is_left_alone(mirrored, server):
    before = mirrored.subjects()
    with pytest.raises(Exception, match="nothing was brought in"):
        bring(address_at(server.url()), Access(), "main")
    assert mirrored.subjects() == before


def test_a_tree_that_could_do_harm_brings_nothing(mirrored, server):
    server.push_foreign(files={"global/memories/..\\evil.md": "x"})
    empty()
    for doing in (look, bring):
        with pytest.raises(Exception, match="leads out of its folder"):
            doing(address_at(server.url()), Access(), "main")
        assert not list(memories().iterdir())
    with pytest.raises(Exception, match="no branch other"):
        bring(address_at(server.url()), Access(), "other")


ODD, BROKEN = "global/memories/what is this?.md", "global/memories/broken.md"
TEXT = "---\nstable_id: mem_01hzzzzzzzzzzzzzzzzzzzzzz{last}\ntitle: {title}\n{more}---\n\nBody.\n"


@pytest.fixture
def out_of_order(mirrored, server):
    """The mirror has a document with an odd name and one with a broken head besides."""
    files = {
        ODD: TEXT.format(last="o", title="Odd", more=""),
        BROKEN: TEXT.format(last="b", title="Broken", more="tags: [a\n"),
    }
    server.push_foreign(files=files)
    return mirrored


def test_what_is_not_in_order_is_left_out_by_name_and_the_rest_comes(out_of_order, server):
    before = set(out_of_order.files())
    empty()
    seen = look(address_at(server.url()), Access(), "main")
    assert not list(memories().iterdir())
    brought = bring(address_at(server.url()), Access(), "main")
    assert brought == seen
    assert [one.told() for one in brought.left_out] == [
        {"path": BROKEN, "what": "broken_frontmatter"},
        {"path": ODD, "what": "windows_name"},
    ]
    assert brought.documents == 2
    written = {str(path.relative_to(memories())) for path in memories().rglob("*.md")}
    assert written == {path for path in before if path.endswith(".md")}


def test_the_command_tells_before_what_would_be_left_out(out_of_order, server, monkeypatch, capsys):
    empty()
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    call_command("git_bootstrap", server.url(), "--dry-run")
    told = capsys.readouterr().out
    assert "2 documents" in told and "Nothing was changed." in told
    assert f"{ODD}: left out (a name that Windows reserves)." in told
    assert not list(memories().iterdir())


def test_what_was_left_out_goes_on_lying_in_the_mirror(out_of_order, server, save):
    from apps.memory_git.models import GitCommit, GitSyncJob, MemoryRepository

    empty()
    bring(address_at(server.url()), Access(), "main")
    out_of_order.off()
    GitSyncJob.objects.all().delete()
    GitCommit.objects.all().delete()
    MemoryRepository.objects.all().delete()
    out_of_order.on()
    save("After the cold start")
    out_of_order.work()
    there = git(server.folder / "memory.git", "ls-tree", "-r", "-z", "--name-only", "main").split("\0")
    assert {ODD, BROKEN} < set(there)
    assert server.subjects()[-1] == "Save After the cold start"


def test_after_a_cold_start_pushing_goes_on_where_it_was(mirrored, server, world, save):
    """The database knows nothing of the history; the next commits come after it all the same."""
    from apps.memory_git.models import GitCommit, GitSyncJob, MemoryRepository

    before = server.subjects()
    empty()
    bring(address_at(server.url()), Access(), "main")
    mirrored.off()
    GitSyncJob.objects.all().delete()
    GitCommit.objects.all().delete()
    MemoryRepository.objects.all().delete()
    mirrored.on()
    save("After the cold start")
    mirrored.work()
    assert server.subjects()[: len(before)] == before
    assert server.subjects()[-1] == "Save After the cold start"
    assert call(world.operator, "memory_repository_status").state == "ready"
