"""Forms of which most people need a few fields: the others lie folded away."""

from typing import ClassVar

from django import forms

from apps.console.deeds import OperationForm


class SeldomForm(OperationForm):
    """Names in ``SELDOM`` the fields that are folded away."""

    SELDOM: ClassVar[tuple[str, ...]]

    @property
    def plain(self) -> list[forms.BoundField]:
        return [field for field in self.visible_fields() if field.name not in self.SELDOM]

    @property
    def seldom(self) -> list[forms.BoundField]:
        return [self[name] for name in self.SELDOM]

    @property
    def opens_seldom(self) -> bool:
        """An error must be in sight."""
        return any(name in self.errors for name in self.SELDOM)
