"""Jobs: off and on, reused and replaced, cancelled and tried again, waiting for a model that is away."""

from datetime import timedelta
from typing import Any

import pytest
from django_q.models import OrmQ

from apps.base import clock
from apps.curation import running
from apps.curation.jobs import ring_for_waiting
from apps.curation.models import CurationAttempt, CurationCursor, CurationJob
from apps.curation.work import scope_lease
from apps.leases.services import holding
from apps.llm.jobs import connection_probe
from apps.llm.models import ModelConnection
from apps.memories.models import Memory, MemoryRevision, Resource
from tests.curation.conftest import GOOD, worked
from tests.world import World, call

pytestmark = pytest.mark.django_db


@pytest.fixture
def few(world: World) -> list[str]:
    saved = [
        world.bobs_agent.call("memory_save", title=title, body=f"{title} holds.", project_id=world.workspace.pk)
        for title in ("One", "Two")
    ]
    return [one.memory_id for one in saved]


def ask(world: World, **arguments: Any) -> Any:
    return world.bobs_agent.call("curation_run", project_id=world.workspace.pk, **arguments)


def refusal(world: World, path: str, **fields: Any) -> str:
    return str(world.bobs_agent.rest.post(path, **fields).json()["error"]["code"])


def curated() -> int:
    return Memory.objects.filter(resource=Resource.CURATED).count()


# ------------------------------------------------------------------------------------------------------ off and on


def test_while_off_nothing_is_made_and_the_server_is_well(world, few):
    assert refusal(world, "/curation/jobs", project_id=world.workspace.pk) == "FEATURE_DISABLED"
    assert not CurationJob.objects.exists() and not OrmQ.objects.exists()
    parts = {part.part: part.state for part in call(world.operator, "health_get").parts}
    assert parts["curation"] == "off" and "failed" not in parts.values()
    status = world.bobs_agent.call("curation_status")
    assert (status.enabled, status.model, status.queue.waiting) == (False, "unconfigured", 0)
    assert world.bobs_agent.call("capabilities_get").curation_enabled is False


def test_it_cannot_be_switched_on_without_a_model(world):
    answer = world.alices_agent.rest.patch("/curation/settings", enabled=True)
    assert answer.json()["error"]["code"] == "MODEL_NOT_CONFIGURED"
    assert world.alices_agent.call("curation_settings_get").enabled is False


def test_only_an_administrator_switches(world, switched_on):
    assert world.bobs_agent.rest.patch("/curation/settings", enabled=False).status_code == 403
    assert world.bobs_agent.call("curation_settings_get").active is True
    assert world.bobs_agent.call("capabilities_get").curation_enabled is True


def test_what_was_written_stays_readable_after_switching_off(world, switched_on, few, curate):
    job = curate()
    call(world.operator, "curation_settings_update", enabled=False)

    assert refusal(world, "/curation/jobs", project_id=world.workspace.pk) == "FEATURE_DISABLED"
    assert refusal(world, f"/curation/jobs/{job.pk}/retry") == "FEATURE_DISABLED"
    assert len(world.bobs_agent.call("curated_document_list").documents) == 2
    assert world.bobs_agent.call("curated_document_get", project_id=world.workspace.pk, document_type="overview").body
    assert [one.job_id for one in world.bobs_agent.call("curation_history").jobs] == [job.pk]


def test_a_job_that_waits_while_it_is_switched_off_goes_on_when_it_is_on_again(world, switched_on, few):
    asked = ask(world)
    call(world.operator, "curation_settings_update", enabled=False)
    assert worked(asked.job_id).state == "queued" and ring_for_waiting() == ""

    call(world.operator, "curation_settings_update", enabled=True)
    assert worked(asked.job_id).state == "completed"


def test_the_default_documents_are_those_chosen(world, switched_on, few, curate):
    call(world.operator, "curation_settings_update", document_types=["overview"])
    assert ask(world).document_types == ["overview"]


# ------------------------------------------------------------------------------------------------------- requests


def test_a_request_answers_a_job_at_once_and_rings(world, switched_on, few):
    answer = world.bobs_agent.rest.post("/curation/jobs", project_id=world.workspace.slug, reason="try")

    assert answer.status_code == 202
    told = answer.json()
    assert (told["state"], told["reused"], told["document_types"]) == ("queued", False, ["overview", "current-state"])
    assert told["scope"] == f"project/{world.workspace.pk}" and OrmQ.objects.count() == 1
    assert switched_on.generations() == []


def test_a_second_request_finds_the_job_that_waits(world, switched_on, few):
    first, second = ask(world), ask(world)

    assert (second.job_id, second.reused) == (first.job_id, True)
    queue = world.bobs_agent.call("curation_status").queue
    assert (queue.waiting, queue.merged_triggers) == (1, 1)


def test_a_forced_request_is_not_merged_unless_told_to(world, switched_on, few):
    first = ask(world)
    refused = world.bobs_agent.rest.post("/curation/jobs", project_id=world.workspace.pk, force=True)
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "CURATION_PENDING"
    assert refused.json()["error"]["facts"]["job_id"] == first.job_id

    replaced = ask(world, force=True, pending_policy="replace")
    assert replaced.job_id != first.job_id
    assert CurationJob.objects.get(pk=first.job_id).state == "cancelled"


def test_a_full_request_is_not_lost_in_an_incremental_one(world, switched_on, few):
    first = ask(world)
    second = ask(world, mode="full")
    assert (second.job_id, second.mode) == (first.job_id, "full")


def test_another_workspace_and_a_reader_are_refused(world, switched_on, few):
    other = call(world.operator, "project_create", name="Other")
    told = world.doras_agent.rest.post("/curation/jobs", project_id=other.project_id)
    assert told.json()["error"]["code"] == "WORKSPACE_MISMATCH"
    assert world.carols_reader.rest.post("/curation/jobs", project_id=world.workspace.pk).status_code == 403
    job = ask(world).job_id
    elsewhere = world.agent("elsewhere", project_id=other.project_id)
    assert elsewhere.rest.get(f"/curation/jobs/{job}").status_code == 404
    assert elsewhere.call("curation_status").jobs == []


def test_history_goes_page_by_page(world, switched_on, few, curate):
    jobs = [curate(force=True).pk for _ in range(3)]
    bob = world.bobs_agent

    first = bob.call("curation_history", project_id=world.workspace.pk, limit=2)
    second = bob.call("curation_history", project_id=world.workspace.pk, limit=2, cursor=first.next_cursor)
    assert [one.job_id for one in (*first.jobs, *second.jobs)] == jobs[::-1]
    assert second.next_cursor == ""
    assert first.jobs[0].attempts[0].model == "double-text"
    assert first.jobs[0].attempts[0].protocol == "responses"
    assert bob.call("curation_history", status="failed").jobs == []
    assert bob.rest.get("/curation/history", cursor="nonsense").status_code == 422


# ------------------------------------------------------------------------------------------ cancelling and retrying


def test_a_waiting_job_is_cancelled_at_once(world, switched_on, few):
    asked = ask(world)
    told = world.bobs_agent.call("curation_cancel", job_id=asked.job_id)

    assert told.state == "cancelled"
    assert worked(asked.job_id).state == "cancelled" and switched_on.generations() == []
    assert world.bobs_agent.call("curation_cancel", job_id=asked.job_id).state == "cancelled"


def test_a_job_is_cancelled_while_the_model_thinks_and_nothing_of_it_stays(world, switched_on, few, monkeypatch):
    asked = ask(world)
    genuine = running.generate

    def cancelling(request: Any, **options: Any) -> Any:
        def look(seconds: float) -> None:
            if seconds < 2:
                world.bobs_agent.call("curation_cancel", job_id=asked.job_id)
            options["while_waiting"](seconds)

        return genuine(request, connection=options["connection"], while_waiting=look)

    monkeypatch.setattr(running, "generate", cancelling)
    switched_on.scenario(otherwise={**GOOD, "delay": 3})
    job = worked(asked.job_id)

    assert job.state == "cancelled" and job.cancel_requested is False
    assert job.attempts.get().state == "cancelled"
    assert curated() == 0 and not CurationCursor.objects.exists()


def test_a_job_that_is_cancelled_between_answer_and_apply_writes_nothing(world, switched_on, few, monkeypatch):
    asked = ask(world)
    genuine = running.apply

    def late(work: Any, *args: Any, **kwargs: Any) -> None:
        CurationJob.objects.filter(pk=asked.job_id).update(cancel_requested=True)
        genuine(work, *args, **kwargs)

    monkeypatch.setattr(running, "apply", late)
    job = worked(asked.job_id)

    assert job.state == "cancelled" and curated() == 0 and not CurationCursor.objects.exists()


def test_what_is_done_cannot_be_cancelled(world, switched_on, few, curate):
    job = curate()
    assert refusal(world, f"/curation/jobs/{job.pk}/cancel") == "CURATION_NOT_CANCELLABLE"
    assert refusal(world, f"/curation/jobs/{job.pk}/retry") == "CURATION_NOT_RETRYABLE"


def test_a_failed_job_is_tried_again_by_hand_as_a_new_attempt(world, switched_on, few, curate):
    switched_on.scenario(otherwise={"status": 400, "message": "I do not like this."})
    job = curate()
    assert (job.state, job.error_code) == ("failed", "MODEL_REQUEST_REJECTED")

    switched_on.scenario(otherwise=GOOD)
    told = world.bobs_agent.call("curation_retry", job_id=job.pk)
    assert (told.state, told.error, told.retries) == ("queued", "", 0)
    job = worked(job.pk)
    assert (job.state, job.attempt) == ("completed", 2)


def test_a_retry_with_the_original_connection_needs_it_to_be_there(world, switched_on, few, connect):
    asked = ask(world)
    switched_on.scenario(otherwise={"status": 400})
    worked(asked.job_id)
    connect(switched_on, max_output_tokens=4000)
    path = f"/curation/jobs/{asked.job_id}/retry"
    assert refusal(world, path, use_original_config=True) == "ORIGINAL_CONFIG_GONE"
    assert world.bobs_agent.rest.post(path).status_code == 200


# ------------------------------------------------------------------------------------------- the model is away


def test_a_model_that_is_away_makes_the_job_wait_without_counting(world, switched_on, few, curate):
    switched_on.scenario(otherwise={"status": 503})
    job = curate()

    assert (job.state, job.error_code, job.retries) == ("waiting_dependency", "MODEL_SERVER_FAILED", 0)
    assert job.attempts.get().state == "waiting"
    status = world.bobs_agent.call("curation_status", job_id=job.pk)
    assert (status.queue.waiting_for_model, status.job.state) == (1, "waiting_dependency")
    assert world.bobs_agent.call("curation_model_connection_status").waiting_jobs == 1
    assert ring_for_waiting() == ""


def test_a_recovered_model_wakes_what_waited(world, switched_on, few, curate):
    switched_on.scenario(otherwise={"status": 503})
    job = curate()
    OrmQ.objects.all().delete()
    switched_on.scenario(otherwise={"fit": True})
    connection_probe(ModelConnection.objects.get(is_current=True).pk)
    switched_on.scenario(otherwise=GOOD)
    job.refresh_from_db()
    assert (job.state, OrmQ.objects.count()) == ("queued", 1)

    job = worked(job.pk)
    assert (job.state, job.attempt, job.retries) == ("completed", 2, 0)


def test_a_wrong_token_waits_for_a_person(world, switched_on, few, curate):
    switched_on.scenario(token="another")
    job = curate()
    assert (job.state, job.error_code) == ("waiting_dependency", "MODEL_AUTH_FAILED")


def test_a_cap_that_is_reached_pauses_until_the_next_day(world, switched_on, few, curate, settings):
    settings.MODEL_DAY_TOKENS = 10
    job = curate()

    assert (job.state, job.error_code, job.retries) == ("waiting_dependency", "BUDGET_REACHED", 0)
    assert clock.now() < job.next_retry_at <= clock.now() + timedelta(days=1)
    assert not CurationCursor.objects.exists() and switched_on.generations() == []


# -------------------------------------------------------------------------------------------------- processes


def test_one_workspace_is_curated_by_one_worker_at_a_time(world, switched_on, few):
    asked = ask(world)
    with holding(scope_lease(f"project/{world.workspace.pk}"), kind="curation"):
        assert worked(asked.job_id).state == "queued"
        assert ring_for_waiting() == ""
    assert worked(asked.job_id).state == "completed"


def test_a_job_whose_process_died_is_found_and_begun_anew(world, switched_on, few):
    asked = ask(world)
    job = CurationJob.objects.get(pk=asked.job_id)
    job.state, job.attempt = "running", 1
    job.save()
    job.attempts.create(number=1)
    OrmQ.objects.all().delete()

    assert ring_for_waiting() == job.pk
    job = worked(job.pk)
    assert (job.state, job.attempt) == ("completed", 2)
    assert [attempt.state for attempt in job.attempts.all()] == ["interrupted", "completed"]


def test_an_attempt_that_was_overtaken_writes_nothing(world, switched_on, few, monkeypatch):
    asked = ask(world)
    genuine = running.apply

    def overtaken(work: Any, *args: Any, **kwargs: Any) -> None:
        CurationJob.objects.filter(pk=asked.job_id).update(attempt=7)
        genuine(work, *args, **kwargs)

    monkeypatch.setattr(running, "apply", overtaken)
    job = worked(asked.job_id)

    assert (job.state, job.attempt) == ("applying", 7)
    assert curated() == 0 and not CurationCursor.objects.exists()


def test_attempts_that_die_again_and_again_end(world, switched_on, few):
    asked = ask(world)
    job = CurationJob.objects.get(pk=asked.job_id)
    job.state, job.attempt = "running", 6
    job.save()
    for number in range(1, 7):
        job.attempts.create(number=number, state=CurationAttempt.State.INTERRUPTED)
    job = worked(job.pk)

    assert (job.state, job.error_code) == ("failed", "CURATION_INTERRUPTED")


def test_applying_twice_makes_one_revision(world, switched_on, few, curate):
    """The bell may ring twice: a job that is done is not done again."""
    job = curate()
    assert worked(job.pk).attempt == 1
    assert MemoryRevision.objects.filter(memory__resource=Resource.CURATED).count() == 2
