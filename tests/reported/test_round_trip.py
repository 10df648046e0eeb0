"""Every byte of a body survives every deed, and every byte of a foreign file survives being taken in (D-39)."""

import itertools
import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, assume, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from apps.memories import documents
from apps.memories.models import Memory, Scope
from apps.memories.scopes import folder_of
from memrelay.api import RATES
from tests.memories.ledger_world import all_durable, edit_outside, scanned
from tests.world import World

pytestmark = pytest.mark.django_db

NAMES = itertools.count()
quick = hypothesis_settings(
    max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=True
)
PIECES = [
    *(
        "\r\n",
        "\n",
        "\r",
        "\x85",
        "\u2028",
        "\u2029",
        "\ufeff",
        "---\n",
        "---\r\n",
        "...\n",
        "key: value\n",
        " \t\n",
        "  ",
    ),
    *(
        "```\n# no heading\n```\n",
        "# Heading\n",
        "[[link]]",
        "😀👩‍👩‍👧",
        "e\u0301é",
        "\u202eabc\u202c",
        "שלום",
        "中文。",
        "\t",
    ),
    *(
        "- [x] done #tag\n",
        "\x0b\x0c\x1b",
        "\u200b",
        "a" * 300,
        '"',
        "'",
        "\\",
        "{}",
        "%s",
        "---",
        "stable_id: mem_x\n",
    ),
    *("<!-- c -->", "\U0010ffff", "\ufffe"),
]
bodies = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=14).map("".join)
bodies = bodies.map(lambda text: text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def body_on_disk(scope: str, path: str) -> bytes:
    return documents.body_of((folder_of(scope) / path).read_bytes())


@quick
@given(body=bodies, other=bodies)
@example(body="\ufeff", other="\ufeff---\nkey: value\n---\n")
@example(body="\r", other="---\r\n---\r\n")
def test_a_body_survives_every_deed(world: World, body: str, other: str) -> None:
    RATES.forget()
    rest = world.bobs_agent.rest
    Memory.objects.filter(title__in=["Round", "Trip"]).update(title="Gone", title_key="gone")

    def done(response: Any) -> Any:
        assert response.status_code in (200, 201), response.content
        return json.loads(response.content)

    saved = done(rest.post("/memories", title="Round", body=body))
    memory_id = quote(saved["memory_id"])

    def same(expected: str = body) -> int:
        read = done(rest.get(f"/memories/{memory_id}"))
        assert read["body"] == expected
        assert body_on_disk(read["scope"], read["path"]) == expected.encode()
        return int(read["revision"])

    revision = same()
    done(rest.patch(f"/memories/{memory_id}", revision=revision, tags=["a: b", "#c", "'d'"], title="Trip"))
    revision = same()
    done(rest.patch(f"/memories/{memory_id}", revision=revision, summary='Says "so"', kind="fact"))
    same()
    done(rest.post(f"/memories/{memory_id}/archive"))
    same()
    done(rest.post(f"/memories/{memory_id}/unarchive"))
    revision = same()
    done(rest.patch(f"/memories/{memory_id}", revision=revision, body=other))
    same(other)
    done(rest.post(f"/memories/{memory_id}/revert", to_revision=revision))
    same()
    done(rest.delete(f"/memories/{memory_id}"))
    done(rest.post(f"/memories/{memory_id}/restore"))
    same()
    done(rest.post(f"/memories/{memory_id}/move", to_scope="shared"))
    revision = same()
    for number in range(1, revision + 1):
        told = done(rest.get(f"/memories/{memory_id}/revisions/{number}"))
        assert told["body"] in (body, other)
    all_durable()
    assert scanned("global/shared").adopted == scanned("global/bob").adopted == 0  # Our own bytes are no outside edit.
    same()


values = st.sampled_from(
    ["x", "'quoted'", '"double"', "[a, b]", "{k: v}", "1.50", "~", "yes", "2026-09-22", "a # comment", "|\n  block\n  text", "",
     "https://x.y/z?a=b", '"abc "def" ghi"', "中文", "&a x", "!!str 5", ">-\n  folded\n\n  more"]
)  # fmt: skip
lines = st.one_of(
    st.builds("{}: {}".format, st.sampled_from(["zeta", "alias", "cssclass", "a.b", "some key", "键", "Foo"]), values),
    st.sampled_from(["# a comment", "", "  # indented comment"]),
)
heads = st.lists(lines, max_size=6, unique_by=lambda line: line.split(":")[0] or line)


@quick
@given(head=heads, body=bodies, ending=st.sampled_from(["\n", "\r\n"]), bom=st.booleans())
@example(head=[], body="", ending="\n", bom=True)
def test_a_foreign_file_keeps_every_byte_besides_the_ledgers_own_keys(
    world: World, head: list[str], body: str, ending: str, bom: bool
) -> None:
    text = ending.join(["---", *"\n".join(head).replace("\n", ending).split(ending), "---", ""]) if head else ""
    document = ("\ufeff" if bom else "").encode() + text.encode() + body.encode()
    RATES.forget()
    rest = world.bobs_agent.rest
    assume(not documents.read_facts(document, fallback_title="").stable_id)
    if not Scope.objects.filter(key="global/bob").exists():
        rest.post("/memories", title="Anchor", body="x")
    file = folder_of("global/bob") / "memories" / f"{next(NAMES)}.md"
    edit_outside(file, document)
    report = scanned("global/bob")
    assert (report.found, report.alarm) == (1, None)
    memory = Memory.objects.get(path=f"memories/{file.name}")
    all_durable()
    taken = file.read_bytes()
    compare(document, taken)
    answer = rest.patch(f"/memories/{memory.stable_id}", revision=memory.revision, tags=["new"], summary="s")
    assert answer.status_code == 200, answer.content
    compare(document, file.read_bytes())
    assert documents.body_of(file.read_bytes()) == documents.body_of(document)


def compare(before: bytes, after: bytes) -> None:
    """The old bytes are the new ones without one run of added lines, and without a head where there was none."""
    end = len(before)
    while not after.endswith(before[-end:]) and end:
        end -= 1
    start = before[: len(before) - end]
    if after.startswith(start):
        return
    assert start == b"\xef\xbb\xbf", (before, after)  # A mark in front, and a head that came between.
