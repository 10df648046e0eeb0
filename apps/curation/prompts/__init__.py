"""Prompts as files, one a version. A file that was ever used is never changed: a change is a new file and version."""

from functools import cache
from importlib import resources

PROMPT_VERSION = "curate-1"


@cache
def text_of(version: str) -> str:
    return resources.files(__package__).joinpath(f"{version}.md").read_text(encoding="utf-8")
