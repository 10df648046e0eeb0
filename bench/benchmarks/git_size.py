"""How large a repository is after many commits, beside the same history packed by genuine git."""

import shutil
import time
from pathlib import Path

from bench import repositories
from bench.registry import Benchmark, Options
from bench.report import Figure, Report
from bench.workload import note

COMMITS, QUICK = 10_000, 600
FILES_SHARE = 5  # One new memory in so many commits; the others append to one.
PASS = 500


def run(options: Options) -> Report:
    commits = QUICK if options.quick else COMMITS
    with repositories.store("git-size") as store:
        from django.conf import settings

        from apps.memory_git.jobs import work_here
        from apps.memory_git.models import MemoryRepository
        from apps.memory_git.repository import local, maintenance

        project = store.workspace("Grows")
        store.switch_on()
        ids: list[str] = []
        spent = 0.0
        for number in range(commits):
            if number % FILES_SHARE == 0:
                new = note(number, "size")
                saved = store.call("memory_save", title=new.title, body=new.body, project_id=project, if_exists="new")
                ids.append(saved.memory_id)
            else:
                store.call("memory_append", memory_id=ids[number * 7 % len(ids)], text=note(number, "more").body[:200])
            if number % PASS == PASS - 1:
                started = time.process_time()
                work_here()
                spent += time.process_time() - started
        started = time.process_time()
        work_here()
        spent += time.process_time() - started
        repository = MemoryRepository.objects.get(root=f"projects/{project}")
        folder = Path(settings.MEMORIES_FOLDER) / repository.root
        unpacked = maintenance.size_of(folder / local.GIT)
        alone = Path(settings.DATA_FOLDER) / "alone"
        shutil.copytree(folder / local.GIT, alone / local.GIT)
        done = maintenance.maintain(repository)
        with local.opened(alone) as repo:
            maintenance.pack(repo, repository.branch)
        without_git = maintenance.size_of(alone / local.GIT)
        beside = Path(settings.DATA_FOLDER) / "beside"
        beside.mkdir()
        repositories.git(beside, "init", "-q", "-b", "main", ".")
        history = repositories.git(folder, "fast-export", "main")
        repositories.git(beside, "fast-import", "--quiet", given=history)
        repositories.git(beside, "repack", "-adfq")
        by_git = maintenance.size_of(beside / local.GIT)
        sound = repositories.git(folder, "fsck", "--strict") + repositories.git(alone, "fsck", "--strict")
    figures = [
        Figure("the repository after maintenance beside git's own", int(done["bytes_after"]) / by_git, 1.2),
        Figure("packed without git beside git's own", without_git / by_git, 2.0),
    ]
    lines = [
        f"{commits:,} commits: {unpacked / 2**20:.1f} MiB as written, {int(done['bytes_after']) / 2**20:.1f} after maintenance,"
        f" {without_git / 2**20:.1f} packed without git, {by_git / 2**20:.1f} by git repack -adf.",
        f"A commit took {spent * 1e3 / commits:.1f} ms of CPU in passes of {PASS}.",
    ]
    failures = [line for line in sound.decode().splitlines() if not line.startswith("dangling")]
    return Report(figures, lines, failures)


def make(options: Options) -> None:
    """Everything is made by the run itself."""


BENCHMARK = Benchmark("a repository's size after 10,000 commits, beside genuine git", make, run)
