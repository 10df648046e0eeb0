"""How pages are looked at: the browser's switches, the widths, languages and looks."""

from itertools import product
from typing import Any

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDTHS = {"narrow": 360, "middle": 768, "wide": 1440}
LANGUAGES = {"en": "en", "zh": "zh-hans"}
THEMES = ("light", "dark")
HEIGHT = 900
Look = tuple[str, str, str]  # Language, theme, width.
LOOKS: list[Look] = list(product(LANGUAGES, THEMES, WIDTHS))


def cookies(url: str, language: str, theme: str) -> list[Any]:
    """What a browser remembers of a reader's choices."""
    return [
        {"name": "memrelay_language", "value": LANGUAGES[language], "url": url},
        {"name": "memrelay_theme", "value": theme, "url": url},
    ]


def size(width: str) -> Any:
    return {"width": WIDTHS[width], "height": HEIGHT}
