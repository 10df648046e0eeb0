"""Source folders for the tests of import and export, and jobs run as a worker runs them."""

from pathlib import Path
from typing import Any

from django_q.models import OrmQ

from apps.memories.jobs import run_folder_job
from apps.memories.models import FolderJob
from tests.world import World


def fill(folder: Path, files: dict[str, str | bytes]) -> Path:
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file with its bytes and its time: what an import must leave alone."""
    return {str(file.relative_to(folder)): (file.read_bytes(), file.stat().st_mtime_ns) for file in files_in(folder)}


def files_in(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def imported(world: World, folder: Path, **arguments: Any) -> Any:
    """Import a folder through the operation and the job; answers how the job ended."""
    agent = world.alices_agent
    job = agent.call("memory_import", folder=str(folder), **arguments)
    run_folder_job(job.job_id)
    return agent.call("job_get", job_id=job.job_id)


def titles(world: World, **filters: Any) -> dict[str, Any]:
    listed = world.alices_agent.call("memory_list", limit=200, **filters)
    return {memory.title: memory for memory in listed.memories}


def read(world: World, title: str) -> Any:
    return world.alices_agent.call("memory_get", memory_id=titles(world)[title].memory_id)


def codes(job: Any) -> dict[str, str]:
    return {told.path: told.code for told in job.reports}


def bells() -> list[Any]:
    return [row.task["args"] for row in OrmQ.objects.all() if row.task["func"].endswith("run_folder_job")]


def job_row(job: Any) -> FolderJob:
    return FolderJob.objects.get(pk=job.job_id)
