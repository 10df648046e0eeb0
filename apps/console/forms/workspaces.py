from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.deeds import OperationForm

TYPES = [
    ("development", _("Development")),
    ("office", _("Office")),
    ("study", _("Study")),
    ("research", _("Research")),
    ("personal", _("Personal")),
    ("general", _("General")),
]
MAY_BE_NONE = ("external_key", "git_remote", "git_branch")


class WorkspaceForm(OperationForm):
    name = forms.CharField(label=_("Name"))
    workspace_type = forms.ChoiceField(
        label=_("Type"),
        choices=TYPES,
        initial="development",
        help_text=_("It chooses the documents and prompts to begin with, and restricts nothing."),
    )
    description = forms.CharField(
        label=_("Description"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("What is worked on."),
    )
    git_remote = forms.CharField(
        label=_("Git remote"), required=False, help_text=_("Agents in a clone of it find this workspace by themselves.")
    )
    git_branch = forms.CharField(label=_("Branch"), required=False)
    external_key = forms.CharField(
        label=_("External key"), required=False, help_text=_("Your own system's key of it, such as a ticket project.")
    )

    def arguments(self) -> dict[str, Any]:
        told = dict(self.cleaned_data)
        return told | {name: told[name] or None for name in MAY_BE_NONE}


class ChangeWorkspaceForm(WorkspaceForm):
    archived = forms.BooleanField(
        label=_("Put away"),
        required=False,
        help_text=_("Lists leave it out. It can still be read; whoever writes there is refused."),
    )
    revision = forms.IntegerField(widget=forms.HiddenInput)
