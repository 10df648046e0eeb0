"""The operator's pages: who enters, what the first one tells, and that every button is an operation (D-43)."""

import re
from typing import Any

import pytest
from django.contrib import admin
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import translation
from django_q.models import Failure, OrmQ, Success

from apps.accounts.models import McpToken, User
from apps.base import clock
from apps.curation.models import CurationJob
from apps.instance.admin_words import COLUMNS, ROOMS, ROWS
from apps.leases.services import take
from apps.llm.models import ConnectionHealth, ModelCall, ModelConnection
from apps.memories.models import FolderJob, Memory
from apps.memories.services.jobs import start_export
from apps.operations.administration import ReadOnlyAdmin
from apps.profiles.models import Profile
from apps.workspaces.models import Project
from tests.world import PASSWORD, World, call

pytestmark = pytest.mark.django_db
MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)
READ_ONLY = [model for model in MODELS if model is not User]
by_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)


@pytest.fixture
def operator(world: World) -> Client:
    return world.at_the_console(world.alice).client


@pytest.fixture
def lived_in(world: World, tmp_path: Any) -> str:
    """A row of every kind; answers the workspace's id."""
    project = world.workspace.pk
    agent = world.bobs_agent
    agent.call("memory_save", title="Deploy", body="How to deploy.", project_id=project, request_id="once")
    agent.call("checkpoint_save", title="Halfway", completed="Half of it.", project_id=project)
    (tmp_path / "empty").mkdir()
    start_export(world.operator, str(tmp_path / "empty"), f"project/{project}")
    take("job/made-up", kind="job")
    now = clock.now()
    for success, kind in ((True, Success), (False, Failure)):
        key = f"{kind.__name__}-{now:%H%M%S}"
        kind.objects.create(
            id=key, name=key, func="apps.memories.jobs.run_folder_job", started=now, stopped=now, success=success,
            result="It broke : Traceback" if not success else None,
        )  # fmt: skip
    connection = ModelConnection.objects.create(
        id="con_1", revision=1, name="Gateway", base_url="https://model.example.org/v1", text_model="words-1", made_at=now,
        made_by="alice", is_current=True, sealed_token=b"sealed-secret-bytes",
    )  # fmt: skip
    ConnectionHealth.objects.create(connection=connection, state="available")
    ModelCall.objects.create(
        id="call_1", purpose="curation", connection_revision=1, connection_name="Gateway", protocol="responses",
        streamed=False, model="words-1", owner="x", started_at=now, outcome="TIMEOUT",
    )  # fmt: skip
    CurationJob.objects.create(
        id="cur_1", scope_key=f"project/{project}", project_id=project, coalesce_key="cur_1", state="failed",
        error_code="MODEL_TIMEOUT", profile="shared",
    )  # fmt: skip
    return project


def page(client: Client, name: str, *arguments: Any, **query: Any) -> HttpResponse:
    return client.get(reverse(f"admin:{name}", args=arguments), query)


def pages_of(client: Client, model: Any) -> list[HttpResponse]:
    """A model's list, and its first row."""
    name = f"{model._meta.app_label}_{model._meta.model_name}"
    first = admin.site._registry[model].get_queryset(rf()).first()
    lists = page(client, f"{name}_changelist")
    return [lists] if first is None else [lists, page(client, f"{name}_change", first.pk)]


def rf() -> Any:
    return RequestFactory().get("/")


def press(client: Client, model: Any, action: str, *rows: Any) -> str:
    """Choose rows of a list and press a button; answers what is told."""
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
    sent = {"action": action, "_selected_action": [row.pk for row in rows]}
    return client.post(reverse(name), sent, follow=True).content.decode()


# Who enters.


def test_only_superusers_enter(world: World) -> None:
    anonymous = Client().get("/admin/")
    assert anonymous.status_code == 302 and "/admin/login/" in anonymous["Location"]
    assert Client().get(anonymous["Location"], follow=True).resolver_match.url_name == "sign-in"
    staff = User.objects.create_user("staff", password=PASSWORD, is_staff=True)
    for person in (world.member, staff):
        refused = world.at_the_console(person).client.get("/admin/memories/memory/")
        assert refused.status_code == 403, person
    assert world.at_the_console(world.alice).client.get("/admin/").status_code == 200


def test_a_one_time_password_opens_its_change_alone(world: World) -> None:
    User.objects.filter(pk=world.alice.pk).update(must_change_password=True)
    answer = world.at_the_console(world.alice).client.get("/admin/")
    assert (answer.status_code, answer["Location"]) == (302, reverse("password-change"))


def test_an_agents_token_opens_no_page(world: World) -> None:
    answer = Client(headers={"authorization": f"Bearer {world.alices_agent.token}"}).get("/admin/")
    assert answer.status_code == 302


def test_signing_out_here_signs_out_of_the_console(world: World, operator: Client) -> None:
    operator.post("/admin/logout/")
    assert operator.get("/").status_code == 302


# What is shown.


@pytest.mark.parametrize(("language", "title"), [("en", "State of the server"), ("zh-hans", "")])
def test_the_first_page_is_the_state_of_the_server(
    world: World, operator: Client, lived_in: str, language: str, title: str
) -> None:
    operator.cookies["memrelay_language"] = language
    told = operator.get("/admin/").content.decode()
    assert title in told
    assert "job/made-up" in told and "TIMEOUT" in told and "MODEL_TIMEOUT" in told
    assert reverse("dashboard") in told and "run_folder_job" in told
    context = operator.get("/admin/").context
    assert context["tokens"] == {"active": 1, "used_lately": 1, "never_used": 0, "expired": 0, "revoked": 0}
    assert context["queue"].bells == OrmQ.objects.count() == 1
    assert context["health"].parts and context["storage"].free_bytes > 0
    assert [room["app_label"] for room in context["app_list"]] == [name for name in ROOMS if name in labels()]


def labels() -> set[str]:
    return {model._meta.app_label for model in MODELS}


def test_the_first_page_asks_few_queries(operator: Client, lived_in: str, django_assert_max_num_queries: Any) -> None:
    operator.get("/admin/")
    with django_assert_max_num_queries(60):
        operator.get("/admin/")


@by_model
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_list_and_row_is_there_in_both_languages(
    operator: Client, lived_in: str, model: Any, language: str
) -> None:
    operator.cookies["memrelay_language"] = language
    for answer in pages_of(operator, model):
        assert answer.status_code == 200
        told = answer.content.decode()
        assert f'lang="{language}"' in told
        assert not re.search(r"\sstyle=|<style|\son[a-z]+=\"|javascript:", told)
        assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>\s*\S", told)
        assert "default-src 'self'" in answer["Content-Security-Policy"]


@by_model
def test_every_row_and_column_has_its_word(model: Any) -> None:
    shown = admin.site._registry[model]
    assert model._meta.label in ROWS and model._meta.app_label in ROOMS
    if isinstance(shown, ReadOnlyAdmin) and model._meta.app_label != "django_q":
        names = [model._meta.get_field(name).verbose_name for name in shown.get_fields(rf())]
        with translation.override("en"):
            words = {str(word) for word in COLUMNS.values()}
            assert [str(name) for name in names if str(name) not in words and str(name) != "ID"] == []


@by_model
def test_every_list_can_be_searched_filtered_and_walked_by_date(operator: Client, lived_in: str, model: Any) -> None:
    shown, name = admin.site._registry[model], f"{model._meta.app_label}_{model._meta.model_name}_changelist"
    if shown.search_fields:
        assert page(operator, name, q="project/x y").status_code == 200
    if shown.date_hierarchy:
        assert page(operator, name, **{f"{shown.date_hierarchy}__year": 2026}).status_code == 200
    for part in shown.list_display:
        assert page(operator, name, o=shown.list_display.index(part) + 1).status_code == 200


def test_no_page_shows_a_secret(world: World, operator: Client, lived_in: str) -> None:
    digests = list(McpToken.objects.values_list("digest", flat=True))
    told = "".join(answer.content.decode() for model in READ_ONLY for answer in pages_of(operator, model))
    assert "sealed" not in told
    assert not [digest for digest in digests if digest in told]


def test_pages_link_to_the_console(operator: Client, lived_in: str) -> None:
    memory = Memory.objects.get(resource="memory")
    told = page(operator, "memories_memory_change", memory.pk).content.decode()
    assert reverse("memory-detail", args=[memory.stable_id]) in told
    assert (
        reverse("workspace-detail", args=[lived_in])
        in page(operator, "workspaces_project_change", lived_in).content.decode()
    )


# Nothing is changed through a form.


@pytest.mark.parametrize("model", READ_ONLY, ids=lambda model: model._meta.label)
def test_rows_have_no_form(operator: Client, lived_in: str, model: Any) -> None:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    assert operator.post(reverse(f"{name}_add"), {}).status_code == 403
    first = admin.site._registry[model].get_queryset(rf()).first()
    if first is not None:
        assert operator.post(reverse(f"{name}_change", args=[first.pk]), {}).status_code == 403
        deleted = operator.post(f"/admin/{model._meta.app_label}/{model._meta.model_name}/{first.pk}/delete/", {})
        assert deleted.status_code in (200, 302, 403) and model._default_manager.filter(pk=first.pk).exists()
    assert "delete_selected" not in page(operator, f"{name[6:]}_changelist").content.decode()


def test_people_are_made_changed_and_switched_off_and_never_deleted(world: World, operator: Client) -> None:
    sent = {"username": "eve", "usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    assert operator.post("/admin/accounts/user/add/", sent).status_code == 302
    eve = User.objects.get(username="eve")
    changed = {"username": "eve", "profile": "shared", "zone": "", "is_active": ""}
    assert operator.post(f"/admin/accounts/user/{eve.pk}/change/", changed).status_code == 302
    eve.refresh_from_db()
    assert eve.is_active is False
    assert operator.post(f"/admin/accounts/user/{eve.pk}/delete/", {"post": "yes"}).status_code == 403


# Buttons are operations.


def test_tokens_are_revoked(world: World, operator: Client) -> None:
    bob = world.bobs_agent
    told = press(operator, McpToken, "revoke", *McpToken.objects.all())
    assert "1" in told and McpToken.objects.get().revoked_at
    assert bob.rest.get("/memories").status_code == 401


def test_jobs_are_stopped_taken_up_again_and_cancelled(operator: Client, lived_in: str) -> None:
    job = FolderJob.objects.get()
    for action, state in (("stop", "paused"), ("go_on", "waiting"), ("cancel", "cancelled")):
        press(operator, FolderJob, action, job)
        job.refresh_from_db()
        assert job.state == state
    assert "nothing is left to do" in press(operator, FolderJob, "go_on", job)


def test_curations_are_cancelled_and_a_refusal_is_told(operator: Client, lived_in: str) -> None:
    job = CurationJob.objects.get()
    assert "messagelist" in press(operator, CurationJob, "retry", job)  # AI curation is off.
    CurationJob.objects.update(state="queued")
    press(operator, CurationJob, "cancel", job)
    assert CurationJob.objects.get().state == "cancelled"


def test_memories_go_down_the_ledgers_road(operator: Client, lived_in: str) -> None:
    memory, checkpoint = Memory.objects.get(resource="memory"), Memory.objects.get(resource="checkpoint")
    told = press(operator, Memory, "archive", memory, checkpoint)
    memory.refresh_from_db()
    assert memory.status == "archived" and checkpoint.stable_id in told.casefold()  # One refusal stops no other call.
    for action, status in (("unarchive", "active"), ("move_to_trash", "deleted"), ("restore", "active")):
        press(operator, Memory, action, memory)
        memory.refresh_from_db()
        assert memory.status == status
    assert memory.revision == 5 and memory.revisions.get(number=5).actor == "alice"


def test_workspaces_are_archived_and_spaces_switched_off(world: World, operator: Client, lived_in: str) -> None:
    project = Project.objects.get()
    press(operator, Project, "archive", project)
    assert Project.objects.get().archived_at
    press(operator, Project, "unarchive", project)
    assert Project.objects.get().archived_at is None
    press(operator, Profile, "disable", *Profile.objects.all())
    assert dict(Profile.objects.values_list("pk", "enabled")) == {"shared": True, "bob": False}
    press(operator, Profile, "enable", *Profile.objects.all())
    assert Profile.objects.get(pk="bob").enabled


@pytest.mark.parametrize("name", ["release-bells", "test-model", "curation-on", "curation-off"])
def test_buttons_of_the_first_page_tell_what_came_of_them(operator: Client, name: str) -> None:
    answer = operator.post(reverse("admin:do", args=[name]), follow=True)
    assert answer.status_code == 200 and len(answer.context["messages"]) == 1
    assert operator.get(reverse("admin:do", args=[name])).status_code == 405


def test_a_button_that_does_not_exist_is_not_pressed(operator: Client) -> None:
    assert operator.post(reverse("admin:do", args=["format-disk"])).status_code == 404


def test_bells_that_a_dead_worker_took_are_released(operator: Client, lived_in: str) -> None:
    OrmQ.objects.update(lock=clock.now().replace(year=2030))
    operator.post(reverse("admin:do", args=["release-bells"]))
    assert OrmQ.objects.get().lock.year < 2030


# Ends.


def test_a_workspace_is_deleted_after_a_look_at_what_goes_where(operator: Client, lived_in: str) -> None:
    FolderJob.objects.all().delete()
    address = reverse("admin:workspace-delete", args=[lived_in])
    shown = operator.get(address)
    assert shown.status_code == 200 and shown.context["preview"].documents == 2
    assert Project.objects.get().deleted_at is None
    operator.post(address)
    assert Project.objects.get().deleted_at and not Memory.objects.exclude(status="deleted").exists()


def test_what_is_in_the_way_is_shown_instead_of_the_button(operator: Client, lived_in: str) -> None:
    told = operator.get(reverse("admin:workspace-delete", args=[lived_in])).content.decode()
    assert "errornote" in told and "submit-row" not in told


def test_a_workspace_is_merged_into_the_one_that_was_chosen(world: World, operator: Client, lived_in: str) -> None:
    FolderJob.objects.all().delete()
    other: Any = call(world.operator, "project_create", name="Other")
    address = reverse("admin:workspace-merge", args=[lived_in])
    assert operator.get(address).context["preview"] is None
    assert operator.get(address, {"into": other.project_id}).context["preview"].into.name == "Other"
    operator.post(address, {"into": other.project_id})
    assert Project.objects.get(pk=lived_in).merged_into_id == other.project_id


def test_a_memory_space_is_deleted_with_somewhere_to_go(world: World, operator: Client) -> None:
    world.bobs_agent.call("memory_save", title="Tabs", body="Bob likes tabs.")
    address = reverse("admin:space-delete", args=["bob"])
    assert operator.get(address).context["preview"].obstacles
    assert operator.get(address, {"migrate_to": "shared"}).context["preview"].obstacles == []
    operator.post(address, {"migrate_to": "shared"})
    assert not Profile.objects.filter(pk="bob").exists()


def test_what_does_not_exist_leads_back_to_the_list(operator: Client) -> None:
    answer = operator.get(reverse("admin:workspace-delete", args=["prj_nothing"]), follow=True)
    assert answer.status_code == 200 and answer.resolver_match.url_name == "workspaces_project_changelist"
