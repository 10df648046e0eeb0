"""The ground of every page: colours one can read, no inline style or script, both languages complete."""

import gettext
import re
from itertools import product
from pathlib import Path

import pytest
from django.conf import settings
from django.template import Template
from django.template.loader import get_template
from django.templatetags.i18n import BlockTranslateNode, TranslateNode
from django.utils.text import normalize_newlines
from django.utils.translation import trim_whitespace

TEMPLATES = sorted((settings.PROJECT_FOLDER / "templates").rglob("*.html"))
STYLES = sorted((settings.PROJECT_FOLDER / "static" / "css").glob("*.css"))
COLOURS = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);",
        (settings.PROJECT_FOLDER / "static" / "css" / "tokens.css").read_text(encoding="utf-8"),
    )
}
SURFACES = ["paper", "surface", "surface-sunken", "surface-hover", "surface-raised"]
READ = [
    *product(["ink", "ink-soft", "ink-faint", "accent", "accent-strong", "danger-ink"], SURFACES),
    *((f"{state}-ink", f"{state}-soft") for state in ("neutral", "success", "warning", "danger", "info")),
    *product(["on-accent"], ["accent", "accent-strong"]),
    *product(["on-danger"], ["danger", "danger-strong"]),
    *product(["ink", "ink-soft"], ["success-soft", "danger-soft", "neutral-soft"]),
    *product(["accent-strong", "ink", "ink-soft", "ink-faint"], ["accent-soft"]),
    ("ink", "mark"),
    ("paper", "ink"),
]
SEEN = list(product(["line-strong", "focus"], SURFACES))


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("look", [0, 1], ids=["light", "dark"])
def test_text_and_controls_stand_out_from_their_ground(look: int) -> None:
    weak = [
        (front, ground, round(contrast(COLOURS[front][look], COLOURS[ground][look]), 2))
        for pairs, least in ((READ, 4.5), (SEEN, 3.0))
        for front, ground in pairs
        if contrast(COLOURS[front][look], COLOURS[ground][look]) < least
    ]
    assert not weak


def test_only_the_tokens_name_colours() -> None:
    named = [
        (style.name, colour)
        for style in STYLES
        if style.name != "tokens.css"
        for colour in re.findall(r"#[0-9a-f]{3,8}\b|\brgb\(|\bhsl\(", style.read_text(encoding="utf-8"))
    ]
    assert not named


def test_every_token_in_use_is_defined() -> None:
    text = "\n".join(style.read_text(encoding="utf-8") for style in STYLES)
    assert set(re.findall(r"var\(--([\w-]+)", text)) <= set(re.findall(r"--([\w-]+):", text))


def test_components_use_no_ids_and_overrule_nothing() -> None:
    for style in STYLES:
        text = style.read_text(encoding="utf-8")
        assert "!important" not in text, style.name
        assert not re.search(r"^\s*#", text, re.MULTILINE), style.name


def test_every_component_is_loaded_by_the_skeleton() -> None:
    skeleton = (settings.PROJECT_FOLDER / "templates" / "base.html").read_text(encoding="utf-8")
    assert set(re.findall(r"css/([\w-]+\.css)", skeleton)) == {style.name for style in STYLES}


def name_of(template: Path) -> str:
    return template.relative_to(settings.PROJECT_FOLDER / "templates").as_posix()


@pytest.mark.parametrize("template", TEMPLATES, ids=name_of)
def test_a_page_has_no_inline_style_or_script_and_asks_no_other_host(template: Path) -> None:
    text = template.read_text(encoding="utf-8")
    assert not re.search(r"\sstyle=|<style|\son[a-z]+=|hx-on|javascript:", text)
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)
    assert not re.search(r"(src|href)=\"(https?:)?//", text)


def strings_of(template: Template) -> set[str]:
    """What a template asks to be translated, as the catalogue keys it (context and text joined by EOT)."""
    wanted = set()
    for node in template.nodelist.get_nodes_by_type(TranslateNode):
        context = node.message_context.var if node.message_context else None
        text = getattr(node.filter_expression.var, "literal", node.filter_expression.var)
        wanted.add(f"{context}\x04{text}" if context else str(text))
    for node in template.nodelist.get_nodes_by_type(BlockTranslateNode):
        text, _names = node.render_token_list(node.singular)
        wanted.add(trim_whitespace(text) if node.trimmed else normalize_newlines(text))
    return wanted


def test_every_sentence_of_the_pages_is_there_in_chinese() -> None:
    compiled = settings.PROJECT_FOLDER / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.mo"
    with compiled.open("rb") as file:
        chinese = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    known = {key[0] if isinstance(key, tuple) else key for key, text in chinese.items() if text}
    wanted = set().union(*(strings_of(get_template(name_of(path)).template) for path in TEMPLATES))
    assert len(wanted) > 200
    assert wanted - known == set()
