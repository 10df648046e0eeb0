"""Saving, showing and removing the connection, over REST and as operations."""

import subprocess
import sys
from pathlib import Path

import pytest

from apps.base.errors import Invalid
from apps.llm.errors import ModelConnectionChanged
from apps.llm.models import ModelCall, ModelConnection
from tests.llm.conftest import TOKEN
from tests.world import call

pytestmark = pytest.mark.django_db

PATH = "/curation/model-connection"
PROJECT = Path(__file__).resolve().parent.parent.parent


def save(world, **fields):
    return call(world.operator, "curation_model_connection_save", **fields)


@pytest.fixture
def saved(connect, model):
    """A connection that nobody tested; the model server was asked nothing."""
    return connect(model, test=False)


def test_without_a_connection_the_state_is_neutral(world):
    answer = world.carols_reader.rest.get(f"{PATH}/status").json()
    assert (answer["state"], answer["configured"], answer["revision"]) == ("unconfigured", False, 0)
    assert answer["error"] is None and answer["next_probe_at"] is None
    assert {part["state"] for part in answer["capabilities"].values()} == {"unknown"}


def test_saving_asks_the_endpoint_nothing_unless_told_to(world, model, saved):
    assert (saved.state, saved.verified, saved.revision) == ("checking", False, 1)
    assert model.log() == []
    assert save(world, test=True).state == "available"


def test_the_token_is_sealed_and_never_comes_back(world, model, saved):
    row = ModelConnection.objects.get()
    assert TOKEN.encode() not in bytes(row.sealed_token)
    rest = world.alices_agent.rest
    answers = [
        rest.put(PATH, token=TOKEN, base_url=model.base_url),
        rest.get(f"{PATH}/status"),
        rest.post(f"{PATH}/test"),
        rest.get(f"{PATH}/models"),
        rest.get("/curation/model-calls"),
        rest.put(PATH, token=f"{TOKEN} 中文"),
        rest.put(PATH, base_url="http://models.example.org/v1", token=TOKEN),
        rest.delete(PATH),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 200, 422, 422, 200]
    assert all(TOKEN not in answer.content.decode() for answer in answers)
    assert answers[0].json()["has_token"] is True
    assert TOKEN not in repr(ModelConnection.objects.first().__dict__)


def test_only_administrators_may_change_ask_or_list(world, saved):
    for agent in (world.bobs_agent, world.carols_reader, world.doras_agent):
        rest = agent.rest
        refused = [
            rest.put(PATH, text_model="x"),
            rest.delete(PATH),
            rest.post(f"{PATH}/test"),
            rest.get(f"{PATH}/models"),
            rest.get("/curation/model-calls"),
        ]
        assert {answer.status_code for answer in refused} == {403}
        status = rest.get(f"{PATH}/status").json()
        assert status["base_url"] is None and status["text_model"] == "double-text"


def test_what_changes_makes_the_next_revision_and_what_does_not_makes_none(world, model, saved):
    assert save(world, token=TOKEN).revision == 1
    assert save(world, token="sk-another").revision == 2
    assert save(world, name="Team gateway").revision == 3
    assert save(world, name="Team gateway").revision == 3
    assert ModelConnection.objects.filter(is_current=True).count() == 1
    assert ModelConnection.objects.exclude(sealed_token=None).get().revision == 3


def test_a_change_that_is_not_about_the_endpoint_keeps_what_is_known_of_it(world, model, connect):
    assert connect(model).verified
    kept = save(world, name="Team gateway", max_output_tokens=4096)
    assert (kept.verified, kept.state, kept.revision) == (True, "available", 2)
    for change in ({"text_model": "double-vision"}, {"protocol": "responses"}, {"token": "sk-another"}):
        changed = save(world, **change)
        assert (changed.verified, changed.state) == (False, "checking")
        assert changed.capabilities["connect"].state == "unknown"


def test_another_address_needs_the_token_anew(world, model, saved):
    with pytest.raises(Invalid) as failure:
        save(world, base_url="https://elsewhere.example.org/v1")
    assert "token" in failure.value.fields
    assert save(world, base_url=f"{model.base_url}/more").has_token
    assert not save(world, base_url="https://elsewhere.example.org/v1", token=None).has_token
    assert save(world, base_url="https://third.example.org/v1").base_url == "https://third.example.org/v1"


def test_a_stale_revision_is_refused_and_nothing_is_written(world, saved):
    save(world, name="First", revision=1)
    with pytest.raises(ModelConnectionChanged):
        save(world, name="Second", revision=1)
    assert ModelConnection.objects.get(is_current=True).name == "First"


def test_the_first_time_needs_an_address(world):
    with pytest.raises(Invalid) as failure:
        save(world, text_model="x")
    assert set(failure.value.fields) == {"base_url"}


@pytest.mark.parametrize("token", ["two words", "密钥", "a\nb"])
def test_a_token_that_no_header_can_hold_is_refused(world, saved, token):
    with pytest.raises(Invalid) as failure:
        save(world, token=token)
    assert token not in str(failure.value.as_dict())


def test_a_pasted_header_is_a_token_all_the_same(world, saved):
    assert save(world, token=f"  Bearer {TOKEN}\n").revision == 1


def test_a_connection_without_a_model_or_switched_off_is_neutral_and_can_list_models(world, model, connect):
    status = connect(model, text_model="")
    assert (status.state, status.configured, model.log()) == ("unconfigured", False, [])
    models = call(world.operator, "curation_model_list", query="VISION")
    assert [one.model for one in models.models] == ["double-vision"]
    assert models.models[0].context_tokens == 32_768
    with pytest.raises(Invalid):
        call(world.operator, "curation_model_connection_test")
    assert connect(model, enabled=False).state == "unconfigured"


def test_an_endpoint_without_a_list_takes_a_name_by_hand(world, model, connect):
    model.scenario(models=None)
    status = connect(model, text_model="typed-by-hand")
    assert (status.state, status.capabilities["model_discovery"].state) == ("available", "unsupported")
    listed = call(world.operator, "curation_model_list")
    assert (listed.state, listed.models) == ("unsupported", [])


def test_deleting_destroys_the_token_and_keeps_the_records(world, model, connect):
    connect(model)
    calls = ModelCall.objects.count()
    assert calls > 0
    for _ in range(2):
        gone = call(world.operator, "curation_model_connection_delete")
        assert (gone.state, gone.revision) == ("unconfigured", 0)
    assert not ModelConnection.objects.exclude(sealed_token=None).exists()
    assert ModelCall.objects.count() == calls
    assert connect(model).revision == 2


def test_usage_is_told_per_workspace_and_within_reach(world, model, connect, settings):
    connect(model)
    theirs, other = f"project/{world.workspace.pk}", "global/alice"
    for scope, tokens in ((theirs, 100), (theirs, 20), (other, 7)):
        record = ModelCall.objects.first()
        record.pk, record.scope_key = f"call_{scope}_{tokens}", scope
        record.tokens_in, record.tokens_out = tokens, 1
        record.save(force_insert=True)
    settings.MODEL_DAY_TOKENS = 5000
    seen = call(world.doras_agent.caller, "curation_model_usage")
    assert [(one.scope_key, one.tokens_today, one.calls_this_month) for one in seen.scopes] == [(theirs, 122, 2)]
    assert seen.day_cap == 5000
    assert other not in {one.scope_key for one in call(world.bobs_agent.caller, "curation_model_usage").scopes}
    assert other in {one.scope_key for one in call(world.operator, "curation_model_usage").scopes}


def test_calls_are_listed_newest_first_page_by_page(world, model, connect):
    connect(model)
    everything = call(world.operator, "curation_model_call_list").calls
    page = call(world.operator, "curation_model_call_list", limit=2)
    rest = call(world.operator, "curation_model_call_list", cursor=page.next_cursor)
    assert [one.call_id for one in page.calls + rest.calls] == [one.call_id for one in everything]
    assert {one.purpose for one in everything} == {"connection.test"}


def test_a_server_without_a_connection_never_loads_the_client():
    program = (
        "import django, sys; django.setup(); import memrelay.api, memrelay.mcp, apps.llm.port, apps.llm.jobs;"
        "assert 'openai' not in sys.modules"
    )
    environment = {"DJANGO_SETTINGS_MODULE": "memrelay.settings_test", "PATH": ""}
    subprocess.run([sys.executable, "-c", program], cwd=PROJECT, env=environment, check=True, timeout=120)
