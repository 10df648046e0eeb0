"""The YAML block at the top of a Markdown file, read and edited line by line.

A file belongs to its author: whatever an edit does not name (unknown keys, order, quotes, comments, line endings, the
byte-order mark, every byte of the body) stays as it was. Heads in the plain form that this module writes are read by
hand, which takes a tenth of the time; everything else goes through PyYAML, and a head that YAML cannot read is taken
key by key, so that one broken line costs one value and never the file.

Two heads are rewritten as plain lines when they are first changed, because lines cannot be addressed in them: one
flow mapping (``{"id": 1}``, JSON too) and one with explicit keys (``? key``).
"""

from apps.memories.frontmatter.errors import HeadTooLarge, NotUtf8, Unwritable
from apps.memories.frontmatter.head import Problem, ProblemKind
from apps.memories.frontmatter.keys import Value
from apps.memories.frontmatter.parts import BOM, HEAD_LIMIT, Parts
from apps.memories.frontmatter.reading import Metadata, parse, read, split
from apps.memories.frontmatter.writing import compose, with_body, write

__all__ = [
    "BOM",
    "HEAD_LIMIT",
    "HeadTooLarge",
    "Metadata",
    "NotUtf8",
    "Parts",
    "Problem",
    "ProblemKind",
    "Unwritable",
    "Value",
    "compose",
    "parse",
    "read",
    "split",
    "with_body",
    "write",
]
