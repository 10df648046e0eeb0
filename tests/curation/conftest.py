"""A workspace with thirty memories in two languages, curation switched on, and the model server as a program."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.curation.jobs import run_curation_job
from apps.curation.models import CurationJob
from apps.curation.services import curation_settings_update
from tests.doubles.model import ModelDouble
from tests.llm.conftest import Connect, connect, model, model_process  # noqa: F401 - fixtures
from tests.world import World

ENGLISH = [
    "The relay keeps memories as plain Markdown files.",
    "We decided to use SQLite in WAL mode, because one file is easy to copy.",
    "Deployments happen on Tuesdays; Maya approves them.",
]
CHINESE = [
    "我们决定用中文写周报，每周五下午发出。",
    "搜索要支持中文分词，单字也要能找到。",
    "备份每天凌晨两点执行，保留三十天。",
]

# A double's answer: two documents that cite everything they were given, word for word.
ANSWER: dict[str, Any] = {
    "documents": [
        {
            "document_type": "overview",
            "title": "Overview of the relay",
            "sections": [{"heading": "Aim", "body": "It keeps memories. 它保存记忆。", "source_ids": "$ids"}],
            "source_ids": "$ids",
        },
        {
            "document_type": "current-state",
            "title": "Where it stands",
            "sections": [{"heading": "Now", "body": "Backups run at night.\n\n- next: search", "source_ids": "$ids"}],
            "source_ids": [],
        },
    ],
    "conflicts": [],
    "change_summary": ["Both documents are new."],
}
MEMORY_IDS = r"\bmem_[0-9a-hjkmnp-tv-z]{26}\b"
GOOD = {"template": ANSWER, "ids": MEMORY_IDS}


@pytest.fixture
def switched_on(world: World, model: ModelDouble, connect: Connect, settings: Any) -> ModelDouble:  # noqa: F811
    """Curation as an administrator leaves it; failed jobs are tried again at once."""
    settings.CURATION_RETRY_SECONDS = 0
    connect(model)
    curation_settings_update(world.operator, enabled=True)
    model.answer()
    model.scenario(otherwise=GOOD)
    return model


@pytest.fixture
def thirty(world: World) -> list[str]:
    """Thirty memories of one workspace, and their ids."""
    project = world.workspace.pk
    return [
        world.bobs_agent.call(
            "memory_save",
            title=f"Note {number:02} 笔记",
            body=f"{(ENGLISH + CHINESE)[number % 6]} ({number})",
            project_id=project,
        ).memory_id
        for number in range(30)
    ]


@pytest.fixture
def curate(world: World) -> Callable[..., CurationJob]:
    """Ask for a curation of the workspace as Bob's agent, and be the worker that does it."""

    def run(**arguments: Any) -> CurationJob:
        asked = world.bobs_agent.call("curation_run", project_id=world.workspace.pk, **arguments)
        return worked(asked.job_id)

    return run


def worked(job_id: str) -> CurationJob:
    """One bell, answered."""
    run_curation_job(job_id)
    return CurationJob.objects.get(pk=job_id)
