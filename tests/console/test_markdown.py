"""What somebody wrote, as a page shows it: readable, and never anything but text."""

from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest

from apps.console.markdown import RENDERED_CHARACTERS, End, render

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](&#x6A;avascript:alert(1))",
    "[x](\x01javascript:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](vbscript:msgbox)",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](file:///etc/passwd)",
    "[x](//elsewhere.example/a)",
    "[x](/sign-out)",
    "[x]( javascript:alert(1))",
    "[x](<javascript:alert(1)>)",
    "<javascript:alert(1)>",
    "[x][y]\n\n[y]: javascript:alert(1)",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    '![" onload="alert(1)](https://elsewhere.example/a.png)',
    '[x](https://elsewhere.example/" onmouseover="alert(1))',
    '[x](https://elsewhere.example "t\\" onmouseover=\\"alert(1)")',
    "[[x|<b onclick=alert(1)>]]",
    '[["><script>alert(1)</script>]]',
    "[[javascript:alert(1)]]",
    "[[../../admin]]",
    "[[//elsewhere.example/a]]",
    '```"><script>\nx\n```',
    "| a |\n|---|\n| <script>alert(1)</script> |",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<svg/onload=alert(1)>",
    "<!-- --><script>alert(1)</script>",
    "<iframe src=https://elsewhere.example></iframe>",
    "<style>body{display:none}</style>",
    "<form action=/sign-out method=post><button>x</button></form>",
    "- [ ] <img src=x onerror=alert(1)>",
    "[a](https://x.example\u2028javascript:alert(1))",
]
ALLOWED = {
    *("h1 h2 h3 h4 h5 h6 p a em strong s code pre blockquote ul ol li hr br").split(),
    *("table thead tbody tr th td").split(),
}


class Seen(HTMLParser):
    """Every tag and attribute that a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]


def seen_in(html: str) -> Seen:
    seen = Seen()
    seen.feed(html)
    return seen


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_makes_no_script_and_no_request(text: str) -> None:
    seen = seen_in(render(text))
    assert seen.tags <= ALLOWED
    for tag, name, value in seen.attributes:
        assert (tag, name) in {
            ("a", "href"),
            ("a", "rel"),
            ("a", "class"),
            ("a", "title"),
            ("code", "class"),
            ("ol", "start"),
            ("pre", "tabindex"),
            ("th", "class"),
            ("td", "class"),
        }
        if name == "href":
            leads = urlsplit(value)
            assert leads.scheme in ("http", "https", "mailto") or value.startswith("/memory/")
            assert ".." not in value


def test_links_to_the_web_tell_nothing_of_where_they_stand() -> None:
    html = render("See [the docs](https://example.org/a?b=1&c=2) or <https://example.org>.")
    assert html.count('rel="noopener noreferrer nofollow"') == 2
    assert 'href="https://example.org/a?b=1&amp;c=2"' in html


def test_a_picture_of_another_host_is_a_link() -> None:
    html = render("![The plan](https://elsewhere.example/plan.png)")
    assert "<img" not in html
    assert ">The plan</a>" in html


@pytest.mark.parametrize(
    ("text", "address", "words"),
    [
        ("[[Deploy day]]", "/memory/deploy-day", "Deploy day"),
        ("[[deploy-day|when we deploy]]", "/memory/deploy-day", "when we deploy"),
        ("[[部署日#星期]]", "/memory/%E9%83%A8%E7%BD%B2%E6%97%A5", "部署日#星期"),
        ("[[projects/prj_1/deploy-day]]", "/memory/projects/prj_1/deploy-day", "projects/prj_1/deploy-day"),
        ("| a |\n|---|\n| [[deploy-day\\|x]] |", "/memory/deploy-day", "x"),
    ],
)
def test_double_brackets_lead_to_a_memory(text: str, address: str, words: str) -> None:
    assert f'<a href="{address}" class="memory-link">{words}</a>' in render(text)


@pytest.mark.parametrize("text", ["`[[code]]`", "```\n[[code]]\n```", "\\[[not one]]", "[[]]", "[[#here]]", "[[ ]]"])
def test_what_is_no_link_stays_text(text: str) -> None:
    assert "<a " not in render(text)


def test_headings_stand_below_that_of_the_page() -> None:
    html = render("# One\n\n###### Six")
    assert '<h2 id="section-one">One</h2>' in html
    assert '<h6 id="section-six">Six</h6>' in html


def test_of_headings_with_one_name_the_first_bears_it() -> None:
    html = render("# 部署 `now`\n\n# 部署 `now`")
    assert html.count('id="section-部署-now"') == 1


def test_lists_of_tasks_show_their_boxes() -> None:
    html = render("- [ ] open\n- [x] done\n- [fact] an observation #tag")
    assert "<li>☐ open</li>" in html
    assert "<li>☑ done</li>" in html
    assert "[fact] an observation #tag" in html


def test_columns_are_aligned_without_inline_style() -> None:
    html = render("| a | b |\n|:-:|--:|\n| 1 | 2 |")
    assert '<td class="align-right">2</td>' in html
    assert '<th class="align-center">a</th>' in html
    assert "style" not in html


def test_an_empty_text_is_empty() -> None:
    assert render(" \n") == ""


def test_a_huge_text_shows_as_it_is_written() -> None:
    html = render("<b>" + "x" * RENDERED_CHARACTERS)
    assert html.startswith('<pre tabindex="0">&lt;b&gt;xxx')


@pytest.mark.parametrize(
    "text", ["[" * 5000, "> " * 5000, "*a " * 20000, "[[" * 20000, "- " * 3000, "`" * 20001, "|" * 9000 + "\n|-"]
)
def test_text_made_to_be_slow_is_not(text: str) -> None:
    assert render(text)


def test_a_link_leads_to_the_memory_it_means_and_says_its_title() -> None:
    ends = {"tea-at-four": End("mem_1", "Tea at <four>"), "Plan": End("mem_2", "The plan"), "Later": None}
    html = render("[[tea-at-four]] [[tea-at-four|later]] [[Plan#Aim]] [[Nowhere]] [[Later#x|<soon>]]", ends)
    assert '<a href="/memory/mem_1" class="memory-link">Tea at &lt;four&gt;</a>' in html
    assert '<a href="/memory/mem_1" class="memory-link">later</a>' in html
    assert '<a href="/memory/mem_2#section-aim" class="memory-link">The plan › Aim</a>' in html
    assert '<a href="/memory/nowhere" class="memory-link">Nowhere</a>' in html
    assert '<span class="memory-link-missing" title="Not written yet">&lt;soon&gt;</span>' in html
