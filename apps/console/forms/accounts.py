from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.deeds import OperationForm

RIGHTS = [
    ("read", _("Read memories and checkpoints")),
    ("write", _("Write, change and delete them")),
    ("administer", _("Administer: tokens, memory spaces, every space's memories")),
]
TOOLSETS = [
    ("agent", _("agent: the few tools of daily work, the others by search")),
    ("full", _("full: every tool in the list")),
    ("connector", _("connector: search and fetch alone, as ChatGPT asks for them")),
]
EXPIRES = [("", _("Does not expire")), ("30", _("In 30 days")), ("90", _("In 90 days")), ("365", _("In a year"))]


class SignInForm(OperationForm):
    username = forms.CharField(
        label=_("Name"), max_length=150, widget=forms.TextInput(attrs={"autocomplete": "username", "autofocus": True})
    )
    password = forms.CharField(
        label=_("Password"),
        max_length=1000,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class PasswordForm(OperationForm):
    field_of = {"old": "old_password", "new": "new_password1"}

    old_password = forms.CharField(
        label=_("Current password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password", "autofocus": True}),
    )
    new_password1 = forms.CharField(
        label=_("New password"),
        strip=False,
        help_text=_("At least 8 characters; a few words are easier to remember than signs."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    new_password2 = forms.CharField(
        label=_("New password again"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean(self) -> dict[str, Any]:
        told = super().clean() or {}
        if {"new_password1", "new_password2"} <= told.keys() and told["new_password1"] != told["new_password2"]:
            self.add_error("new_password2", _("The two new passwords differ."))
        return told


class TokenForm(OperationForm):
    field_of = {"profile_id": "profile", "expires_days": "expires"}

    name = forms.CharField(
        label=_("Name"), help_text=_("The agent and the machine it runs on, so that you know it again.")
    )
    profile = forms.ChoiceField(label=_("Memory space"), help_text=_("Whose habits the agent learns and follows."))
    project_id = forms.ChoiceField(
        label=_("Workspace"), required=False, help_text=_("With a workspace it reaches no other one.")
    )
    toolset = forms.ChoiceField(label=_("Toolset"), choices=TOOLSETS, initial="agent")
    rights = forms.MultipleChoiceField(
        label=_("Rights"), choices=RIGHTS, initial=["read", "write"], widget=forms.CheckboxSelectMultiple
    )
    expires = forms.ChoiceField(label=_("Expires"), choices=EXPIRES, required=False)

    def __init__(
        self, *args: Any, profiles: list[tuple[str, str]], workspaces: list[tuple[str, str]], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.offer("profile", profiles)
        self.offer("project_id", [("", _("All workspaces")), *workspaces])

    def arguments(self) -> dict[str, Any]:
        told = self.cleaned_data
        return {
            "name": told["name"],
            "profile_id": told["profile"],
            "project_id": told["project_id"] or None,
            "toolset": told["toolset"],
            "rights": told["rights"],
            "expires_days": int(told["expires"]) if told["expires"] else None,
        }
