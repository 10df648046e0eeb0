"""An empty folder filled from a remote (ACC-041): everything that Git had, and nothing that is not in order."""

import shutil
from pathlib import Path

import pytest
from django.conf import settings

from apps.memory_git.bootstrapping import bring
from apps.memory_git.credentials import address_at
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


def test_a_tree_with_anything_wrong_brings_nothing(mirrored, server):
    server.push_foreign(files={"global/memories/aux.md": "x"})
    empty()
    with pytest.raises(Exception, match="Windows reserves"):
        bring(address_at(server.url()), Access(), "main")
    assert not list(memories().iterdir())
    with pytest.raises(Exception, match="no branch other"):
        bring(address_at(server.url()), Access(), "other")


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
