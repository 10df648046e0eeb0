"""What a benchmark says: a table for people, then one line of ratios with their limits."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Figure:
    """A ratio and what it is held to; with another unit than x, a share or a number."""

    what: str
    value: float
    limit: float
    at_least: bool = False
    unit: str = "x"

    @property
    def holds(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        bound = "at least" if self.at_least else "at most"
        value = f"{self.value:.2f}" if self.unit == "x" else f"{self.value:.3g}"
        return f"{self.what} {value}{self.unit} ({bound} {self.limit:g}{self.unit}{'' if self.holds else ', SHORT'})"


@dataclass
class Report:
    figures: list[Figure]
    lines: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)  # What must never happen, whatever the figures.

    @property
    def holds(self) -> bool:
        return not self.failures and all(figure.holds for figure in self.figures)

    def last_line(self, name: str) -> str:
        verdict = "holds" if self.holds else "SHORT"
        said = [*map(str, self.figures), *(f"FAILED: {failure}" for failure in self.failures[:3])]
        return f"{name}: {'; '.join(said)}: {verdict}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Aligned columns, the first to the left."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return ["  ".join(_cells(row, widths)).rstrip() for row in [heads, *rows]]


def _cells(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *others = zip(row, widths, strict=True)
    return [first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)]
