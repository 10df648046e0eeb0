"""What a message may bring to mind: its telling words, cut by the product's one tokeniser. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from apps.search.expressions import COMMON, COMMON_CHARACTERS
from apps.search.tokens import Piece, Shape, pieces

# Of a long message (a pasted log, say) its beginning and its end are read: there people say what they want.
READ_AT_EACH_END = 4_000
MOST_CLUES = 48

# What people say to an agent whatever the work is about. These words tell little of what a memory is needed for.
CHAT = frozenset(
    "again already alright anyone anything are away back best better bit call case cause change check come complete "
    "continue correct couple course currently day did different do done else enough error even ever every everything "
    "example exactly explain fact far feel file find fine finish first fix following found further get give go good got "
    "great guess happen hello help here hey hi hope idea inside instead issue just keep kind know last later let like line "
    "list little long look lot made main make many may maybe mean might mind more morning most much must name need never "
    "new next nice no note nothing now number often oh ok okay old once one only other over own part people person place "
    "point possible problem proceed question quick quickly quite read ready real really reason right run said same say "
    "second see seem set show side simple simply since something soon sorry sound start step still stop sure take talk "
    "tell test text thank thanks thing think thought time today together tomorrow too try turn two understand until up "
    "update use used user very wait want way week well were while within without word work world would write wrong yeah "
    "year yep yes yesterday yet".split()
)
CHAT_PAIRS = frozenset(
    "一下 一个 一些 一样 一直 一起 不是 不会 不要 不用 不能 不对 个人 为何 之前 之后 也是 东西 事情 今天 以及 以后 以前 "
    "任何 但是 你好 您好 其他 再来 出来 刚才 刚刚 到底 功能 加上 只是 可以 可能 各种 同时 后面 告诉 回答 因为 大家 "
    "好像 如何 如果 完成 完全 对吧 就是 工作 已经 帮忙 帮我 应该 开始 很多 得到 必须 怎样 情况 想要 意思 成功 我想 所以 "
    "所有 才能 打开 执行 找到 描述 支持 收到 改成 改一 放到 文件 方法 明天 昨天 是否 是不 时候 时间 明白 更新 最后 最近 有没 "
    "有点 根据 检查 正在 每个 没有 没问 测试 添加 然后 现在 看看 看一 知道 确认 确定 直接 第一 等等 简单 继续 编写 要求 觉得 "
    "解决 解释 记得 设置 试试 说明 请帮 请你 请问 谢谢 辛苦 还有 还是 这样 进行 运行 通过 部分 都是 里面 问题 需要 非常 麻烦 "
    "默认 哪里 哪个 几个 几点 多少 怎么 什么".split()
)
WEAK = 0.4


@dataclass(frozen=True, slots=True)
class Clue:
    """A token (several in a row for an identifier). ``share`` is how much it tells, 1 for an ordinary word.

    ``after`` is the pair it overlaps with: two pairs of one run share a character, so the second tells half as much.
    """

    text: str
    share: float = 1.0
    after: str = ""

    @property
    def phrase(self) -> str:
        return f'"{self.text}"'


def clues(message: str) -> list[Clue]:
    """The different clues of a message, the rarest kinds first; empty where it only greets, agrees or thanks."""
    found: dict[str, Clue] = {}
    for piece in pieces(_ends(message)):
        for clue in _of(piece):
            known = found.get(clue.text)
            if known is None or known.share < clue.share:
                found[clue.text] = clue
    telling = sorted(found.values(), key=lambda clue: (-clue.share, -len(clue.text)))
    return telling[:MOST_CLUES] if any(clue.share >= 0.5 for clue in telling) else []


def _ends(message: str) -> str:
    if len(message) <= 2 * READ_AT_EACH_END:
        return message
    return f"{message[:READ_AT_EACH_END]}\n{message[-READ_AT_EACH_END:]}"


def _of(piece: Piece) -> Iterator[Clue]:
    match piece.shape:
        case Shape.RUN:
            yield from _pairs(piece)
        case Shape.COMPOUND if len(piece.parts) > 1:
            yield Clue(" ".join(part.token for part in piece.parts))
            for part in piece.parts:
                if len(part.token) > 2 and part.surface not in COMMON:
                    yield Clue(part.token, 0.2 if part.surface in CHAT else 0.5)
        case Shape.COMPOUND:
            part = piece.parts[0]
            if part.surface not in COMMON and len(part.token) > 1:
                yield Clue(part.token, WEAK if _is_chat(part.surface, part.token) else 1.0)
        case Shape.SIGN:
            pass  # A smile says nothing about what is known.


def _is_chat(surface: str, token: str) -> bool:
    return surface in CHAT or token in CHAT or (token.isdigit() and len(token) < 3)


def _pairs(piece: Piece) -> Iterator[Clue]:
    """Pairs of a run without spaces. A lone last character is a part of a pair before it, and tells nothing by itself."""
    before = ""
    for part in piece.parts[:-1]:
        pair = part.token
        if COMMON_CHARACTERS.intersection(pair):
            before = ""
            continue
        yield Clue(pair, WEAK if pair in CHAT_PAIRS else 1.0, before)
        before = pair
