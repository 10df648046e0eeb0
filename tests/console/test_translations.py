"""Both languages are complete: whatever text a colleague adds, this fails until it stands in the catalogue.

``python scripts/messages.py`` gathers new texts; then their translations are written, and it runs once more.
"""

import gettext
import re
from pathlib import Path

import pytest

from scripts.messages import CATALOGUES, Catalog, gathered, read, untranslated, updated

HOLES = re.compile(r"%\(\w+\)s|\{\w*\}")


@pytest.fixture(scope="module", params=CATALOGUES, ids=lambda file: file.parts[-3])
def file(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture(scope="module")
def current(file: Path) -> Catalog:
    """The catalogue with every text that the project has now."""
    return updated(file)


def test_there_is_a_catalogue_and_there_are_texts() -> None:
    assert [file.parts[-3] for file in CATALOGUES] == ["zh_Hans"]
    assert len(gathered()) > 500


def test_texts_of_code_and_of_pages_are_found() -> None:
    catalog = gathered()
    assert catalog.get("There is no memory {memory_id} here.")
    assert catalog.get("Skip to the content")
    assert catalog.get("Read", context="right")
    assert catalog.get("{{ count }} memory") is None
    assert catalog.get(("%(count)s memory", "%(count)s memories"))


def test_every_text_is_translated(current: Catalog) -> None:
    assert [message.id for message in untranslated(current)] == [], "Run: python scripts/messages.py"


def test_a_translation_has_the_holes_of_its_text(current: Catalog) -> None:
    for message in current:
        if not message.id:
            continue
        ids = message.id if isinstance(message.id, (list, tuple)) else [message.id]
        strings = message.string if isinstance(message.string, (list, tuple)) else [message.string]
        for text in strings:
            assert set(HOLES.findall(text)) == set(HOLES.findall(ids[-1])), ids


def test_what_is_compiled_is_what_is_written(file: Path) -> None:
    with file.with_suffix(".mo").open("rb") as stored:
        compiled = gettext.GNUTranslations(stored)
    for message in read(file):
        if not message.id:
            continue
        one = message.id[0] if isinstance(message.id, (list, tuple)) else message.id
        told = message.string[0] if isinstance(message.string, (list, tuple)) else message.string
        found = compiled.pgettext(message.context, one) if message.context else _told(compiled, message.id)
        assert found == told, f"{one!r} is stale. Run: python scripts/messages.py"


def _told(compiled: gettext.GNUTranslations, text: str | tuple[str, ...] | list[str]) -> str:
    return compiled.gettext(text) if isinstance(text, str) else compiled.ngettext(text[0], text[1], 1)
