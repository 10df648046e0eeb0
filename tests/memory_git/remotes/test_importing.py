"""A diverged remote is looked at in a staging area and taken in by choice (ACC-042, MCP-061, MCP-062)."""

from pathlib import Path

import pytest
from django.conf import settings

from apps.memory_git.models import GitDeed
from tests.memory_git.conftest import git
from tests.world import call

pytestmark = pytest.mark.django_db

NEW_ID = "mem_01hzzzzzzzzzzzzzzzzzzzzzzz"


def text_of(stable_id: str, title: str, body: str) -> str:
    return f"---\nstable_id: {stable_id}\ntitle: {title}\ntype: memory\npermalink: {title.lower()}\n---\n\n{body}\n"


@pytest.fixture
def diverged(memory_git, save, server, repository, world):
    """Ours and theirs both went on after two saves; theirs changed one document and has a new one."""
    server.create()
    server.connect()
    memory_git.on()
    kept, changed = save("Kept"), save("Changed")
    memory_git.work()
    files = {
        path.rpartition("/")[2]: path
        for path in git(server.folder / "memory.git", "ls-tree", "-r", "--name-only", "main").splitlines()
    }
    theirs = git(server.folder / "memory.git", "show", f"main:{files['changed.md']}")
    foreign = server.push_foreign(
        files={
            files["changed.md"]: theirs.replace("Text.", "Text of theirs."),
            files["kept.md"].replace("kept.md", "theirs.md"): text_of(NEW_ID, "Theirs", "Made elsewhere."),
        }
    )
    save("Ours since")
    memory_git.work()
    assert repository().status == "remote_diverged"
    return repository().pk, foreign, kept, changed


def deed(world, name, repository_id, memory_git, **arguments):
    started = call(world.operator, name, repository_id=repository_id, **arguments)
    memory_git.work()
    return call(world.operator, "git_job_get", job_id=started.job_id)


def test_acc_042_inspecting_reports_and_changes_nothing(diverged, world, memory_git, server):
    repository_id, foreign, _kept, changed = diverged
    before = memory_git.subjects(), memory_git.files(), server.subjects()
    report = deed(world, "memory_remote_inspect", repository_id, memory_git).result
    assert (report["relation"], report["remote_commit"]) == ("diverged", foreign)
    assert (report["foreign_commits"], report["missing_commits"]) == (1, 1)
    assert [(one["change"], one["resource_id"]) for one in report["documents"]] == [
        ("added", NEW_ID),
        ("changed", changed),
    ]
    assert (report["same"], report["problems"]) == (1, [])
    assert (memory_git.subjects(), memory_git.files(), server.subjects()) == before
    own = Path(settings.MEMORIES_FOLDER) / ".git"
    assert git(own, "cat-file", "--batch-check", "--batch-all-objects").find(foreign) == -1


def test_documents_that_are_not_in_order_are_left_out_by_name(diverged, world, memory_git, server):
    repository_id, _foreign, _kept, changed = diverged
    odd = "global/memories/what is this?.md"
    foreign = server.push_foreign(files={odd: text_of("mem_01hzzzzzzzzzzzzzzzzzzzzzzo", "Odd", "Text.")})
    report = deed(world, "memory_remote_inspect", repository_id, memory_git).result
    left_out = [{"path": odd, "what": "windows_name"}]
    assert (report["compatible"], report["problems"], report["left_out"]) == (True, [], left_out)
    done = deed(world, "memory_remote_import", repository_id, memory_git, commit=foreign)
    assert sorted(done.result["imported"]) == sorted([changed, NEW_ID])
    assert (done.result["left_out"], done.result["left_out_count"]) == (left_out, 1)
    assert not (Path(settings.MEMORIES_FOLDER) / odd).exists()


def test_acc_042_chosen_documents_come_in_as_new_revisions_and_one_commit(diverged, world, memory_git, server):
    repository_id, foreign, _kept, changed = diverged
    deed(world, "memory_remote_inspect", repository_id, memory_git)
    history = memory_git.subjects()
    done = deed(world, "memory_remote_import", repository_id, memory_git, commit=foreign, resource_ids=[changed])
    assert (done.state, done.result["imported"], done.result["refused"]) == ("completed", [changed], [])
    found = call(world.operator, "memory_get", memory_id=changed)
    assert (found.body.strip(), found.revision) == ("Text of theirs.", 2)
    assert memory_git.subjects()[:-1] == history
    assert len(memory_git.subjects()) == len(history) + 1
    assert server.subjects()[-1] == "A commit of somebody else"
    done = deed(world, "memory_remote_import", repository_id, memory_git, commit=foreign)
    assert (done.result["imported"], done.result["unchanged"]) == ([NEW_ID], 2)
    assert call(world.operator, "memory_get", memory_id=NEW_ID).title == "Theirs"
    hits = call(world.operator, "memory_search", query="elsewhere", scope="shared").results
    assert [hit.memory_id for hit in hits] == [NEW_ID]
    assert memory_git.is_sound()
    # Then pushing goes on at an empty repository.
    server.create("second.git")
    assert list(Path(settings.STATE_FOLDER).glob("git-staging/*"))
    call(world.operator, "memory_repository_bind", repository_id=repository_id, url=server.url("second.git"))
    assert not list(Path(settings.STATE_FOLDER).glob("git-staging/*"))
    memory_git.work()
    assert server.subjects("second.git") == memory_git.subjects()


@pytest.mark.usefixtures("leaves_damage")
@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"global/memories/.git/config.md": "x"}, "stands for .git"),
        ({"global/memories/..\\evil.md": text_of("mem_01hzzzzzzzzzzzzzzzzzzzzzza", "Evil", "x")}, "out of its folder"),
    ],
)
def test_a_hostile_tree_is_reported_by_name_and_nothing_of_it_comes_in(
    memory_git, save, server, repository, world, files, problem
):
    server.create()
    server.connect()
    memory_git.on()
    save("Ours")
    memory_git.work()
    foreign = server.push_foreign(files=files)
    save("Ours since")
    memory_git.work()
    repository_id = repository().pk
    report = deed(world, "memory_remote_inspect", repository_id, memory_git).result
    assert report["compatible"] is False
    assert problem in report["problems"][0]["problem"]
    done = deed(world, "memory_remote_import", repository_id, memory_git, commit=foreign)
    assert (done.state, done.error_code) == ("failed", "UNSAFE_TREE")


def test_a_document_with_a_secret_stays_out_and_is_named(diverged, world, memory_git, server, repository):
    repository_id, _foreign, _kept, _changed = diverged
    body = (
        "AWS key "
        + "AKIA"
        + "IOSFODNN7EXAMPLQ and -----BEGIN RSA PRIVATE "
        + "KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----"
    )
    secret = "mem_01hzzzzzzzzzzzzzzzzzzzzzzb"
    foreign = server.push_foreign(files={"global/memories/2026/11/secret.md": text_of(secret, "Secret", body)})
    deed(world, "memory_remote_inspect", repository_id, memory_git)
    done = deed(world, "memory_remote_import", repository_id, memory_git, commit=foreign, resource_ids=[secret])
    assert done.result["refused"] == [
        {"path": "memories/2026/11/secret.md", "resource_id": secret, "code": "CREDENTIAL_DETECTED"}
    ]


def test_only_what_was_inspected_last_can_be_imported(diverged, world, memory_git, server):
    repository_id, foreign, _kept, _changed = diverged
    with pytest.raises(Exception, match="was not inspected"):
        call(world.operator, "memory_remote_import", repository_id=repository_id, commit=foreign)
    deed(world, "memory_remote_inspect", repository_id, memory_git)
    server.push_foreign(files={"global/memories/more.md": text_of("mem_01hzzzzzzzzzzzzzzzzzzzzzzc", "More", "x")})
    deed(world, "memory_remote_inspect", repository_id, memory_git)
    done = deed(world, "memory_remote_import", repository_id, memory_git, commit=foreign)
    assert done.error_code == "GIT_REMOTE_NOT_INSPECTED"
    assert GitDeed.objects.filter(kind="remote_inspect").count() == 2


def test_a_remote_in_step_and_an_empty_one_are_told_as_such(memory_git, save, server, repository, world):
    server.create()
    server.connect()
    memory_git.on()
    report = deed(world, "memory_remote_inspect", repository().pk, memory_git).result
    assert report["relation"] == "equal"
    server.create("second.git")
    call(world.operator, "memory_repository_bind", repository_id=repository().pk, url=server.url("second.git"))
    assert deed(world, "memory_remote_inspect", repository().pk, memory_git).result["relation"] == "empty"
