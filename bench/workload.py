"""What the benchmarks save and look for: made from a seed, so that every run on every machine does the same.

Seven notes of ten are English, three Chinese; each has 400 to 1,200 characters and two to four tags. The first
``PLANTED`` notes carry one sentence each with a rare thing that occurs nowhere else, so that a query has one right answer.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

SEED = 58_401
EXACT_KINDS = ("word", "phrase", "chinese", "path", "code")
LOOSE_KINDS = ("common", "question")
QUERIES = 120  # Of each kind.
PLANTED = len(EXACT_KINDS) * QUERIES  # The smallest data set holds them all.
DECOYS = 0.05  # Of the English notes. Many more, and the largest data set held a page of decoys for each phrase.


def _words_of(listed: str) -> list[str]:
    return listed.replace("\n", "").split("|")


ENGLISH_WHO = _words_of("""
the courier service|our staging cluster|the ledger importer|the thumbnail worker|the consent banner|
the tariff table|the refund queue|the geocoder|the onboarding wizard|the stock forecast|the voucher engine|
the translation memory|the archive bucket|the partner feed|the seat map|the rating widget|the fraud filter|
the timetable parser|the print spooler|the coupon printer|the address book|the media player|the kiosk app|
the telemetry gateway|the licence server
""")
ENGLISH_DOES = _words_of("""
keeps|loses|copies|repairs|reads|refuses|delays|groups|counts|hides|rounds|resends|stores|sorts|checks|
empties|exports|updates|forgets|signs
""")
ENGLISH_WHAT = _words_of("""
late deliveries|empty baskets|old receipts|double bookings|long addresses|missing photos|closed accounts|
foreign invoices|open tickets|draft offers|broken barcodes|weekly totals|guest sessions|spare parts|
price changes|holiday rules|unpaid fines|large exports|time stamps|customer names|stale locks|
shared folders|gift cards|test orders|return labels
""")
ENGLISH_WHEN = _words_of("""
after the spring release|when two shops merge|during the night run|if the disk fills up|
on the first of the month|before the cache is warm|while a backup is running|once the trial ends|
when the network drops|under load|because a default changed|in the smallest region|
for users without a phone|until somebody restarts it|at the second attempt|only on older tablets
""")
ENGLISH_THEN = _words_of("""
We agreed to leave it so|A longer timeout mended it|Ask the platform team first|
The change is behind a switch|It can be rolled back safely|A trace confirmed this|
It has not come back since|The runbook needs a line about it|The owner wants a smaller patch|
Measure before and after
""")
ENGLISH_TITLE = _words_of("""
Delivery|Staging|Ledger|Consent|Tariff|Refund|Onboarding|Forecast|Voucher|Archive|Partner|Rating|Fraud|
Timetable|Printing|Telemetry
""")
ENGLISH_SORT = _words_of("""
decision|incident|runbook|open question|meeting|checklist|measurement|naming rule|plan|summary
""")
CHINESE_WHO = _words_of("""
配送服务|预发集群|账本导入|缩略图任务|授权横幅|运价表|退款队列|地址解析|新手引导|库存预测|优惠引擎|翻译记忆|归档存储|伙伴接口|座位图|评分组件|风控规则|时刻表解析|打印队列|通讯录
""")
CHINESE_DOES = _words_of("""
会保留|会丢失|重复了|修好了|读取|拒绝了|推迟了|合并了|统计|隐藏了|重新发送|存下|排序|检查|清空了|导出
""")
CHINESE_WHAT = _words_of("""
延迟的包裹|空的购物车|旧收据|重复预订|超长地址|缺少的照片|已关闭账户|外币发票|未结工单|报价草稿|损坏的条码|每周合计|访客会话|备用零件|价格变动|节假日规则
""")
CHINESE_WHEN = _words_of("""
在春季发布之后|两个门店合并时|在夜间任务期间|磁盘写满时|每月第一天|缓存预热之前|备份进行时|试用结束后|网络中断时|负载高时|因为默认值改了|直到有人重启
""")
CHINESE_THEN = _words_of("""
我们同意保持现状|调长超时就好了|先问平台组|改动有开关|可以安全回滚|链路追踪证实了|之后没有再发生|操作手册要补一行|负责人想要更小的补丁|前后都要测量
""")
CHINESE_TITLE = _words_of("""
配送|预发|账本|授权|运价|退款|引导|预测|优惠|归档|伙伴|评分|风控|时刻|打印|监控
""")
CHINESE_SORT = _words_of("""
决定|事故|手册|问题|会议|清单|测量|命名|计划|小结
""")
ENGLISH_TAGS = _words_of("""
ops|shop|billing|search|mobile|design|bug|decision|people|data|release|print
""")
CHINESE_TAGS = _words_of("""
运维|商店|账务|检索|移动端|设计|缺陷|决定|人员|数据
""")

# What is planted. None of these stands in the sentences above.
SYLLABLES = ["zor", "quib", "fex", "plim", "drav", "yost", "kelm", "wunt", "jarn", "glif", "thob", "skarn"]
PHRASES = (
    "crooked lukewarm velvet hollow amber brittle rusty pallid".split(),
    "lantern orchard harbour compass furnace meadow antenna corridor".split(),
    "rehearsal drizzle verdict parade bargain echo detour handshake".split(),
)
RARE_LEFT, RARE_RIGHT = "琥珊蟋枇馄唢蜻麒漩篝桅芦", "珀瑚蟀杷饨呐蜓麟涡火杆苇"
FOLDERS = "services/parcel/src|apps/kiosk/lib|infra/modules/edge|tools/scripts|cmd/printer|libs/tariff/core".split("|")
FILES = "merge_rows rotate_seals split_batch diff_shelf bucket_guard retry_purse".split()
ENDINGS = "py ts go rs sql".split()


@dataclass(frozen=True)
class Note:
    title: str
    body: str
    tags: list[str]
    is_chinese: bool


@dataclass(frozen=True)
class Query:
    """What somebody looks for; ``target`` is the title of the one right note, where there is one."""

    kind: str
    text: str
    target: str = ""


@dataclass(frozen=True)
class Plant:
    kind: str
    text: str
    sentence: str
    is_chinese: bool


def note(number: int, series: str = "") -> Note:
    """The note with this number; a ``series`` gives notes that no data set holds."""
    dice = random.Random(f"{SEED} note {series} {number}")
    plant = None if series else plants().get(number)
    is_chinese = plant.is_chinese if plant else dice.random() < 0.307
    write = _chinese_sentence if is_chinese else _english_sentence
    sentences = [plant.sentence] if plant else []
    if not plant and not is_chinese and dice.random() < DECOYS:
        sentences.append(_decoy(dice))
    wanted = dice.randint(430, 1_080)
    while sum(map(len, sentences)) + len(sentences) < wanted:
        sentences.append(write(dice))
    dice.shuffle(sentences)
    gap = "" if is_chinese else " "
    body = "\n\n".join(gap.join(sentences[at : at + 3]) for at in range(0, len(sentences), 3))
    tags = dice.sample(CHINESE_TAGS if is_chinese else ENGLISH_TAGS, dice.randint(2, 4))
    return Note(_title(number, series, is_chinese), body, tags, is_chinese)


def queries(kind: str) -> list[Query]:
    """The ``QUERIES`` queries of a kind, in a mixed order."""
    dice = random.Random(f"{SEED} queries {kind}")
    if kind == "common":
        words = sorted({word for what in ENGLISH_WHAT for word in what.split()}) + [what[:2] for what in CHINESE_WHO]
        return [Query(kind, dice.choice(words)) for _ in range(QUERIES)]
    if kind == "question":
        return [Query(kind, _question(dice)) for _ in range(QUERIES)]
    found = [
        Query(kind, plant.text, _title(number, "", plant.is_chinese))
        for number, plant in plants().items()
        if plant.kind == kind
    ]
    dice.shuffle(found)
    return found


@lru_cache(maxsize=1)
def plants() -> dict[int, Plant]:
    """The rare things by the number of the note that holds them; the kinds take turns."""
    makers = [PLANTERS[kind]() for kind in EXACT_KINDS]
    return {turn * len(makers) + place: makers[place][turn] for turn in range(QUERIES) for place in range(len(makers))}


def _words() -> list[Plant]:
    made = [f"{first}{second}" for first, second in product(SYLLABLES, repeat=2)][:QUERIES]
    return [Plant("word", word, f"Somebody left a {word} next to the rack.", False) for word in made]


def _phrases() -> list[Plant]:
    made = [" ".join(words) for words in product(*PHRASES)]
    chosen = random.Random(f"{SEED} phrases").sample(made, QUERIES)
    return [Plant("phrase", words, f"People call this the {words} of the week.", False) for words in chosen]


def _chinese_words() -> list[Plant]:
    made = [f"{left}{right}" for left, right in product(RARE_LEFT, RARE_RIGHT)][:QUERIES]
    return [Plant("chinese", word, f"有人在旁边放了{word}作为标记。", True) for word in made]


def _paths() -> list[Plant]:
    made = []
    for number, (folder, file) in zip(range(QUERIES), list(product(FOLDERS, FILES)) * 4, strict=False):
        name = f"{file}_{number:03d}.{ENDINGS[number % len(ENDINGS)]}"
        path, is_chinese = f"{folder}/{name}", number % 3 == 2
        sentence = f"相关代码在 {path} 里面。" if is_chinese else f"The code in question lives in {path} for now."
        made.append(Plant("path", path if number % 2 else name, sentence, is_chinese))
    return made


def _codes() -> list[Plant]:
    made = []
    for number in range(QUERIES):
        shapes = (
            f"E{4100 + number * 7}",
            f"PG-{57000 + number * 11}",
            f"ERR_SEAL_{2200 + number}",
            f"0x8{70000 + number:X}",
        )
        code, is_chinese = shapes[number % len(shapes)], number % 3 == 1
        sentence = f"日志里反复出现错误码{code}。" if is_chinese else f"The log keeps repeating {code} there."
        made.append(Plant("code", code, sentence, is_chinese))
    return made


PLANTERS: dict[str, Callable[[], list[Plant]]] = {
    "word": _words,
    "phrase": _phrases,
    "chinese": _chinese_words,
    "path": _paths,
    "code": _codes,
}


def _title(number: int, series: str, is_chinese: bool) -> str:
    dice = random.Random(f"{SEED} title {series} {number}")
    mark = f"{series}{number:06d}"
    if is_chinese:
        return f"{dice.choice(CHINESE_TITLE)}{dice.choice(CHINESE_SORT)} {mark}"
    return f"{dice.choice(ENGLISH_TITLE)} {dice.choice(ENGLISH_SORT)} {mark}"


def _english_sentence(dice: random.Random) -> str:
    parts = [dice.choice(choices) for choices in (ENGLISH_WHO, ENGLISH_DOES, ENGLISH_WHAT, ENGLISH_WHEN)]
    sentence = " ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}. {dice.choice(ENGLISH_THEN)}."


def _chinese_sentence(dice: random.Random) -> str:
    parts = [dice.choice(choices) for choices in (CHINESE_WHO, CHINESE_WHEN, CHINESE_DOES, CHINESE_WHAT)]
    return f"{''.join(parts)}，{dice.choice(CHINESE_THEN)}。"


def _decoy(dice: random.Random) -> str:
    """The words of a phrase apart from each other: they must not be found as the phrase."""
    first, second, third = (dice.choice(words) for words in PHRASES)
    return f"A {first} day, a long {second}, no {third} at all."


def _question(dice: random.Random) -> str:
    """Six words, as somebody asks who does not know the note's own; most of them stand in many notes."""
    what = dice.choice(ENGLISH_WHAT)
    when = dice.choice(["before backup", "without load", "during migration", "despite restarts"])
    return f"who {dice.choice(ENGLISH_DOES)} {what} {when}"
