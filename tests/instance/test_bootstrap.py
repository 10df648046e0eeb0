"""A running, empty instance filled from the remote it is connected to (ACC-041, MCP-063)."""

import json

import pytest

from apps.memories.models import Memory
from apps.workspaces.models import Project
from tests.memory_git.conftest import git, memory_git, save  # noqa: F401 - fixtures
from tests.memory_git.remotes.conftest import keyring, server  # noqa: F401 - fixtures
from tests.world import call

pytestmark = pytest.mark.django_db

SHARED, RELAY, AWAY = ("mem_01hzzzzzzzzzzzzzzzzzzzzzz" + last for last in "abc")
PROJECT = "prj_01hzzzzzzzzzzzzzzzzzzzzzzz"


def text_of(stable_id: str, title: str, revision: int, **more: str) -> str:
    lines = [f"stable_id: {stable_id}", f"title: {title}", "type: memory", f"permalink: {title.lower()}"]
    lines += [f"revision: {revision}", *(f"{key}: {value}" for key, value in more.items())]
    return "---\n" + "\n".join(lines) + f"\n---\n\nBody of {title}.\n"


@pytest.fixture
def remote(server):  # noqa: F811
    server.create()
    told = {
        "format": 1,
        "scope": f"project/{PROJECT}",
        "policy": "direct",
        "reserved_revisions": 40,
        "workspace": {"id": PROJECT, "name": "Relay", "slug": "relay"},
    }
    server.push_foreign(
        files={
            "global/memories/2026/11/shared.md": text_of(SHARED, "Shared", 7),
            "global/archive/2026/11/away.md": text_of(AWAY, "Away", 3, status="archived"),
            f"projects/{PROJECT}/memories/2026/11/relay.md": text_of(RELAY, "Relay note", 2),
            f"projects/{PROJECT}/.memrelay/scope.json": json.dumps(told),
        }
    )
    return server


def test_acc_041_an_empty_instance_gets_workspaces_documents_and_history(remote, world, memory_git):  # noqa: F811
    remote.connect(allow_write_test=False)
    job = call(world.operator, "memory_remote_bootstrap")
    memory_git.work()
    done = call(world.operator, "git_job_get", job_id=job.job_id)
    assert (done.state, done.error) == ("completed", "")
    assert (done.result["documents"], done.result["workspaces"], done.result["commits"]) == (3, 1, 1)
    assert {"key_ring", "tokens", "files", "sealed_values"} <= set(done.result["not_restored"])
    assert Project.objects.get().name == "Relay"
    found = call(world.operator, "memory_get", memory_id=RELAY)
    assert (found.title, found.body.strip(), found.revision) == ("Relay note", "Body of Relay note.", 41)
    assert Memory.objects.get(stable_id=SHARED).path == "memories/2026/11/shared.md"
    assert Memory.objects.get(stable_id=AWAY).status == "archived"
    assert call(world.operator, "memory_search", query="Body of Relay", project_id=PROJECT).results
    # Then the history goes on at the same remote.
    memory_git.on()
    assert remote.subjects()[0] == "A commit of somebody else"
    assert len(remote.subjects()) == 2
    assert memory_git.is_sound()
    with pytest.raises(Exception, match="needs an instance without documents"):
        call(world.operator, "memory_remote_bootstrap")


def test_what_is_not_in_order_is_left_out_by_name_told_before_and_after(remote, world, memory_git):  # noqa: F811
    broken, odd = "global/memories/broken.md", "global/memories/aux.md"
    first, second = ("mem_01hzzzzzzzzzzzzzzzzzzzzzz" + last for last in "de")
    files = {broken: text_of(first, "[Broken", 1), odd: text_of(second, "Odd", 1)}
    remote.push_foreign(files=files)
    remote.connect(allow_write_test=False)
    left_out = [{"path": odd, "what": "windows_name"}, {"path": broken, "what": "broken_frontmatter"}]
    told = []
    for preview in (True, False):
        assert not Memory.objects.exists() and not Project.objects.exists()
        job = call(world.operator, "memory_remote_bootstrap", preview=preview)
        memory_git.work()
        done = call(world.operator, "git_job_get", job_id=job.job_id)
        assert (done.state, done.error) == ("completed", "")
        assert done.result["left_out"] == left_out and done.result["left_out_count"] == 2
        told.append({**done.result, "commits": 0})
    assert told[0] == told[1]
    assert (told[0]["documents"], told[0]["workspaces"]) == (3, 1)
    assert Memory.objects.count() == 3
    memory_git.on()
    there = git(remote.folder / "memory.git", "ls-tree", "-r", "--name-only", "main").splitlines()
    assert {broken, odd} < set(there) and memory_git.is_sound()


def test_an_instance_in_use_and_a_hostile_tree_are_refused_and_nothing_changes(remote, world, save, memory_git):  # noqa: F811
    remote.connect(allow_write_test=False)
    remote.push_foreign(files={"global/memories/..\\evil.md": "x"})
    job = call(world.operator, "memory_remote_bootstrap")
    memory_git.work()
    assert call(world.operator, "git_job_get", job_id=job.job_id).error_code == "UNSAFE_TREE"
    assert not Memory.objects.exists() and not Project.objects.exists()
    save("In use")
    with pytest.raises(Exception, match="needs an instance without documents"):
        call(world.operator, "memory_remote_bootstrap")
