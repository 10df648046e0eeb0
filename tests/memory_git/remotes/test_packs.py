"""Packs are looked through before they are unpacked."""

import io
import tracemalloc
import zlib
from pathlib import Path

import pytest

from apps.memory_git.remotes.packs import PackLimits, PackUnsafe, scan_pack
from tests.memory_git.remotes.made import bare, commit, packed, zeros

LIMITS = PackLimits(objects=50, object_bytes=1000, total_bytes=2000)
BLOB = 3


def scan(pack: bytes, limits: PackLimits = LIMITS):
    return scan_pack(io.BytesIO(pack).read, limits)


def test_an_honest_pack_is_told_by_number_and_size(tmp_path: Path):
    with bare(tmp_path / "r.git") as repository:
        made = commit(repository, {"a.md": "one\n", "b.md": "two\n"})
        count, pack = repository.generate_pack_data(set(), {made})
        data = packed(
            *[(one.pack_type_num, one.decomp_len, zlib.compress(b"".join(one.decomp_chunks))) for one in pack]
        )
    assert scan(data).objects == count == 5


@pytest.mark.parametrize(
    ("pack", "problem"),
    [
        (b"", "cut short"),
        (b"JUNK" + b"\0" * 30, "not a pack"),
        (packed((BLOB, 10, zlib.compress(b"x" * 10)))[:-25], "cut short"),
        (packed((BLOB, 5000, zlib.compress(b"x" * 5000))), "an object that is too large"),
        (packed((BLOB, 5, zlib.compress(b"x" * 500))), "an object that is larger than it says"),
        (packed((BLOB, 500, zlib.compress(b"x" * 5))), "an object that is smaller than it says"),
        (packed((5, 5, zlib.compress(b"x" * 5))), "an object of an unknown kind"),
        (packed((BLOB, 5, b"no zlib")), "damaged data"),
        (packed(*[(BLOB, 900, zlib.compress(b"x" * 900))] * 3), "too much data"),
        (packed(*[(BLOB, 0, zlib.compress(b""))] * 60), "too many objects"),
        # A delta of a few bytes that makes a megabyte out of nothing.
        (packed((7, 7, b"b" * 20 + zlib.compress(b"\x0a\xff\xff\x7f\x90\x01a"))), "an object that is too large"),
        (packed((7, 1, b"b" * 20 + zlib.compress(b"\xff"))), "a delta without sizes"),
    ],
)
def test_a_pack_that_is_not_what_it_says_is_refused_with_the_reason(pack, problem):
    with pytest.raises(PackUnsafe, match=problem):
        scan(pack)


def test_a_bomb_is_refused_in_little_memory():
    bomb = packed((BLOB, 100, zeros(64 * 2**20)))
    assert len(bomb) < 100_000
    tracemalloc.start()
    with pytest.raises(PackUnsafe):
        scan(bomb)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()
