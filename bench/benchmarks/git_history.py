"""How long history and a difference take at 50,000 commits, beside genuine git on the same repository."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from statistics import median
from typing import Any

from bench import repositories
from bench.registry import Benchmark, Options
from bench.report import Figure, Report, table

FILES, COMMITS = 2_000, 50_000
QUICK_FILES, QUICK_COMMITS = 200, 2_000
TURNS = 15
PAGE = 50


def run(options: Options) -> Report:
    files, commits = (QUICK_FILES, QUICK_COMMITS) if options.quick else (FILES, COMMITS)
    kept = repositories.template(files, commits)
    with repositories.store("git-history") as store:
        project = store.workspace("Long history")
        repository = store.take_in(project, kept, commits)
        shas = repositories.git(kept, "log", "--reverse", "--format=%H").decode().split()
        enter(repository, shas, files)
        number = files // 3
        last = max(at for at in range(commits) if at == 0 or at % files == number)
        path, folder = repositories.path_of(number), kept

        def history(**asked: Any) -> Callable[[], object]:
            return lambda: store.call("memory_repository_history", limit=PAGE, **asked)

        resource = f"mem_bench{number}"
        cases: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
            "history": (history(), lambda: repositories.git(folder, "log", f"-{PAGE}", "--format=%H %s")),
            "history of a workspace": (
                history(project_id=project),
                lambda: repositories.git(folder, "log", f"-{PAGE}", "--format=%H %s"),
            ),
            "history of one document": (
                history(resource_id=resource),
                lambda: repositories.git(folder, "log", f"-{PAGE}", "--format=%H %s", "--", path),
            ),
            "difference of one document": (
                lambda: store.call("memory_repository_commit_get", commit=shas[last], resource_id=resource),
                lambda: repositories.git(folder, "show", shas[last], "--", path),
            ),
            "difference of one document over all": (
                lambda: store.call(
                    "memory_repository_diff", repository_id=repository.pk, from_commit=shas[0], resource_id=resource
                ),
                lambda: repositories.git(folder, "diff", shas[0], "main", "--", path),
            ),
        }
        ratios, rows = {}, []
        for name, (ours, theirs) in cases.items():
            pairs = [(timed(ours), timed(theirs)) for _turn in range(TURNS)][2:]
            ratios[name] = median(mine / other for mine, other in pairs)
            rows.append([name, *(f"{median(side) * 1e3:.1f}" for side in zip(*pairs, strict=True))])
    figures = [Figure(f"{name} beside git", value, 5.0 if name == "history" else 8.0) for name, value in ratios.items()]
    figures[2] = Figure("history of one document beside git", ratios["history of one document"], 1.0)
    return Report(figures, table([f"at {commits:,} commits, ms", "MemRelay", "git"], rows))


def timed(do: Callable[[], object]) -> float:
    started = time.perf_counter()
    do()
    return time.perf_counter() - started


def enter(repository: Any, shas: list[str], files: int) -> None:
    """The rows that commits of our own would have left."""
    from apps.base.rows import insert_rows
    from apps.base.transactions import short_transaction
    from apps.memory_git.models import CommitScope, GitCommit

    scope = repository.scope_key
    for start in range(0, len(shas), 5000):
        commits = [
            GitCommit(
                repository=repository,
                sha=sha,
                position=number + 1,
                operation_id=f"op_{number}",
                name="memory_update",
                actor="bench",
                origin="agent",
                profile="shared",
                subject=f"Commit {number}",
                changes=1,
                at=datetime.fromtimestamp(repositories.FIRST_SECOND + number, UTC),
            )
            for number, sha in enumerate(shas[start : start + 5000], start=start)
        ]
        with short_transaction():
            insert_rows(commits)
            insert_rows([CommitScope(commit=one, scope_key=scope, at=one.at) for one in commits], keys=False)
            insert_rows([_version(one, number, scope) for one in commits for number in changed(one, files)], keys=False)


def changed(commit: Any, files: int) -> list[int]:
    number = commit.position - 1
    return list(range(files)) if number == 0 else [number % files]


def _version(commit: Any, number: int, scope: str) -> Any:
    from apps.memory_git.models import DocumentVersion

    return DocumentVersion(
        commit=commit, repository=commit.repository, stable_id=f"mem_bench{number}", resource="memory", scope_key=scope,
        revision=commit.position, path=repositories.path_of(number), change="modified", blob="0" * 40,
        title=f"Note {number}", at=commit.at,
    )  # fmt: skip


def make(options: Options) -> None:
    repositories.template(*((QUICK_FILES, QUICK_COMMITS) if options.quick else (FILES, COMMITS)))


BENCHMARK = Benchmark("history and differences at 50,000 commits, beside genuine git", make, run)
