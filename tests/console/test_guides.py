"""README and guides: equal in both languages, with pictures that are there and small."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from tests.contract.tools_contract import AGENT_TOOLS

PROJECT = Path(settings.PROJECT_FOLDER)
TWINS = [
    "README",
    "docs/embeddings",
    "docs/git-remotes",
    "docs/guide",
    "docs/memory-git",
    "docs/operating",
    "docs/recall",
]
PICTURE_BYTES = 150_000
SHAPES = {
    "headings": r"^#+ ",
    "points": r"^(?:-|\d+\.) ",
    "rows of tables": r"^\|",
    "pictures": r"!\[",
    "fences": r"^```",
    "lines of code": r"^    \S",
}


def read(name: str) -> str:
    return (PROJECT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TWINS)
def test_both_languages_tell_the_same(name: str) -> None:
    english, chinese = read(f"{name}.md"), read(f"{name}.zh-CN.md")
    for shape, pattern in SHAPES.items():
        counts = [len(re.findall(pattern, text, re.MULTILINE)) for text in (english, chinese)]
        assert counts[0] == counts[1], shape
    assert f"({Path(name).name}.zh-CN.md)" in english
    assert f"({Path(name).name}.md)" in chinese


@pytest.mark.parametrize("name", [f"{twin}{ending}" for twin in TWINS for ending in (".md", ".zh-CN.md")])
def test_links_lead_somewhere(name: str) -> None:
    folder = (PROJECT / name).parent
    for target in re.findall(r"\]\(([^)#]+)\)", read(name)):
        if "://" not in target:
            assert (folder / target).exists(), target


def test_pictures_are_small_and_shown() -> None:
    pictures = sorted((PROJECT / "docs" / "pictures").glob("*.png"))
    shown = read("README.md") + read("README.zh-CN.md")
    assert len(pictures) >= 6
    for picture in pictures:
        assert picture.stat().st_size < PICTURE_BYTES, picture.name
        assert f"docs/pictures/{picture.name}" in shown, picture.name


def test_the_readme_counts_the_tools_that_agents_see() -> None:
    assert f"see {len(AGENT_TOOLS)} tools" in read("README.md")
    assert f"{len(AGENT_TOOLS)} 个工具" in read("README.zh-CN.md")
