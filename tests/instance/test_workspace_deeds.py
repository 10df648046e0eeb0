"""Workspaces and memory spaces end: archived, deleted, merged; nothing is lost, all is told before (MEM-035, MCP-046)."""

from typing import Any

import pytest
from django.core.management import call_command

from apps.accounts.keys import caller_for_token
from apps.base.errors import NotSignedIn
from apps.curation.models import CurationJob
from apps.curation.work import scope_lease
from apps.instance import endings
from apps.instance.rebuild import recreate
from apps.leases.held import exclusive_key
from apps.leases.models import Lease
from apps.leases.services import take
from apps.memories.jobs import ring_for_waiting, run_folder_job
from apps.memories.ledger import Create, Deed, commit
from apps.memories.models import FileIntent, FolderJob, LogicalOperation, Memory, Resource
from apps.memories.scopes import folder_of, project_scope
from apps.memories.transfer.running import Work
from apps.operations.caller import Caller
from apps.profiles.models import Profile
from apps.workspaces.models import Project
from tests.memories.folder_world import fill
from tests.memories.ledger_world import all_durable, file_of_saved, settle
from tests.world import Agent, World, call

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(world: World) -> Agent:
    return world.alices_agent


@pytest.fixture
def relay(world: World) -> str:
    """A workspace with two memories, an archived one, a checkpoint and a curated document."""
    project_id = world.workspace.pk
    alice = world.alices_agent
    for title in ("Deploy", "Rollback", "Old habit"):
        alice.call("memory_save", title=title, body=f"How to: {title}.", project_id=project_id)
    alice.call("memory_archive", memory_id="old-habit")
    alice.call("checkpoint_save", title="Halfway", completed="Half of it.", project_id=project_id)
    curated(project_id, "Overview")
    return project_id


@pytest.fixture
def other(world: World) -> str:
    made: Any = call(world.operator, "project_create", name="Other")
    return made.project_id


def curated(project_id: str, title: str) -> None:
    change = Create(title=title, body=b"What it is.\n", resource=Resource.CURATED, slug=title.lower())
    commit(Caller.for_system(), project_scope(project_id), [change], Deed("curation_run"))


def code(response: Any) -> str:
    return response.json()["error"]["code"]


def lines(preview: Any) -> dict[str, tuple[int, str]]:
    return {line["what"]: (line["count"], line["goes"]) for line in preview.json()["lines"]}


# Archiving.


def test_an_archived_workspace_can_be_read_and_not_written_to(alice: Agent, relay: str) -> None:
    answer = alice.rest.post(f"/projects/{relay}/archive")
    assert answer.status_code == 200 and answer.json()["archived"] is True
    assert alice.call("memory_get", memory_id="deploy").title == "Deploy"
    refused = alice.rest.post("/memories", title="New", body="text", project_id=relay)
    assert (refused.status_code, code(refused)) == (409, "WORKSPACE_ARCHIVED")
    for path, body in (("append", {"text": "more"}), ("archive", {"revision": 1})):
        assert code(alice.rest.post(f"/memories/deploy/{path}", body)) == "WORKSPACE_ARCHIVED", path
    assert code(alice.rest.post("/checkpoints", title="x", completed="y", project_id=relay)) == "WORKSPACE_ARCHIVED"
    assert relay not in [one.project_id for one in alice.call("project_list").projects]
    assert alice.rest.post(f"/projects/{relay}/unarchive").json()["archived"] is False
    assert alice.rest.post("/memories", title="New", body="text", project_id=relay).status_code == 201


def test_archiving_twice_does_no_more(alice: Agent, relay: str) -> None:
    first = alice.call("project_archive", project_id=relay)
    assert alice.call("project_archive", project_id=relay).revision == first.revision


def test_nothing_is_imported_into_an_archived_workspace(alice: Agent, relay: str, tmp_path: Any, settings: Any) -> None:
    folder = fill(tmp_path / "outside", {f"{number}.md": f"text {number}\n" for number in range(3)})
    settings.IMPORT_FOLDERS = [str(folder)]
    job = alice.call("memory_import", folder=str(folder), project_id=relay)
    alice.call("project_archive", project_id=relay)
    run_folder_job(job.job_id)
    ended = alice.call("job_get", job_id=job.job_id)
    assert (ended.state, ended.done) == ("failed", 0) and "archived" in ended.error
    assert code(alice.rest.post("/memories/import", folder=str(folder), project_id=relay)) == "WORKSPACE_ARCHIVED"


def test_an_outside_edit_in_an_archived_workspace_is_kept(alice: Agent, relay: str) -> None:
    saved = alice.call("memory_get", memory_id="deploy")
    all_durable()
    alice.call("project_archive", project_id=relay)
    all_durable()
    file = file_of_saved(saved)
    file.write_text(file.read_text().replace("How to", "Never"))
    settle(file)
    assert "Never" in alice.call("memory_get", memory_id="deploy").body


# Deleting.


def test_the_preview_tells_what_goes_where_and_changes_nothing(world: World, alice: Agent, relay: str) -> None:
    world.doras_agent  # noqa: B018 - its token is bound to the workspace.
    before = Memory.objects.values_list("pk", "revision", "status")
    told = alice.rest.get(f"/projects/{relay}/delete-preview")
    assert lines(told) == {
        "memories": (2, "deleted"),
        "archived": (1, "deleted"),
        "checkpoints": (1, "deleted"),
        "curated": (1, "deleted"),
        "tokens": (1, "revoked"),
        "names": (2, "freed"),
        "history": (6, "stays"),
    }
    assert told.json()["documents"] == 5 and told.json()["at_once"] and told.json()["obstacles"] == []
    assert list(before) == list(Memory.objects.values_list("pk", "revision", "status"))


def test_a_deleted_workspace_is_gone_for_everybody_and_its_history_stays(
    world: World, alice: Agent, relay: str
) -> None:
    dora = world.doras_agent
    answer = alice.rest.delete(f"/projects/{relay}")
    job = answer.json()
    assert (answer.status_code, job["state"], job["kind"], job["updated"]) == (200, "completed", "delete", 5)
    assert code(alice.rest.get(f"/projects/{relay}")) == "NOT_FOUND"
    assert relay not in [one.project_id for one in alice.call("project_list", archived="any").projects]
    assert not Memory.objects.exclude(status="deleted").exists()
    assert alice.call("memory_search", query="Deploy").results == []
    all_durable()
    assert not list(folder_of(project_scope(relay)).rglob("*.md"))
    history = alice.call("memory_history", memory_id=Memory.objects.get(slug="deploy").stable_id)
    assert len(history.revisions) == 2
    with pytest.raises(NotSignedIn):
        caller_for_token(dora.token)


def test_a_deletion_is_one_logical_operation(alice: Agent, relay: str, settings: Any) -> None:
    settings.SAVE_MANY = 2
    job = alice.rest.delete(f"/projects/{relay}").json()
    operation = LogicalOperation.objects.get(name="project_delete")
    assert (operation.pk, operation.state, operation.commits.count() >= 3) == (job["operation_id"], "closed", True)


def test_the_names_of_a_deleted_workspace_are_free_again(world: World, alice: Agent, relay: str) -> None:
    remote = world.workspace.git_remote
    alice.call("project_delete", project_id=relay)
    again = alice.call("project_resolve_or_create", git_remote=remote, name="Relay")
    assert again.created and again.project_id != relay and again.slug == "relay"


def test_nothing_is_written_or_restored_in_a_deleted_workspace(alice: Agent, relay: str) -> None:
    memory_id = Memory.objects.get(slug="deploy").stable_id
    alice.call("project_delete", project_id=relay)
    assert code(alice.rest.post("/memories", title="x", body="y", project_id=relay)) == "NOT_FOUND"
    assert code(alice.rest.post(f"/memories/{memory_id}/restore")) == "WORKSPACE_DELETED"
    assert code(alice.rest.post("/tokens", name="late", project_id=relay)) == "NOT_FOUND"


def test_an_archived_workspace_can_be_deleted(alice: Agent, relay: str) -> None:
    alice.call("project_archive", project_id=relay)
    assert alice.call("project_delete", project_id=relay).state == "completed"


def test_the_same_request_id_answers_the_same_job(alice: Agent, relay: str) -> None:
    first = alice.call("project_delete", project_id=relay, request_id="once")
    assert alice.call("project_delete", project_id=relay, request_id="once").job_id == first.job_id
    assert code(alice.rest.delete(f"/projects/{relay}")) == "NOT_FOUND"


def test_a_large_workspace_is_a_job_that_the_worker_does(alice: Agent, relay: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("apps.instance.workspaces_deeds.AT_ONCE", 3)
    job = alice.rest.delete(f"/projects/{relay}").json()
    assert job["state"] == "waiting" and Memory.objects.filter(status="deleted").count() == 0
    run_folder_job(job["job_id"])
    assert alice.rest.get(f"/jobs/{job['job_id']}").json()["state"] == "completed"
    assert Project.objects.get(pk=relay).deleted_at


class Killed(BaseException):
    """Stands for a kill: nothing catches it."""


@pytest.mark.parametrize("deed", ["delete", "merge"])
def test_a_job_that_was_killed_goes_on_with_what_is_left(
    alice: Agent, relay: str, other: str, settings: Any, monkeypatch: Any, deed: str
) -> None:
    settings.SAVE_MANY = 2
    take_over = Work.take_over

    def dies(work: Work, fields: dict[str, Any]) -> None:
        take_over(work, fields)
        raise Killed

    monkeypatch.setattr("apps.instance.workspaces_deeds.AT_ONCE", 0)
    if deed == "delete":
        job = alice.call("project_delete", project_id=relay)
    else:
        job = alice.call("project_merge", project_id=relay, into=other)
    with monkeypatch.context() as killing:
        killing.setattr(Work, "take_over", dies)
        with pytest.raises(Killed):
            run_folder_job(job.job_id)
    assert FolderJob.objects.get().state == "running" and Project.objects.get(pk=relay).deleted_at is None
    assert ring_for_waiting() == job.job_id
    run_folder_job(job.job_id)
    row = FolderJob.objects.get()
    assert (row.state, row.done, row.total, row.operation.state) == ("completed", 5, 5, "closed")
    assert Project.objects.get(pk=relay).deleted_at
    assert Memory.objects.filter(scope=project_scope(other), status="active").count() == (3 if deed == "merge" else 0)


@pytest.mark.parametrize("deed", ["delete", "merge"])
def test_it_is_refused_while_somebody_has_the_scope_for_himself(
    alice: Agent, relay: str, other: str, deed: str
) -> None:
    held = take(exclusive_key(project_scope(relay)), kind="restore")
    assert held
    Lease.objects.filter(key=held.key)
    if deed == "delete":
        refused = alice.rest.delete(f"/projects/{relay}")
        preview = alice.rest.get(f"/projects/{relay}/delete-preview")
    else:
        refused = alice.rest.post(f"/projects/{relay}/merge", into=other)
        preview = alice.rest.get(f"/projects/{relay}/merge-preview", into=other)
    assert (refused.status_code, code(refused)) == (423, "SCOPE_BUSY")
    assert len(preview.json()["obstacles"]) == 1 and not FolderJob.objects.exists()


def test_it_is_refused_while_a_job_is_under_way_there(alice: Agent, relay: str, tmp_path: Any, settings: Any) -> None:
    (tmp_path / "outside").mkdir()
    settings.IMPORT_FOLDERS = [str(tmp_path / "outside")]
    job = alice.call("memory_import", folder=str(tmp_path / "outside"), project_id=relay)
    refused = alice.rest.delete(f"/projects/{relay}")
    assert (refused.status_code, code(refused)) == (409, "JOBS_UNDER_WAY")
    assert job.job_id in refused.json()["error"]["message"]
    alice.call("job_stop", job_id=job.job_id, for_good=True)
    assert alice.rest.delete(f"/projects/{relay}").status_code == 200


def test_somebody_elses_write_meanwhile_is_told_to_wait(alice: Agent, relay: str, monkeypatch: Any) -> None:
    seen: list[str] = []
    take_over = Work.take_over

    def in_between(work: Work, fields: dict[str, Any]) -> None:
        seen.append(code(alice.rest.post("/memories", title="late", body="text", project_id=relay)))
        take_over(work, fields)

    monkeypatch.setattr(Work, "take_over", in_between)
    assert alice.call("project_delete", project_id=relay).state == "completed"
    assert seen == ["SCOPE_BUSY"]


# Merging.


def test_merging_moves_everything_with_its_history_and_old_names_lead_on(
    world: World, alice: Agent, relay: str, other: str
) -> None:
    dora, remote = world.doras_agent, world.workspace.git_remote
    ids = set(Memory.objects.exclude(resource="curated").values_list("stable_id", flat=True))
    job = alice.rest.post(f"/projects/{relay}/merge", into=other).json()
    assert (job["state"], job["kind"], job["target"], job["updated"]) == ("completed", "merge", f"project/{other}", 5)
    there = Memory.objects.filter(scope=project_scope(other))
    assert set(there.values_list("stable_id", flat=True)) == ids
    assert dict(there.values_list("slug", "status"))["old-habit"] == "archived"
    assert there.get(slug="old-habit").path.startswith("archive/")
    assert there.get(resource="checkpoint").path.startswith("checkpoints/")
    assert Memory.objects.get(resource="curated").status == "deleted"
    assert len(alice.call("memory_history", memory_id="deploy").revisions) == 2
    assert alice.call("checkpoint_latest", project_id=other).checkpoint.title == "Halfway"
    assert alice.call("project_get", project_id=relay).project_id == other
    assert alice.call("project_get", project_id="relay").project_id == other
    assert alice.call("project_resolve_or_create", git_remote=remote).project_id == other
    assert dora.caller.project_id == other
    assert dora.call("memory_save", title="Still here", body="text", project_id="relay").project_id == other
    all_durable()
    assert not list(folder_of(project_scope(relay)).rglob("*.md"))
    assert file_of_saved(alice.call("memory_get", memory_id="deploy")).exists()
    assert not FileIntent.objects.exists()


def test_a_slug_that_is_taken_gets_a_number_and_the_old_one_still_leads_there(
    alice: Agent, relay: str, other: str
) -> None:
    own = alice.call("memory_save", title="Deploy", body="The other way.", project_id=other)
    moved = alice.call("memory_get", memory_id=f"[[projects/{relay}/deploy]]")
    preview = alice.rest.get(f"/projects/{relay}/merge-preview", into=other).json()
    assert [(one["memory_id"], one["slug"]) for one in preview["renamed"]] == [(moved.memory_id, "deploy")]
    alice.call("project_merge", project_id=relay, into=other)
    now = alice.call("memory_get", memory_id=moved.memory_id)
    assert (now.slug, now.title, now.scope) == ("deploy-2", "Deploy", f"project/{other}")
    assert alice.call("memory_get", memory_id=own.memory_id).slug == "deploy"
    assert Memory.objects.get(stable_id=moved.memory_id).aliases.get().slug_key == "deploy"


def test_the_preview_of_a_merging_tells_what_goes_where(world: World, alice: Agent, relay: str, other: str) -> None:
    world.doras_agent  # noqa: B018
    told = alice.rest.get(f"/projects/{relay}/merge-preview", into="other")
    assert lines(told) == {
        "memories": (2, "moved"),
        "archived": (1, "moved"),
        "checkpoints": (1, "moved"),
        "curated": (1, "deleted"),
        "tokens": (1, "rebound"),
        "names": (2, "leads_on"),
        "history": (6, "stays"),
    }
    assert told.json()["into"] == {"id": other, "name": "Other"}


def test_a_folder_that_was_imported_before_a_merging_is_known_after_it(
    alice: Agent, relay: str, other: str, tmp_path: Any, settings: Any
) -> None:
    folder = fill(tmp_path / "outside", {"one.md": "text\n", "two.md": "more\n"})
    settings.IMPORT_FOLDERS = [str(folder)]
    run_folder_job(alice.call("memory_import", folder=str(folder), project_id=relay).job_id)
    alice.call("project_merge", project_id=relay, into=other)
    again = alice.call("memory_import", folder=str(folder), project_id=other)
    run_folder_job(again.job_id)
    done = alice.call("job_get", job_id=again.job_id)
    assert (done.imported, done.unchanged) == (0, 2)


def curation(project_id: str, state: str) -> CurationJob:
    return CurationJob.objects.create(
        id=f"cur_{state}", scope_key=f"project/{project_id}", project_id=project_id, coalesce_key=state, state=state
    )


def test_a_curation_that_waits_ends_with_its_workspace(alice: Agent, relay: str) -> None:
    waiting = curation(relay, "queued")
    assert alice.call("project_delete", project_id=relay).state == "completed"
    waiting.refresh_from_db()
    assert waiting.state == "cancelled"


def test_a_workspace_is_not_ended_under_a_curation_at_work(alice: Agent, relay: str) -> None:
    working = curation(relay, "running")
    assert take(scope_lease(f"project/{relay}"), kind="curation")
    refused = alice.rest.delete(f"/projects/{relay}")
    assert code(refused) == "JOBS_UNDER_WAY" and working.pk in refused.json()["error"]["message"]


def test_a_workspace_is_not_merged_into_itself_or_into_an_archived_one(alice: Agent, relay: str, other: str) -> None:
    refused = alice.rest.post(f"/projects/{relay}/merge", into="relay")
    assert refused.status_code == 422 and list(refused.json()["error"]["facts"]["fields"]) == ["into"]
    alice.call("project_archive", project_id=other)
    assert code(alice.rest.post(f"/projects/{relay}/merge", into=other)) == "WORKSPACE_ARCHIVED"
    assert len(alice.rest.get(f"/projects/{relay}/merge-preview", into=other).json()["obstacles"]) == 1


def test_a_workspace_takes_over_the_remote_of_one_that_was_merged_into_it(
    world: World, alice: Agent, relay: str, other: str
) -> None:
    remote = world.workspace.git_remote
    alice.call("project_merge", project_id=relay, into=other)
    assert alice.call("project_update", project_id=other, git_remote=remote).git_remote == remote


def test_only_administrators_end_workspaces_and_memory_spaces(world: World, relay: str, other: str) -> None:
    for agent in (world.bobs_agent, world.carols_reader):
        assert agent.rest.delete(f"/projects/{relay}").status_code == 403
        assert agent.rest.post(f"/projects/{relay}/merge", into=other).status_code == 403
        assert agent.rest.delete("/curation/profiles/bob").status_code == 403


def test_a_bound_administrator_ends_no_other_workspace(world: World, relay: str, other: str) -> None:
    bound = world.agent("bound", project_id=relay, rights=["read", "write", "administer"])
    assert code(bound.rest.delete(f"/projects/{other}")) == "WORKSPACE_MISMATCH"
    assert code(bound.rest.post(f"/projects/{relay}/merge", into=other)) == "WORKSPACE_MISMATCH"
    assert bound.rest.delete("/curation/profiles/shared").status_code == 403


# Memory spaces.


def test_a_memory_space_without_sources_is_deleted_and_its_people_go_to_shared(world: World, alice: Agent) -> None:
    bob, member = world.bobs_agent, world.member
    assert alice.rest.get("/curation/profiles/bob/delete-preview").json()["obstacles"] == []
    assert alice.rest.delete("/curation/profiles/bob").json()["state"] == "completed"
    assert not Profile.objects.filter(pk="bob").exists()
    assert bob.caller.profile == "shared"
    member.refresh_from_db()
    assert member.profile_id == "shared"


def test_one_with_sources_is_refused_until_they_have_somewhere_to_go(world: World, alice: Agent, relay: str) -> None:
    own = world.bobs_agent.call("memory_save", title="Tabs", body="Bob likes tabs.")
    elsewhere = world.bobs_agent.call("memory_save", title="Bob's part", body="Bob did it.", project_id=relay)
    refused = alice.rest.delete("/curation/profiles/bob")
    assert (refused.status_code, code(refused)) == (409, "PROFILE_IN_USE")
    assert refused.json()["error"]["facts"]["sources"] == 2
    call(world.operator, "usage_profile_save", profile_id="eve", name="Eve")
    job = alice.call("usage_profile_delete", profile_id="bob", migrate_to="eve")
    assert (job.state, job.updated) == ("completed", 2)
    moved = Memory.objects.get(stable_id=own.memory_id)
    assert (moved.scope_id, moved.profile_id) == ("global/eve", "eve")
    attributed = alice.call("memory_get", memory_id=elsewhere.memory_id)
    assert Memory.objects.get(stable_id=elsewhere.memory_id).profile_id == "eve"
    all_durable()
    assert "usage_profile_id: eve" in file_of_saved(attributed).read_text()
    assert world.bobs_agent.caller.profile == "eve"


def test_sources_in_an_archived_workspace_migrate_too(world: World, alice: Agent, relay: str) -> None:
    saved = world.bobs_agent.call("memory_save", title="Bob's part", body="Bob did it.", project_id=relay)
    alice.call("project_archive", project_id=relay)
    alice.call("usage_profile_delete", profile_id="bob", migrate_to="shared")
    assert Memory.objects.get(stable_id=saved.memory_id).profile_id == "shared"


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"profile_id": "shared"}, "SHARED_PROFILE_STAYS"),
        ({"profile_id": "nobody"}, "NOT_FOUND"),
        ({"profile_id": "bob", "migrate_to": "bob"}, "INVALID"),
        ({"profile_id": "bob", "migrate_to": "nobody"}, "NOT_FOUND"),
        ({"profile_id": "bob", "migrate_to": "off"}, "PROFILE_DISABLED"),
    ],
)
def test_what_cannot_be_deleted_or_migrated_to_is_refused(
    world: World, alice: Agent, arguments: dict[str, str], wanted: str
) -> None:
    world.bobs_space  # noqa: B018
    Profile.objects.create(pk="off", name="Off", enabled=False)
    profile_id, migrate_to = arguments["profile_id"], arguments.get("migrate_to", "")
    query = f"?migrate_to={migrate_to}" if migrate_to else ""
    assert code(alice.rest.delete(f"/curation/profiles/{profile_id}{query}")) == wanted
    assert Profile.objects.filter(pk="bob").exists()


def test_the_id_of_a_deleted_memory_space_is_not_given_again(world: World, alice: Agent) -> None:
    """Its trash and history stay under that id: they must not become somebody else's."""
    world.bobs_space  # noqa: B018
    alice.call("usage_profile_delete", profile_id="bob")
    refused = alice.rest.post("/curation/profiles", profile_id="bob", name="Another Bob")
    assert refused.status_code == 422
    assert alice.rest.post("/curation/profiles", name="Bob").json()["profile_id"] == "bob-2"


# Rebuilding.


def test_a_rebuild_brings_back_no_workspace_and_no_space_that_ended(
    world: World, alice: Agent, relay: str, other: str
) -> None:
    gone: Any = call(world.operator, "project_create", name="Gone")
    world.bobs_space  # noqa: B018
    world.bobs_agent.call("memory_save", title="Tabs", body="Bob likes tabs.")
    alice.call("project_delete", project_id=gone.project_id)
    alice.call("project_merge", project_id=relay, into=other)
    alice.call("usage_profile_delete", profile_id="bob", migrate_to="shared")
    all_durable()
    call_command("flush", interactive=False, verbosity=0)
    Profile.objects.create(pk="shared", name="Shared")
    recreate()
    assert set(Profile.objects.values_list("pk", flat=True)) == {"shared"}
    living = Project.objects.filter(deleted_at=None)
    assert list(living.values_list("pk", flat=True)) == [other]
    assert Project.objects.get(pk=relay).merged_into_id == other
    assert Project.objects.get(pk=gone.project_id).slug == gone.project_id
    assert endings.living(project_scope(other)).count() == 4
