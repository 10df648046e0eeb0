"""project_create, project_list, project_get, project_update over REST (WS-001..018, MEM-033, MEM-034)."""

import pytest

from apps.base.errors import Denied, NotFound
from apps.changes.models import Change
from apps.operations.reach import WorkspaceMismatch
from apps.workspaces.models import Project
from apps.workspaces.selectors import project_id_of_call
from tests.world import call

DOCUMENT = {"document_type": "overview", "title": "Overview", "path": "overview.md", "purpose": "What this is."}
TYPES = ["development", "office", "study", "research", "personal", "general"]


def test_a_workspace_needs_a_name_and_nothing_else(world):
    """No Git, no network: base mode."""
    made = world.bobs_agent.rest.post("/projects", name="Thesis")
    assert made.status_code == 201, made.content
    fields = made.json()
    assert fields["project_id"].startswith("prj_") and fields["slug"] == "thesis" and fields["revision"] == 1
    assert fields["workspace_type"] == "general" and fields["template"] is None
    assert fields["git_remote"] is None and fields["git_branch"] is None and fields["external_key"] is None
    read = world.carols_reader.rest.get(f"/projects/{fields['project_id']}")
    assert read.json() == fields == world.carols_reader.rest.get("/projects/thesis").json()


def test_everything_that_is_sent_is_answered(world):
    sent = {
        "name": "Relay", "slug": "relay-server", "description": "The server", "external_key": "REL-1",
        "git_remote": "git@git.example.org:team/relay.git", "git_branch": "main", "workspace_type": "research",
        "template": [DOCUMENT | {"guidance": "Short."}],
    }  # fmt: skip
    made = world.bobs_agent.rest.post("/projects", sent).json()
    assert {field: made[field] for field in sent} == sent


@pytest.mark.parametrize("workspace_type", TYPES)
def test_a_workspace_of_any_type_may_have_a_remote_or_none(world, workspace_type):
    """WS-002, WS-012, WS-013: the type restricts nothing."""
    plain = world.bobs_agent.call("project_create", name="a", workspace_type=workspace_type)
    remote = f"https://git.example.org/{workspace_type}/r"
    with_git = world.bobs_agent.call("project_create", name="b", workspace_type=workspace_type, git_remote=remote)
    assert plain.workspace_type == with_git.workspace_type == workspace_type


def test_where_no_type_is_named_the_remote_decides(world):
    """WS-011, DEF-011: clients that know no types go on working."""
    assert world.bobs_agent.call("project_create", name="a").workspace_type == "general"
    assert world.bobs_agent.call("project_create", name="b", git_remote="").workspace_type == "general"
    made = world.bobs_agent.call("project_create", name="c", git_remote="https://git.example.org/c")
    assert made.workspace_type == "development"


def test_the_remote_is_kept_without_its_credentials(world):
    made = world.bobs_agent.rest.post(
        "/projects", name="r", git_remote="https://bob:hunter2@git.example.org/r.git?token=x"
    )
    assert made.json()["git_remote"] == "https://git.example.org/r.git"
    assert "hunter2" not in str(Project.objects.values().get())


@pytest.mark.parametrize("remote", ["not an address", "https://", "-oProxyCommand=x", "https://a@b/c@d"])
def test_what_is_no_remote_is_refused_and_not_repeated(world, remote):
    refused = world.bobs_agent.rest.post("/projects", name="r", git_remote=remote)
    assert refused.status_code == 422 and list(refused.json()["error"]["facts"]["fields"]) == ["git_remote"]
    assert remote not in refused.content.decode()


@pytest.mark.parametrize(
    ("field", "value"),
    [("slug", "Relay Server"), ("external_key", "REL-1"), ("git_remote", "ssh://git@git.example.org/team/relay")],
)
def test_slug_key_and_remote_name_one_workspace_each(world, field, value):
    first = {"slug": "relay-server", "external_key": "REL-1", "git_remote": "https://git.example.org/team/relay.git"}
    world.bobs_agent.rest.post("/projects", name="first", **first)
    refused = world.bobs_agent.rest.post("/projects", {"name": "second", field: value})
    assert refused.status_code == 409, refused.content
    assert refused.json()["error"]["code"] == "PROJECT_TAKEN" and refused.json()["error"]["facts"] == {"field": field}
    assert Project.objects.count() == 1


def test_two_workspaces_of_one_name_get_two_slugs(world):
    slugs = [world.bobs_agent.call("project_create", name=name).slug for name in ("Übung", "ÜBUNG", "U\u0308bung")]
    assert slugs == ["übung", "übung-2", "übung-3"]


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, "name"),
        ({"name": "\u202a\n"}, "name"),
        ({"name": "a", "workspace_type": "kitchen"}, "workspace_type"),
        ({"name": "a", "template": []}, "template"),
        ({"name": "a", "template": [{}]}, "template.0.document_type"),
        ({"name": "a", "template": [DOCUMENT, DOCUMENT]}, "template"),
        ({"name": "a", "template": [DOCUMENT] * 41}, "template"),
        ({"name": "a", "template": [DOCUMENT | {"path": "../up.md"}]}, "template.0.path"),
        ({"name": "a", "template": [DOCUMENT | {"path": "/etc/x.md"}]}, "template.0.path"),
        ({"name": "a", "template": [DOCUMENT | {"path": "a/./b.md"}]}, "template.0.path"),
        ({"name": "a", "template": [DOCUMENT | {"path": "a\\b.md"}]}, "template.0.path"),
        ({"name": "a", "template": [DOCUMENT | {"path": ".git/b.md"}]}, "template.0.path"),
        ({"name": "a", "template": [DOCUMENT | {"path": "con.md"}]}, "template.0.path"),
        ({"name": "a", "template": [DOCUMENT | {"path": "a.txt"}]}, "template.0.path"),
        ({"name": "a", "template": [DOCUMENT | {"colour": "red"}]}, "template.0.colour"),
        ({"name": "a", "template": "[1]"}, "template.0"),
        ({"name": "a", "project_id": "prj_mine"}, "project_id"),
    ],
)
def test_unsound_arguments_are_named_and_nothing_is_made(world, fields, wrong):
    refused = world.bobs_agent.rest.post("/projects", fields)
    assert refused.status_code == 422, refused.content
    assert wrong in refused.json()["error"]["facts"]["fields"]
    assert not Project.objects.exists()


def test_a_reader_makes_and_changes_nothing(world):
    workspace = world.workspace.pk
    for method, path, body in [
        ("POST", "/projects", {"name": "a"}),
        ("PATCH", f"/projects/{workspace}", {"name": "a"}),
    ]:
        refused = world.carols_reader.rest.send(method, path, body)
        assert refused.status_code == 403 and refused.json()["error"]["code"] == "DENIED"
    assert world.carols_reader.rest.post("/projects/resolve-or-create", name="a").status_code == 403


def test_an_update_changes_what_is_sent_and_leaves_the_rest(world):
    workspace = world.workspace
    changed = world.bobs_agent.rest.patch(
        f"/projects/{workspace.pk}", name="Relay 2", workspace_type="office", revision=1
    )
    fields = changed.json()
    assert (fields["name"], fields["workspace_type"], fields["revision"]) == ("Relay 2", "office", 2)
    assert fields["git_remote"] == "https://git.example.org/team/relay.git" and fields["slug"] == workspace.slug
    assert fields["updated_at"] > fields["created_at"]


def test_renaming_keeps_id_slug_and_remote(world):
    """WS-018."""
    before = world.bobs_agent.rest.get(f"/projects/{world.workspace.pk}").json()
    after = world.bobs_agent.rest.patch(f"/projects/{world.workspace.pk}", name="Anything else").json()
    same = ("project_id", "slug", "git_remote", "external_key", "workspace_type")
    assert [before[field] for field in same] == [after[field] for field in same]


def test_null_takes_away_and_leaving_out_does_not(world):
    rest = world.bobs_agent.rest
    made = rest.post(
        "/projects", name="a", external_key="K", git_remote="https://git.example.org/a", template=[DOCUMENT]
    )
    path = f"/projects/{made.json()['project_id']}"
    assert rest.patch(path, description="d").json()["template"] == [DOCUMENT | {"guidance": ""}]
    cleared = rest.patch(path, external_key=None, git_remote=None, template=None, git_branch=None).json()
    assert [cleared[field] for field in ("external_key", "git_remote", "template")] == [None, None, None]
    assert cleared["workspace_type"] == "development"
    assert rest.post("/projects", name="b", external_key="K", git_remote="https://git.example.org/a").status_code == 201
    as_before = rest.patch(path, name=None, description=None, workspace_type=None, archived=None).json()
    assert as_before == cleared  # What can't be taken away is left out by null.


def test_a_stale_revision_is_refused_and_nothing_is_written(world):
    path = f"/projects/{world.workspace.pk}"
    assert world.bobs_agent.rest.patch(path, name="First", revision=1).status_code == 200
    refused = world.bobs_agent.rest.patch(path, name="Second", revision=1)
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "REVISION_CONFLICT"
    assert refused.json()["error"]["facts"] == {"given": 1, "current": 2}
    assert Project.objects.get().name == "First"


def test_an_update_to_what_is_there_changes_nothing(world):
    path = f"/projects/{world.workspace.pk}"
    before = Change.objects.count()
    assert (
        world.bobs_agent.rest.patch(path, name="Relay", git_remote="https://git.example.org/team/relay.git").json()[
            "revision"
        ]
        == 1
    )
    assert world.bobs_agent.rest.patch(path).json()["revision"] == 1
    assert Change.objects.count() == before


def test_a_taken_remote_cannot_be_moved_to_another_workspace(world):
    _ = world.workspace
    other = world.bobs_agent.call("project_create", name="Other").project_id
    refused = world.bobs_agent.rest.patch(f"/projects/{other}", git_remote="git@git.example.org:team/relay.git")
    assert refused.status_code == 409 and refused.json()["error"]["facts"] == {"field": "git_remote"}


def test_every_write_is_in_the_change_log(world):
    workspace = world.workspace.pk
    world.bobs_agent.call("project_update", project_id=workspace, description="d")
    kinds = Change.objects.filter(stable_id=workspace).values_list("kind", "scope_key", "resource", "revision", "actor")
    scope = f"project/{workspace}"
    assert list(kinds) == [
        ("workspace.created", scope, "project", 1, "operator"),
        ("workspace.updated", scope, "project", 2, "bob's agent"),
    ]


def failing_listener(changes):
    raise RuntimeError("a listener that cannot follow")


def test_a_listener_that_fails_takes_the_write_with_it(world, settings):
    settings.CHANGE_LISTENERS = ["tests.workspaces.test_projects.failing_listener"]
    failed = world.bobs_agent.rest.post("/projects", name="a")
    assert failed.status_code == 500
    assert "listener" not in failed.content.decode()
    assert not Project.objects.exists() and not Change.objects.exists()


def test_the_list_goes_by_name_and_page_by_page(world):
    made = {world.bobs_agent.call("project_create", name=name).name for name in ("b", "a", "c", "乙", "d")}
    seen, cursor = [], ""
    while True:
        page = world.carols_reader.rest.get("/projects", limit=2, cursor=cursor).json()
        seen += [project["name"] for project in page["projects"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == ["a", "b", "c", "d", "乙"] and set(seen) == made


def test_workspaces_of_one_name_lose_none_at_a_page_break(world):
    ids = {world.bobs_agent.call("project_create", name="same").project_id for _ in range(5)}
    first = world.bobs_agent.call("project_list", limit=3)
    second = world.bobs_agent.call("project_list", limit=3, cursor=first.next_cursor)
    assert {project.project_id for project in first.projects + second.projects} == ids
    assert second.next_cursor is None


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ["Paper", "Relay"]),
        ({"workspace_type": "development"}, ["Relay"]),
        ({"workspace_type": "study"}, []),
        ({"archived": "yes"}, ["Old"]),
        ({"archived": "any"}, ["Old", "Paper", "Relay"]),
        ({"text": "git.example"}, ["Relay"]),
        ({"text": "论文"}, ["Paper"]),
        ({"text": "%"}, []),
        ({"text": "rel"}, ["Relay"]),
    ],
)
def test_the_list_is_filtered(world, query, found):
    _ = world.workspace
    world.bobs_agent.call("project_create", name="Paper", description="我的论文")
    old = world.bobs_agent.call("project_create", name="Old").project_id
    assert world.bobs_agent.call("project_update", project_id=old, archived=True).archived
    listed = world.carols_reader.rest.get("/projects", **query)
    assert [project["name"] for project in listed.json()["projects"]] == found


def test_a_workspace_put_away_comes_back(world):
    path = f"/projects/{world.workspace.pk}"
    assert world.bobs_agent.rest.patch(path, archived=True).json()["archived"] is True
    assert world.bobs_agent.rest.patch(path, archived=True).json()["revision"] == 2
    assert world.bobs_agent.rest.patch(path, archived=False).json()["archived"] is False


@pytest.mark.parametrize(
    "cursor", ["x", "W10", "WzEsMl0", "WyJcdWQ4MDAiLCJhIl0", "a" * 1999, "é", "WyJhIiwiYiIsImMiXQ"]
)
def test_what_is_no_cursor_is_refused(world, cursor):
    refused = world.carols_reader.rest.get("/projects", cursor=cursor)
    assert refused.status_code == 422 and "cursor" in refused.json()["error"]["facts"]["fields"]


def test_a_bound_connection_sees_its_own_workspace_alone(world):
    """D-08b, D-22: other ids get one answer, whether they exist or not."""
    other = world.bobs_agent.call("project_create", name="Other")
    rest = world.doras_agent.rest
    assert [project["project_id"] for project in rest.get("/projects", archived="any").json()["projects"]] == [
        world.workspace.pk
    ]
    assert rest.get(f"/projects/{world.workspace.pk}").status_code == 200
    assert rest.get(f"/projects/{world.workspace.slug}").status_code == 200
    answers = {
        rest.get(f"/projects/{name}").content for name in (other.project_id, other.slug, "prj_nowhere", "nowhere")
    }
    assert len(answers) == 1 and b"WORKSPACE_MISMATCH" in answers.pop()
    assert rest.patch(f"/projects/{other.project_id}", name="Mine").status_code == 403
    assert rest.post("/projects", name="Another").json()["error"]["code"] == "WORKSPACE_MISMATCH"
    assert rest.patch(f"/projects/{world.workspace.pk}", name="Mine").status_code == 200


def test_the_workspace_of_a_call_is_found_by_id_or_slug_and_bound_connections_keep_theirs(world):
    """D-22."""
    other = world.bobs_agent.call("project_create", name="Other")
    free, bound = world.bobs_agent.caller, world.doras_agent.caller
    assert project_id_of_call(free, None) is None
    assert project_id_of_call(free, other.project_id) == project_id_of_call(free, "OTHER") == other.project_id
    assert project_id_of_call(bound, None) == project_id_of_call(bound, world.workspace.slug) == world.workspace.pk
    for name in ("prj_nowhere", "nowhere"):
        with pytest.raises(NotFound):
            project_id_of_call(free, name)
    for name in (other.project_id, other.slug, "nowhere"):
        with pytest.raises(WorkspaceMismatch):
            project_id_of_call(bound, name)


def test_a_caller_without_the_right_learns_nothing_of_what_exists(world):
    """The right is looked at before the row."""
    from apps.operations.caller import Caller, CallerKind, Origin

    nobody = Caller("nobody", CallerKind.TOKEN, Origin.AGENT, frozenset())
    for name in (world.workspace.pk, "prj_nowhere"):
        with pytest.raises(Denied):
            call(nobody, "project_get", project_id=name)
