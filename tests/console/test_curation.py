"""Curation as pages: connecting a model, switching curation on, running it, reading what it wrote from what."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.base.keyring import ensure_keyring
from apps.curation.models import CurationJob, CurationSettings
from apps.llm.models import ModelConnection
from tests.console.looking import sent, text_of
from tests.curation.conftest import (  # noqa: F401 - fixtures
    connect,
    curate,
    model,
    model_process,
    switched_on,
    thirty,
)
from tests.doubles.model import ModelDouble
from tests.world import World

pytestmark = pytest.mark.django_db

TOKEN = "sk-console-0123456789abcdefghij"
CONNECTION = {
    "name": "",
    "vision_model": "",
    "protocol": "auto",
    "streaming": "auto",
    "request_timeout_seconds": 60,
    "probe_interval_seconds": 0,
    "max_input_tokens": 20_000,
    "max_output_tokens": 4_000,
    "context_tokens": 32_000,
    "admin_url": "",
    "enabled": "on",
}


@pytest.fixture(autouse=True)
def _keys(db: None, data_folder: Any) -> None:
    ensure_keyring()


def saved(alice: Client, double: ModelDouble, **changed: Any) -> str:
    now = ModelConnection.objects.filter(is_current=True).first()
    fields = {"base_url": double.base_url, "token": TOKEN, "text_model": "double-text", **CONNECTION}
    return sent(alice, "/model", **{**fields, "revision": now.revision if now else 0, **changed})


# ---------------------------------------------------------------------------------------------------------------------- off


def test_without_a_model_every_page_is_neutral(world: World, alice: Client, bob: Client) -> None:
    for path in ("/documents", "/curation"):
        page = text_of(alice, path)
        assert "AI curation is not enabled." in page
        assert "Connect a model" in page
        assert "notice-error" not in page
        assert "notice-warning" not in page
        assert "Connect a model" not in text_of(bob, path)
    page = text_of(alice, "/model")
    assert "No model is connected. That is fine" in page
    assert "badge-danger" not in page
    assert "Curated documents" not in text_of(alice, f"/workspace/{world.workspace.pk}")
    assert "Connect a model" not in text_of(alice, "/")


def test_members_do_not_reach_the_connection(bob: Client) -> None:
    assert bob.get("/model").status_code == 403
    assert bob.get("/model/list").status_code == 403
    for path in ("/model", "/model/test", "/model/delete", "/curation/switch"):
        assert bob.post(path, {"enabled": "true"}).status_code == 403
    assert 'href="/model"' not in text_of(bob, "/")


# --------------------------------------------------------------------------------------------------------------- connecting


def test_a_model_is_connected_tested_and_its_token_never_shown(alice: Client, model: ModelDouble) -> None:  # noqa: F811
    model.scenario(token=TOKEN)
    page = saved(alice, model, test="1")
    assert "The connection is saved." in page
    assert "The model answers" in page
    assert "Available" in page
    assert "Answers in a given structure" in page
    assert TOKEN not in page
    assert TOKEN not in text_of(alice, "/model")
    assert '<option value="double-text">' in text_of(alice, "/model/list")
    page = saved(alice, model, token="")
    assert ModelConnection.objects.get(is_current=True).sealed_token is not None
    saved(alice, model, token="", forget_token="on")
    assert ModelConnection.objects.get(is_current=True).sealed_token is None


def test_what_the_test_found_wrong_is_told_in_its_place(alice: Client, model: ModelDouble) -> None:  # noqa: F811
    model.scenario(token="another")
    page = saved(alice, model, test="1")
    assert "The model endpoint refused the token." in page
    assert "Needs another setting" in page
    assert "badge-danger" in page
    assert "The model answers" not in page


def test_a_wrong_field_is_told_beside_it_and_the_token_not_sent_back(alice: Client, model: ModelDouble) -> None:  # noqa: F811
    page = saved(alice, model, base_url="ftp://nowhere", max_input_tokens=1)
    assert "aria-invalid" in page
    assert "<details open>" in page
    assert TOKEN not in page
    assert not ModelConnection.objects.exists()


def test_a_change_by_somebody_else_is_not_written_over(alice: Client, model: ModelDouble) -> None:  # noqa: F811
    saved(alice, model)
    saved(alice, model, text_model="double-vision")
    page = saved(alice, model, text_model="double-text", revision=1)
    assert "Somebody else has changed the model connection" in page
    assert ModelConnection.objects.get(is_current=True).text_model == "double-vision"


def test_curation_is_switched_on_and_off_and_the_connection_taken_away(alice: Client, model: ModelDouble) -> None:  # noqa: F811
    assert "No model is connected." in sent(alice, "/curation/switch", enabled="true")
    saved(alice, model)
    assert "AI curation is on." in sent(alice, "/curation/switch", enabled="true")
    assert "AI curation is not enabled." not in text_of(alice, "/curation")
    assert "AI curation is off." in sent(alice, "/curation/switch", enabled="false")
    assert not CurationSettings.objects.get().enabled
    assert "its token destroyed" in sent(alice, "/model/delete")
    assert "No model is connected. That is fine" in text_of(alice, "/model")


# ------------------------------------------------------------------------------------------------------------------ curating


def test_a_curation_is_run_watched_and_called_off(
    world: World,
    alice: Client,
    switched_on: ModelDouble,  # noqa: F811
    thirty: list[str],  # noqa: F811
) -> None:
    here = {"project_id": world.workspace.pk}
    assert "Curate now" in text_of(alice, f"/workspace/{world.workspace.pk}")
    page = sent(alice, "/curation/run", **here)
    job = CurationJob.objects.get()
    assert "Queued" in page
    assert 'hx-trigger="every 1s"' in page
    assert "<html" not in alice.get(f"/curation/job/{job.pk}", headers={"HX-Request": "true"}).content.decode()
    assert "it does this one too" in sent(alice, "/curation/run", **here)
    assert "1 waiting" in text_of(alice, "/curation")
    page = sent(alice, f"/curation/job/{job.pk}/cancel")
    assert "It is called off" in page
    assert "Cancelled" in page
    assert alice.get(f"/curation/job/{job.pk}", headers={"HX-Request": "true"}).headers["HX-Refresh"] == "true"
    assert "It is tried again." in sent(alice, f"/curation/job/{job.pk}/retry")
    assert alice.get("/curation/job/none").status_code == 404


def test_what_was_written_is_read_with_its_sources_and_differences(
    world: World,
    alice: Client,
    switched_on: ModelDouble,  # noqa: F811
    thirty: list[str],  # noqa: F811
    curate: Callable[..., CurationJob],  # noqa: F811
) -> None:
    job = curate()
    assert job.state == "completed"
    page = text_of(alice, f"/curation/job/{job.pk}")
    assert "Completed" in page
    assert "Overview of the relay" in page
    assert "Both documents are new." in page
    listed = text_of(alice, "/documents")
    assert "30 sources" in listed
    path = "/document/" + listed.partition('href="/document/')[2].partition('"')[0]
    page = text_of(alice, path)
    assert "Written from 30 sources" in page
    assert f'href="/memory/{thirty[0]}"' in page
    assert "How it was written" in page
    assert f'href="{path}/edit"' not in page
    assert "Curated documents" in text_of(alice, f"/workspace/{world.workspace.pk}")

    gone, changed = thirty[0], thirty[1]
    world.bobs_agent.call("memory_delete", memory_id=gone)
    world.bobs_agent.call("memory_update", memory_id=changed, revision=1, body="It is different now.")
    page = text_of(alice, path)
    assert "Gone" in page
    assert "Changed since" in page
    curate()
    document_id = path.removeprefix("/document/")
    assert alice.get(f"/memory/{document_id}").headers["Location"] == path
    assert "Curated documents" in text_of(alice, f"/memory/{document_id}/history")
    assert "Revert to it" not in text_of(alice, f"/memory/{document_id}/history/1")
    assert alice.get("/document/none").status_code == 404


def test_a_failure_is_told_and_tried_again(
    world: World,
    alice: Client,
    switched_on: ModelDouble,  # noqa: F811
    thirty: list[str],  # noqa: F811
    curate: Callable[..., CurationJob],  # noqa: F811
) -> None:
    switched_on.scenario(otherwise={"status": 401})
    job = curate()
    page = text_of(alice, f"/curation/job/{job.pk}")
    assert "The model endpoint refused the token." in page or "Waiting for the model" in page


def test_broken_addresses_lead_back(alice: Client) -> None:
    for query in ("cursor=broken", "status=none"):
        assert alice.get(f"/curation?{query}").headers["Location"] == "/curation"
