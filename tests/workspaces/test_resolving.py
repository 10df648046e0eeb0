"""project_resolve and project_resolve_or_create: which workspace is this? (MEM-033, WS-010, WS-011)"""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from apps.changes.models import Change
from apps.workspaces.models import Project
from tests.world import World

REMOTE = "https://git.example.org/team/relay.git"


@pytest.mark.parametrize(
    "known",
    [
        {"slug": "Relay"},
        {"external_key": " REL-1 "},
        {"git_remote": "git@git.example.org:team/relay.git"},
        {"git_remote": "ssh://git@git.example.org:22/team/relay/"},
        {"git_remote": "https://user:secret@GIT.example.org/team/relay"},
        {"slug": "unheard-of", "external_key": "REL-1"},
        {"external_key": "unheard-of", "git_remote": REMOTE},
    ],
)
def test_a_workspace_is_found_by_whatever_is_known_of_it(world, known):
    made = world.bobs_agent.call("project_create", name="Relay", external_key="REL-1", git_remote=REMOTE)
    found = world.carols_reader.rest.post("/projects/resolve", known)
    assert found.status_code == 200, found.content
    assert found.json()["project_id"] == made.project_id
    assert world.carols_reader.call("project_resolve", project_id=made.project_id) == found_again(world, known)
    resolved = world.bobs_agent.rest.post("/projects/resolve-or-create", known).json()
    assert (resolved["project_id"], resolved["created"]) == (made.project_id, False)
    assert Project.objects.count() == 1


def found_again(world, known):
    return world.carols_reader.call("project_resolve", **known)


def test_resolving_makes_nothing(world):
    for known in ({"slug": "a"}, {"external_key": "K"}, {"git_remote": REMOTE}, {"project_id": "prj_x"}):
        refused = world.carols_reader.rest.post("/projects/resolve", known)
        assert refused.status_code == 404 and refused.json()["error"]["code"] == "NOT_FOUND"
    assert not Project.objects.exists()


def test_something_has_to_be_known(world):
    assert world.carols_reader.rest.post("/projects/resolve", {}).status_code == 422
    assert world.carols_reader.rest.post("/projects/resolve", b"").status_code == 422
    assert world.bobs_agent.rest.post("/projects/resolve-or-create", {}).status_code == 422
    assert world.bobs_agent.rest.post("/projects/resolve-or-create", slug="", external_key="").status_code == 422


@pytest.mark.parametrize(
    ("known", "name", "slug", "workspace_type"),
    [
        ({"name": "My notes"}, "My notes", "my-notes", "general"),
        ({"git_remote": REMOTE}, "relay", "relay", "development"),
        ({"git_remote": REMOTE, "name": "The relay"}, "The relay", "the-relay", "development"),
        ({"git_remote": "C:\\work\\relay"}, "relay", "relay", "development"),
        ({"external_key": "REL-1"}, "REL-1", "rel-1", "general"),
        ({"slug": "notes"}, "notes", "notes", "general"),
        ({"name": "论文", "workspace_type": "study"}, "论文", "论文", "study"),
    ],
)
def test_what_is_missing_is_made_from_what_is_known_and_only_once(world, known, name, slug, workspace_type):
    first = world.bobs_agent.rest.post("/projects/resolve-or-create", known).json()
    assert (first["name"], first["slug"], first["workspace_type"]) == (name, slug, workspace_type)
    assert first["created"] is True
    second = world.bobs_agent.rest.post("/projects/resolve-or-create", known).json()
    assert second == first | {"created": False}
    assert Change.objects.count() == 1


def test_what_is_found_stays_as_it_is(world):
    made = world.bobs_agent.call("project_create", name="Relay", git_remote=REMOTE, workspace_type="research")
    again = world.bobs_agent.rest.post(
        "/projects/resolve-or-create", name="Other", git_remote=REMOTE, workspace_type="office", description="d"
    ).json()
    assert (again["name"], again["workspace_type"], again["description"]) == ("Relay", "research", "")
    assert again["revision"] == made.revision


def test_two_repositories_of_one_name_are_two_workspaces(world):
    remotes = ["https://git.example.org/a/api", "https://git.example.org/b/api"]
    slugs = [
        world.bobs_agent.call("project_resolve_or_create", name="api", git_remote=remote).slug for remote in remotes
    ]
    assert slugs == ["api", "api-2"]


def test_a_remote_with_credentials_keeps_none(world):
    made = world.bobs_agent.rest.post(
        "/projects/resolve-or-create", git_remote="https://oauth2:s3cret@git.example.org/a/b"
    )
    assert "s3cret" not in made.content.decode() + str(Project.objects.values().get())


def test_a_bound_connection_finds_its_own_workspace_and_makes_none(world):
    """D-22: another one is refused alike, whether it exists or not."""
    rest = world.doras_agent.rest
    other = world.bobs_agent.call("project_create", name="Other", external_key="OTHER")
    assert rest.post("/projects/resolve", {}).json()["project_id"] == world.workspace.pk
    own = rest.post("/projects/resolve-or-create", git_remote="git@git.example.org:team/relay.git").json()
    assert (own["project_id"], own["created"]) == (world.workspace.pk, False)
    answers = {
        rest.post(path, known).content
        for path in ("/projects/resolve", "/projects/resolve-or-create")
        for known in (
            {"slug": other.slug},
            {"external_key": "OTHER"},
            {"slug": "nowhere"},
            {"git_remote": "https://x.example/y"},
        )
    }
    assert len(answers) == 1 and b"WORKSPACE_MISMATCH" in answers.pop()
    assert Project.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_agents_that_come_at_once_get_one_workspace():
    agents = [World().agent(f"agent {number}") for number in range(8)]

    def resolve(agent):
        try:
            return agent.call("project_resolve_or_create", git_remote=REMOTE)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(resolve, agents))
    assert len({answer.project_id for answer in answers}) == 1
    assert sum(answer.created for answer in answers) == 1
    assert Project.objects.count() == 1 and Change.objects.count() == 1
