"""Markdown as people read it: safe HTML, whoever wrote the text.

Raw HTML shows as text. Links lead to the web, to mail or to another memory and to nothing else; pictures of other hosts
become links, since a page of ours asks no other host for anything.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from apps.base.text import slug_for

SCHEMES = {"http", "https", "mailto"}
RENDERED_CHARACTERS = 300_000  # A longer text would keep a thread busy for seconds; it shows as it is written.
PLAIN_CHARACTERS = 600
SECTION = "section-"  # No heading of a text may bear the name of a part of the page.
BREAKS = {"softbreak": " ", "hardbreak": " "}
WIKI_LINK = re.compile(r"\[\[([^\[\]\r\n]{1,400})\]\]")
TASK = re.compile(r"\[([ xX])\]\s+")
BOXES = {" ": "\u2610 ", "x": "\u2611 "}


@dataclass(frozen=True)
class End:
    """The memory that a link leads to."""

    memory_id: str
    title: str


def render(text: str, ends: Mapping[str, End | None] | None = None) -> SafeString:
    """The text as HTML that may stand in a page; empty for an empty text.

    ``ends``: where links lead, by their targets; ``None`` for what is not written yet.
    """
    if not text.strip():
        return SafeString("")
    if len(text) > RENDERED_CHARACTERS:
        return mark_safe(f'<pre tabindex="0">{escape(text)}</pre>')  # noqa: S308 - escaped
    return mark_safe(_PARSER.render(text, {"ends": ends or {}}))  # noqa: S308 - raw HTML is off, and links are checked


def plain(text: str) -> str:
    """The first words of a text without its marks, for a line of a list."""
    inlines = (token.children or [] for token in _PARSER.parse(text[:PLAIN_CHARACTERS]) if token.type == "inline")
    said = ("".join(BREAKS.get(part.type, part.content) for part in inline) for inline in inlines)
    return " ".join(said).strip()


def is_safe(address: str) -> bool:
    """Whether a link may lead there: a whole address of a harmless scheme."""
    try:
        return urlsplit(address.strip()).scheme.lower() in SCHEMES
    except ValueError:
        return False


def memory_address(target: str) -> str:
    """The page of the memory that ``[[target]]`` names: by its title or slug, else by its path."""
    return reverse("memory-detail", args=[target if "/" in target else slug_for(target.removesuffix(".md"))])


class SafeMarkdown(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        return is_safe(url)


def _address(known: End | None, target: str, heading: str) -> str:
    if known is None:
        return memory_address(target)
    page = reverse("memory-detail", args=[known.memory_id])
    return f"{page}#{SECTION}{slug_for(heading)}" if heading and not heading.startswith("^") else page


def _name(known: End | None, heading: str, place: str) -> str:
    """What a link is called: by the title its memory has now, and the heading that is meant."""
    if known is None:
        return place
    return f"{known.title} › {heading.removeprefix('^')}" if heading else known.title


def _wiki_link(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith("[[", state.pos):
        return False
    found = WIKI_LINK.match(state.src, state.pos)
    if not found or found.end() > state.posMax:
        return False
    place, _, alias = found[1].replace("\\|", "|").partition("|")
    written = place.partition("#")[0].strip()
    target, heading = written.strip("/"), place.partition("#")[2].strip()
    if not target or {".", ".."} & set(target.split("/")):
        return False  # A browser would take dots for a way out of the memories.
    if not silent:
        ends = state.env.get("ends", {})
        known: End | None = ends.get(written)
        # Machines link by slug, people read titles.
        name = _name(known, heading, place.strip())
        is_missing = known is None and written in ends
        if is_missing:
            opening, closing = state.push("missing_open", "span", 1), "span"
            opening.attrs = {"class": "memory-link-missing", "title": gettext("Not written yet")}
        else:
            opening, closing = state.push("link_open", "a", 1), "a"
            opening.attrs = {"href": _address(known, target, heading), "class": "memory-link"}
        state.push("text", "", 0).content = alias.strip() or name
        state.push("missing_close" if is_missing else "link_close", closing, -1)
    state.pos = found.end()
    return True


def _below_the_page(state: StateCore) -> None:
    """The page has the first heading; those of the text come below it, each with a name that links lead to."""
    named: set[str] = set()
    for token, following in zip(state.tokens, [*state.tokens[1:], None], strict=True):
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
        if token.type == "heading_open" and following is not None:
            name = f"{SECTION}{slug_for(following.content)}"
            if name not in named:
                named.add(name)
                token.attrSet("id", name)


def _align_by_class(state: StateCore) -> None:
    """The page's policy allows no inline style, so that a column's side is told by a class."""
    for token in state.tokens:
        if token.type in ("th_open", "td_open") and (style := token.attrs.pop("style", None)):
            token.attrSet("class", f"align-{str(style).rpartition(':')[2]}")


def _task_boxes(state: StateCore) -> None:
    """``- [x] done`` with a box that is ticked, as agents write their lists."""
    for item, paragraph, inline in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if (item.type, paragraph.type, inline.type) != ("list_item_open", "paragraph_open", "inline"):
            continue
        first = inline.children[0] if inline.children else None
        if first is not None and first.type == "text" and (found := TASK.match(first.content)):
            first.content = BOXES[found[1].lower()] + first.content[found.end() :]


def _link_open(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[index]
    if token.attrGet("class") != "memory-link":
        token.attrSet("rel", "noopener noreferrer nofollow")
    return renderer.renderToken(tokens, index, options, env)


def _image(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[index]
    source = str(token.attrGet("src") or "")
    words = renderer.renderInlineAsText(token.children, options, env) or source
    if is_safe(source):
        return f'<a href="{escape(source)}" rel="noopener noreferrer nofollow">{escape(words)}</a>'
    return escape(words)


def _code(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    """Long lines scroll by themselves, with the keyboard too."""
    draw = renderer.fence if tokens[index].type == "fence" else renderer.code_block
    return draw(tokens, index, options, env).replace("<pre>", '<pre tabindex="0">', 1)


def _parser() -> MarkdownIt:
    parser = SafeMarkdown("commonmark", {"html": False, "linkify": False, "maxNesting": 40})
    parser.enable(["table", "strikethrough"])
    parser.inline.ruler.before("link", "wiki_link", _wiki_link)
    parser.core.ruler.push("below_the_page", _below_the_page)
    parser.core.ruler.push("align_by_class", _align_by_class)
    parser.core.ruler.push("task_boxes", _task_boxes)
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("image", _image)
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("code_block", _code)
    return parser


_PARSER = _parser()
