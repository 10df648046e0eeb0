"""What a commit costs in repositories of three sizes, beside genuine git in the same run."""

import shutil
import time
from pathlib import Path
from statistics import median

from bench import repositories
from bench.registry import Benchmark, Options
from bench.report import Figure, Report, table
from bench.workload import note

SIZES = (100, 10_000, 50_000)
QUICK = (100, 2_000)
TURNS = 30


def run(options: Options) -> Report:
    sizes, turns = (QUICK, 6) if options.quick else (SIZES, TURNS)
    ours: dict[int, list[float]] = {size: [] for size in sizes}
    gits: dict[int, list[float]] = {size: [] for size in sizes}
    with repositories.store("git-commit") as store:
        from django.conf import settings

        from apps.memory_git.committing.passes import commit_root

        projects = {size: store.workspace(f"Files {size}") for size in sizes}
        plain = {size: Path(settings.DATA_FOLDER) / f"plain-{size}" for size in sizes}
        for size in sizes:
            kept = repositories.template(size)
            store.take_in(projects[size], kept, 1)
            shutil.copytree(kept, plain[size])
            repositories.git(plain[size], "read-tree", "HEAD")
        store.switch_on()
        for turn in range(turns + 2):
            for size in sizes if turn % 2 else reversed(sizes):
                new = note(turn, f"commit {size}")
                store.call("memory_save", title=new.title, body=new.body, project_id=projects[size], if_exists="new")
                started = time.perf_counter()
                assert commit_root(f"projects/{projects[size]}") == 1
                taken = time.perf_counter() - started
                beside = by_git(plain[size], turn)
                if turn >= 2:  # The first ones warm up.
                    ours[size].append(taken)
                    gits[size].append(beside)
    least, most = sizes[0], sizes[-1]
    growth = median(large / small for large, small in zip(ours[most], ours[least], strict=True))
    beside_git = median(mine / theirs for mine, theirs in zip(ours[most], gits[most], strict=True))
    figures = [
        Figure(f"a commit among {most:,} files beside one among {least:,}", growth, 1.5),
        Figure(f"beside git add and commit among {most:,}", beside_git, 1.0),
    ]
    rows = [[f"{size:,}", f"{median(ours[size]) * 1e3:.1f}", f"{median(gits[size]) * 1e3:.1f}"] for size in sizes]
    return Report(figures, table(["files", "MemRelay ms", "git ms"], rows))


def by_git(folder: Path, turn: int) -> float:
    path = repositories.path_of(turn)
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(repositories.document(turn, turn + 1))
    started = time.perf_counter()
    repositories.git(folder, "add", "--", path)
    repositories.git(folder, "-c", "user.name=b", "-c", "user.email=b@c", "commit", "-qm", "x", "--no-verify")
    return time.perf_counter() - started


def make(options: Options) -> None:
    for size in QUICK if options.quick else SIZES:
        repositories.template(size)


BENCHMARK = Benchmark("a Git commit among 100, 10,000 and 50,000 files, beside genuine git", make, run)
