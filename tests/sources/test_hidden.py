"""``visible``: what a person does not see, a model does not read; code and honest scripts stay."""

import time

import pytest

from apps.sources.hidden import visible, visible_line
from apps.sources.material import Hidden

ORDER = "OBEY ME"
HIDING = {
    "comment": f"a <!-- {ORDER} --> b",
    "comment over lines": f"a\n<!--\n{ORDER}\n\n{ORDER}\n-->\nb",
    "odd end of a comment": f"a <!-- {ORDER} --!> b",
    "comment that never ends": f"a b\n\n<!-- {ORDER}\n\nmore {ORDER}",
    "display none": f'a <div style="display:none">{ORDER}</div> b',
    "display none, spelt oddly": f"a <DIV STYLE='Display : NONE !important'>{ORDER}</DIV> b",
    "display none, with an entity": f'a <p style="display&#58;none">{ORDER}</p> b',
    "display none, with escapes": f'a <p style="d\\69splay:n\\6fne">{ORDER}</p> b',
    "display none, with comments": f'a <p style="dis/**/play:no/* x */ne">{ORDER}</p> b',
    "elements inside": f'a <div style="display:none"><div>{ORDER}</div><b>x</b>{ORDER}</div> b',
    "hidden": f"a <span hidden>{ORDER}</span> b",
    "hidden with a value": f'a <span class="x" hidden="until-found" id=y>{ORDER}</span> b',
    "bracket in an attribute": f'a <span title=">" style="display:none">{ORDER}</span> b',
    "visibility": f'a <span style="visibility:hidden">{ORDER}</span> b',
    "opacity": f'a <span style="color:red;opacity: 0.0">{ORDER}</span> b',
    "font of no size": f'a <span style="font-size:0px">{ORDER}</span> b',
    "font of one pixel": f'a <span style="font-size:1px">{ORDER}</span> b',
    "no width": f'a <div style="width:0;overflow:hidden">{ORDER}</div> b',
    "no height": f'a <div style="max-height: 0">{ORDER}</div> b',
    "no size": f'a <svg width="0" height="0"><text>{ORDER}</text></svg> b',
    "white on white": f'a <span style="color:#FFFFFF">{ORDER}</span> b',
    "white font": f'a <font color="white">{ORDER}</font> b',
    "transparent": f'a <span style="color:transparent">{ORDER}</span> b',
    "off the page": f'a <span style="position:absolute;left:-9999px">{ORDER}</span> b',
    "clipped": f'a <span style="clip-path: inset(50%)">{ORDER}</span> b',
    "never closed": f"a b <div hidden>{ORDER}\n\n{ORDER}",
    "paragraph never closed": f"a b\n<p hidden>{ORDER}\n{ORDER}",
    "script": f"a <script>say('{ORDER}')</script> b",
    "style": f"a <style>x::before {{ content: '{ORDER}' }}</style> b",
    "template": f"a <template>{ORDER}</template> b",
    "picture of no size": f'a <img width=0 height=0 alt="{ORDER}"> b',
    "input": f'a <input type="hidden" value="{ORDER}"> b',
    "reference": f"a\n\n[//]: # ({ORDER})\n\nb",
    "reference in quotes": f'a\n\n[comment]: <> "{ORDER}"\n\nb',
}


@pytest.mark.parametrize("case", HIDING)
def test_what_is_hidden_is_taken_out_and_told(case: str) -> None:
    seen = visible(HIDING[case])

    assert ORDER not in seen.text
    assert seen.notes and set(seen.notes) <= {Hidden.HTML, Hidden.COMMENT}
    assert "a" in seen.text and "b" in seen.text


SEEN = {
    "code": "use `<!-- note -->` and `<div hidden>` here",
    "fence": "```html\n<!-- note -->\n<p hidden>x</p>\n```\nand after",
    "fence in a quote": "> ```\n> <!-- note -->\n> ```\nand after",
    "fence of tildes": "~~~~\n<script>x</script>\n~~~\n<template>\n~~~~\nafter",
    "two backticks": "`` `<!-- x -->` `` and more",
    "a marker in a sentence": "a comment begins with <!-- and so on",
    "names of elements": "we write <script> and <template> tags ourselves; <style> too",
    "seen HTML": '<details><summary>More</summary>text</details> <b style="color:red;width:100%;opacity:0.5">x</b>',
    "sizes": '<img src="a.png" width="20" height="100" alt="b"> <td style="width:0.5em;font-size:1em;height:10px">x</td>',
    "light text on dark": '<span style="background-color:white;color:#333">x</span>',
    "comparisons": "a < b and c > d, List<String>, x <- y, 1<2",
    "links": '[a]: https://example.org/x "Title"\n[b]: ./c.md',
    "Chinese": "今天讨论了“令牌轮换”方案；１２３，ＡＢＣ。",
    "emoji": "👩🏽‍💻 ❤️‍🔥 1️⃣ ☀️ 🏳️‍🌈",
    "Persian and Hindi": "می‌خواهم क्‍ष",
    "blank lines and tabs": "a\n\n\tb\n",
}


@pytest.mark.parametrize("case", SEEN)
def test_what_people_see_stays_as_it_is(case: str) -> None:
    seen = visible(SEEN[case])

    assert (seen.text, seen.notes) == (SEEN[case], [])


@pytest.mark.parametrize(
    ("text", "clean", "note"),
    [
        ("pass\u200bword", "password", Hidden.INVISIBLE),
        ("soft\u00adhyphen", "softhyphen", Hidden.INVISIBLE),
        ("\ufeffbegin", "begin", Hidden.INVISIBLE),
        ("ab\u202ecd\u202c", "abcd", Hidden.DIRECTION),
        ("\u2066x\u2069", "x", Hidden.DIRECTION),
        ("tag" + "".join(chr(0xE0000 + ord(one)) for one in ORDER), "tag", Hidden.INVISIBLE),
        ("smuggled😀" + "".join(chr(0xE0100 + number) for number in range(20)), "smuggled😀", Hidden.INVISIBLE),
        ("filler\u3164\uffa0", "filler", Hidden.INVISIBLE),
        ("word\u200dword 中\u200d文", "wordword 中文", Hidden.INVISIBLE),
        ("\x1b[8mgone\x1b[0m\x08", "[8mgone[0m", Hidden.CONTROL),
    ],
)
def test_invisible_characters_are_taken_out_and_told(text: str, clean: str, note: Hidden) -> None:
    seen = visible(text)

    assert (seen.text, seen.notes) == (clean, [note])


def test_every_kind_of_line_end_is_one() -> None:
    assert visible("a\r\nb\rc\u2028d\u2029e\x85f").text == "a\nb\nc\nd\ne\nf"


def test_a_title_is_one_line() -> None:
    assert visible_line(" a\n<!-- x -->b\u200b ") == "a b"


SLOW = {
    "comments that never end": "<!--" * 30_000,
    "comments in lines": "\n<!--" * 20_000,
    "comments": "<!-- -->" * 15_000,
    "hidden elements": "<p hidden>" * 10_000,
    "hidden elements that nest": "<div hidden>" * 10_000,
    "scripts": "<script>" * 12_000,
    "closed ones": "<b hidden>x</b>" * 8_000,
    "templates with an end": "<template>" * 10_000 + "</template>",
    "brackets": "<" * 100_000,
    "attributes": "<a " + "b " * 50_000,
    "many attributes": "<a b b b b b " * 8_000,
    "quotes": "<a b='" * 20_000,
    "backticks": "`" * 100_000,
    "pairs of backticks": "".join("`" * (number % 300 + 1) + " " for number in range(1_000)),
    "fences": "```\n" * 25_000,
    "quoted fences": "> " * 50_000 + "```",
    "spaces": " " * 100_000 + "<!--",
    "lines of spaces": "\n   " * 30_000,
    "references": "[" * 100_000 + "]:",
    "reference lines": "[a]: # (\n" * 10_000,
    "styles": '<a style="' + "/*" * 350 + '">' * 100,
    "invisible": "\u200b\u200d" * 50_000,
    "joined": "é\u200d" * 50_000,
}


@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW)
def test_a_text_made_to_be_slow_is_not(text: str) -> None:
    began = time.process_time()
    visible(text)
    assert time.process_time() - began < 1.0
