"""The memories that benchmarks start from: made once, kept per version, copied for each run.

They lie in ``bench/.data/<version>/<size>/``: a data folder of MemRelay, the floor's database, the ids of all notes.
"""

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.client import agent_of
from bench.floor.store import Store
from bench.seeding import seed
from bench.servers import PROJECT, Floor, Product
from bench.workload import Note, note

KEPT = PROJECT / "bench" / ".data"
RUNS = KEPT / "runs"
SMALL, LARGE = 1_000, 20_000
BATCH = 200
SETTLE_SECONDS = 900.0
# What a data set depends on: the tables, how texts are cut for the index, the notes, the floor.
SHAPED_BY = (
    "apps/*/migrations/0*.py",
    "apps/search/embedding/default_key.py",
    "apps/search/tokens.py",
    "apps/search/vectors/pieces.py",
    "bench/seeding.py",
    "apps/search/stems.py",
    "bench/workload.py",
    "bench/floor/store.py",
)


@dataclass(frozen=True)
class DataSet:
    """Both servers' data with the same notes, and each note's id by its number."""

    size: int
    product: Product
    floor: Floor
    product_ids: list[str]
    floor_ids: list[str]


def version() -> str:
    digest = hashlib.sha256()
    for pattern in SHAPED_BY:
        for file in sorted(PROJECT.glob(pattern)):
            digest.update(str(file.relative_to(PROJECT)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def prepare(size: int) -> Path:
    """The folder of a data set, made if it is not there. One that was broken off is made anew."""
    folder = KEPT / version() / str(size)
    if folder.exists():
        return folder
    started = time.monotonic()
    making = folder.with_suffix(".making")
    shutil.rmtree(making, ignore_errors=True)
    notes = [note(number) for number in range(size)]
    _fill(making, notes)
    making.rename(folder)
    print(f"The data set of {size:,} memories was made in {time.monotonic() - started:.0f} s.", flush=True)
    return folder


@contextmanager
def copy_of(size: int, name: str = "") -> Iterator[DataSet]:
    """A data set of this run's own; nothing serves it yet. A second copy of one size needs a name."""
    kept = prepare(size)
    forget_ended_runs()
    folder = RUNS / f"{os.getpid()}-{size}{name}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        _copy(kept, folder)
        yield DataSet(
            size=size,
            product=Product(folder / "product"),
            floor=Floor(folder / "floor"),
            product_ids=_ids(folder / "product"),
            floor_ids=_ids(folder / "floor"),
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy(kept: Path, folder: Path) -> None:
    """Databases are copied. Markdown files are linked: MemRelay never writes into a file, it puts a new one in its place.

    Copies would be other files to it (their inodes tell), and it would look into all of them during the measuring.
    """
    markdown = Path("product") / "data" / "basic-memory"
    folder.mkdir()
    subprocess.run(["cp", "-a", "--link", "--parents", str(markdown), str(folder)], cwd=kept, check=True)
    subprocess.run(["cp", "-a", "--no-clobber", f"{kept}/.", str(folder)], check=True)
    os.sync()  # Its writing out must not fall into the measuring.


def _fill(folder: Path, notes: list[Note]) -> None:
    for name in ("product", "floor"):
        (folder / name).mkdir(parents=True)
    product = Product(folder / "product")
    product.settings = {"MEMRELAY_EMBEDDING": "off"}
    with product.running():
        ids = asyncio.run(_save_all(product, notes))
        product.wait_until_quiet(SETTLE_SECONDS)
    seed(product)
    _keep_ids(product.folder, ids)
    floor = Floor(folder / "floor")
    store = Store(floor.database)
    _keep_ids(floor.folder, store.save_many([(note.title, note.body, note.tags) for note in notes]))
    store.close()


async def _save_all(product: Product, notes: list[Note]) -> list[str]:
    """As an agent would that has much to save: by ``memory_save_many``."""
    ids: list[str] = []
    async with agent_of(product) as agent:
        for at in range(0, len(notes), BATCH):
            batch = [{"title": one.title, "body": one.body, "tags": one.tags} for one in notes[at : at + BATCH]]
            answer = await agent.call("memory_save_many", {"memories": batch})
            ids += [saved["memory_id"] for saved in answer["memories"]]
    return ids


def _keep_ids(folder: Path, ids: list[str]) -> None:
    (folder / "ids.json").write_text(json.dumps(ids))


def _ids(folder: Path) -> list[str]:
    ids: list[str] = json.loads((folder / "ids.json").read_text())
    return ids


def forget_ended_runs() -> None:
    for folder in RUNS.glob("*"):
        if not Path(f"/proc/{folder.name.partition('-')[0]}").exists():
            shutil.rmtree(folder, ignore_errors=True)
