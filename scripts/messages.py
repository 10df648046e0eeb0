"""Gather every text of the project into its catalogues, and compile them: ``python scripts/messages.py``.

It needs Babel and no GNU gettext. What is new stands in the catalogue with an empty translation, and is listed; what
nothing says any more goes. With ``--check`` nothing is written. It ends with 1 where something is not translated.
"""

import io
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memrelay.settings")

from babel.messages.catalog import Catalog, Message  # noqa: E402
from babel.messages.extract import extract  # noqa: E402
from babel.messages.mofile import write_mo  # noqa: E402
from babel.messages.pofile import read_po, write_po  # noqa: E402
from django.utils.translation.template import templatize  # noqa: E402

CATALOGUES = sorted(PROJECT.glob("locale/*/LC_MESSAGES/django.po"))
CODE = ("apps", "memrelay")
TEMPLATES = ("templates",)
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
HEADER = """\
# Simplified Chinese for MemRelay. `python scripts/messages.py` gathers and compiles.
msgid ""
msgstr ""
"Project-Id-Version: MemRelay\\n"
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

"""
A_DATE = datetime(2026, 1, 1, tzinfo=UTC)  # A compiled catalogue says when it was made; the same text, the same file.


def gathered() -> Catalog:
    """Every text that code or a page asks to be translated."""
    catalog = Catalog(charset="utf-8")
    for file, source in _sources():
        told = extract("python", io.BytesIO(source), keywords=KEYWORDS, options={"encoding": "utf-8"})
        for _line, text, _comments, context in told:
            catalog.add(text, locations=[(file.relative_to(PROJECT).as_posix(), 0)], context=context)
    return catalog


def _sources() -> Iterator[tuple[Path, bytes]]:
    for folder in CODE:
        for file in sorted((PROJECT / folder).rglob("*.py")):
            yield file, file.read_bytes()
    for folder in TEMPLATES:
        for file in sorted((PROJECT / folder).rglob("*.html")):
            # In parentheses, since a page's indentation is not Python's.
            yield file, f"(\n{templatize(file.read_text(encoding='utf-8'))}\n)".encode()


def read(file: Path) -> Catalog:
    with file.open("rb") as stored:
        return read_po(stored, locale=file.parts[-3], charset="utf-8")


def updated(file: Path) -> Catalog:
    """The catalogue as it should be: every text once, translations kept, nothing guessed."""
    catalog = read(file)
    catalog.update(gathered(), no_fuzzy_matching=True)
    catalog.obsolete.clear()
    return catalog


def untranslated(catalog: Catalog) -> list[Message]:
    return [message for message in catalog if message.id and (message.fuzzy or not _is_whole(message))]


def _is_whole(message: Message) -> bool:
    texts = message.string if isinstance(message.string, (list, tuple)) else [message.string]
    return all(texts)


def as_po(catalog: Catalog) -> bytes:
    written = io.BytesIO()
    write_po(written, catalog, width=0, omit_header=True, include_lineno=False)
    return HEADER.format(language=catalog.locale).encode() + written.getvalue()


def as_mo(catalog: Catalog) -> bytes:
    catalog.creation_date = catalog.revision_date = A_DATE
    written = io.BytesIO()
    write_mo(written, catalog)
    return written.getvalue()


def main() -> int:
    check = "--check" in sys.argv[1:]
    lacking = 0
    for file in CATALOGUES:
        catalog = updated(file)
        if not check:
            file.write_bytes(as_po(catalog))
            file.with_suffix(".mo").write_bytes(as_mo(catalog))
        for message in untranslated(catalog):
            lacking += 1
            sys.stdout.write(f"{file.parts[-3]}: not translated: {message.id!r}\n")
    return int(lacking > 0)


if __name__ == "__main__":
    sys.exit(main())
