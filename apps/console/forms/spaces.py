from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.deeds import OperationForm


class SpaceForm(OperationForm):
    name = forms.CharField(label=_("Name"), help_text=_("The person, or what these habits are about."))
    profile_id = forms.CharField(
        label=_("Short name"),
        required=False,
        help_text=_(
            "Lower-case letters, digits and hyphens. It names the folder and stays; empty: made from the name."
        ),
    )
    description = forms.CharField(
        label=_("Description"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Whose habits these are."),
    )

    def arguments(self) -> dict[str, Any]:
        told = self.cleaned_data
        return {**told, "profile_id": told["profile_id"] or None}


class ChangeSpaceForm(OperationForm):
    name = forms.CharField(label=_("Name"))
    description = forms.CharField(
        label=_("Description"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Whose habits these are."),
    )
    enabled = forms.BooleanField(
        label=_("Enabled"),
        required=False,
        help_text=_("People and new tokens can choose it. Off: its memories and its tokens stay as they are."),
    )


class BindForm(OperationForm):
    """The tokens of a memory space: those ticked belong to it, those that were and are no more go to the shared one."""

    token_ids = forms.MultipleChoiceField(
        label=_("Tokens"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("What their agents save without a workspace belongs to this memory space. Their rights stay."),
    )

    def __init__(self, *args: Any, tokens: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer("token_ids", tokens)

    def arguments(self) -> dict[str, Any]:
        return {**self.cleaned_data, "replace": True}
