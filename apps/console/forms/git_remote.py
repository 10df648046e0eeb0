from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.deeds import OperationForm
from apps.console.forms.seldom import SeldomForm

SECRETS = ("secret", "private_key", "passphrase", "proxy")
HIDDEN = {"autocomplete": "new-password"}
STAYS = _("Stored sealed and never shown again. Empty: what is stored stays.")


class GitConnectionForm(SeldomForm):
    """The connection to a Git server. Secrets go in and never come out."""

    SELDOM = ("name", "branch", "authorities", "proxy", "forget")

    url = forms.CharField(
        label=_("Address"),
        help_text=_("As git clone takes it. With {repo} where each workspace has a repository of its own."),
        widget=forms.TextInput(attrs={"inputmode": "url", "spellcheck": "false", "autocomplete": "off"}),
    )
    user_name = forms.CharField(
        label=_("User name"),
        required=False,
        help_text=_("Of an account that is for MemRelay alone. Over SSH it is often git."),
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
    )
    secret = forms.CharField(
        label=_("Token or password"),
        required=False,
        strip=False,
        help_text=STAYS,
        widget=forms.PasswordInput(attrs=HIDDEN),
    )
    private_key = forms.CharField(
        label=_("Private SSH key"),
        required=False,
        strip=False,
        help_text=_("Ed25519, ECDSA or RSA, whole. Empty: the one that is stored stays."),
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocomplete": "off"}),
    )
    passphrase = forms.CharField(
        label=_("Passphrase of the key"),
        required=False,
        strip=False,
        help_text=STAYS,
        widget=forms.PasswordInput(attrs=HIDDEN),
    )
    host_keys = forms.CharField(
        label=_("Trusted fingerprints of the SSH server"),
        required=False,
        help_text=_("One a line. A test shows what the server has; compare it with what the service publishes."),
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
    )
    allow_write_test = forms.BooleanField(
        label=_("Allow the write test"),
        required=False,
        initial=True,
        help_text=_("It pushes one temporary branch with a name of its own and deletes it at once."),
    )
    allow_push_to_create = forms.BooleanField(
        label=_("Allow the first push to create repositories"),
        required=False,
        initial=True,
        help_text=_("Where the server does that and the account may."),
    )
    enabled = forms.BooleanField(
        label=_("In use"), required=False, initial=True, help_text=_("Off: nothing is pushed or asked.")
    )
    name = forms.CharField(label=_("Name"), required=False, help_text=_("What you call it; empty: its host."))
    branch = forms.CharField(label=_("Branch at the server"), initial="main")
    authorities = forms.CharField(
        label=_("Certificates to trust"),
        required=False,
        help_text=_("In PEM form, besides those that the system trusts."),
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
    )
    proxy = forms.CharField(
        label=_("HTTP proxy"),
        required=False,
        help_text=STAYS,
        widget=forms.PasswordInput(attrs=HIDDEN),
    )
    forget = forms.BooleanField(label=_("Forget all stored secrets that are not entered here"), required=False)
    revision = forms.IntegerField(widget=forms.HiddenInput)

    def arguments(self) -> dict[str, Any]:
        told = dict(self.cleaned_data)
        forget = told.pop("forget")
        entered = {name: told.pop(name) for name in SECRETS}
        if not told["name"]:
            del told["name"]
        told["host_keys"] = [line.strip() for line in told["host_keys"].splitlines() if line.strip()]
        told |= {name: value for name, value in entered.items() if value}
        return told | ({name: None for name, value in entered.items() if not value} if forget else {})


class BindForm(OperationForm):
    url = forms.CharField(
        label=_("Address of an empty repository"),
        help_text=_("At the same server."),
        widget=forms.TextInput(attrs={"inputmode": "url", "spellcheck": "false", "autocomplete": "off"}),
    )
