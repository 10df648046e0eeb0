from pathlib import PurePath
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.console.deeds import OperationForm
from apps.console.places import scope_arguments


class FolderForm(OperationForm):
    """An import or export: a folder below one that the operator opened, and the place it is about."""

    field_of = {"folder": "below", "scope": "place", "project_id": "place"}

    root = forms.ChoiceField(label=_("Folder on the server"))
    below = forms.CharField(
        label=_("Folder in it"), required=False, help_text=_("Such as notes/2026; empty: that folder itself.")
    )
    place = forms.ChoiceField(label=_("Place"))

    def __init__(self, *args: Any, places: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer("root", [(str(folder), str(folder)) for folder in settings.IMPORT_FOLDERS])
        self.offer("place", places)

    def arguments(self) -> dict[str, Any]:
        told = self.cleaned_data
        folder = PurePath(told["root"], told["below"].strip().lstrip("/\\"))
        return {"folder": str(folder), **scope_arguments(told["place"])}
