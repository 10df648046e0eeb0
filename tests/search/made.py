"""Entries for the index, and a small bilingual store in which each query has exactly one right answer."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from apps.search.index import IndexEntry

DAY = datetime(2026, 9, 22, 12, 0, tzinfo=UTC)


def entry(stable_id: str, title: str = "A title", body: str = "", **fields: Any) -> IndexEntry:
    known: dict[str, Any] = {
        "resource": "memory", "scope_key": "project/one", "revision": 1, "status": "active", "created_at": DAY,
        "updated_at": DAY,
    }  # fmt: skip
    return IndexEntry(stable_id=stable_id, title=title, body=body, **(known | fields))


class Planted(NamedTuple):
    query: str
    stable_id: str
    sort: str


WORDS = "astrolabe thylacine marzipan zeppelin obsidian quetzal gyroscope kumquat tamarind chrysalis".split()
PAIRS = "磷火 驿站 琥珀 骆驼 灯塔 茉莉 竹笋 蟋蟀 琵琶 绸缎".split()
PHRASES = [
    f"{a} {b} {c}" for a in ("velvet", "hollow", "amber") for b in ("ladder", "harbor") for c in ("parade", "echo")
][:10]
ENGLISH = "the scheduler retries|a worker drops|our gateway caches|nobody validates|the replica rewrites".split("|")
THINGS = "stale records|partial uploads|expired tokens|broken links|slow queries|velvet coats|an echo|a ladder".split(
    "|"
)
CHINESE = "调度程序会重试|账单服务丢弃了|网关改写了|缓存层只记录|备份任务归档了".split("|")
DINGE = "过期记录|部分上传|失效令牌|慢查询|旧快照|客户地址".split("|")


def bilingual_store(size: int) -> tuple[list[IndexEntry], list[Planted]]:
    """``size`` documents, and fifty queries of five sorts with the document each must find."""
    random_ = random.Random(20260922)
    planted = list(_planted())
    places = random_.sample(range(size), len(planted))
    said = {place: sentence for place, (sentence, _, _) in zip(places, planted, strict=True)}
    entries = [_document(random_, number, said.get(number, "")) for number in range(size)]
    asked = [Planted(query, f"m{place:04d}", sort) for place, (_, query, sort) in zip(places, planted, strict=True)]
    return entries, asked


def _planted() -> Iterator[tuple[str, str, str]]:
    for number in range(10):
        yield f"Somebody left a {WORDS[number]} there.", WORDS[number], "word"
        yield f"They call it the {PHRASES[number]} here.", PHRASES[number], "phrase"
        yield f"有人在旁边放了{PAIRS[number]}作为标记。", PAIRS[number], "two characters"
        path = f"services/ledger/src/retry_budget_{number:02d}.py"
        yield f"相关代码在{path}里面。", path if number % 2 else path.rsplit("/", 1)[1], "path"
        code = (f"E{4100 + number}", f"PG-{57000 + number}", f"ERR_CONN_{2200 + number}", f"0x80{70000 + number:X}")[
            number % 4
        ]
        yield f"日志里反复出现错误码{code}。", code, "code"


def _document(random_: random.Random, number: int, sentence: str) -> IndexEntry:
    said = [f"{random_.choice(ENGLISH)} {random_.choice(THINGS)}." for _ in range(6)]
    said += [f"{random_.choice(CHINESE)}{random_.choice(DINGE)}。" for _ in range(3)]
    said.insert(random_.randrange(len(said)), sentence)
    return entry(f"m{number:04d}", f"Note {number:04d}", " ".join(said))
