from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.deeds import OperationForm
from apps.console.forms.seldom import SeldomForm

PROTOCOLS = [
    ("auto", _("Automatic: Responses first, then Chat Completions")),
    ("responses", _("Responses only")),
    ("chat_completions", _("Chat Completions only")),
]
STREAMING = [("auto", _("Where the endpoint can")), ("off", _("Never"))]


class ConnectionForm(SeldomForm):
    """The connection to a model. A token goes in and never comes out."""

    SELDOM = (
        "vision_model",
        "protocol",
        "streaming",
        "request_timeout_seconds",
        "probe_interval_seconds",
        "max_input_tokens",
        "max_output_tokens",
        "context_tokens",
        "admin_url",
    )

    base_url = forms.CharField(
        label=_("Base URL"),
        help_text=_("Of any OpenAI-compatible endpoint; it often ends in /v1."),
        widget=forms.TextInput(attrs={"inputmode": "url", "spellcheck": "false", "autocomplete": "off"}),
    )
    token = forms.CharField(
        label=_("Token"),
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("It is stored sealed and never shown again. Empty: the one that is stored stays."),
    )
    forget_token = forms.BooleanField(label=_("Forget the stored token and send none"), required=False)
    text_model = forms.CharField(
        label=_("Model"),
        required=False,
        help_text=_("The model that writes. The names that the endpoint offers are suggested once it is saved."),
        widget=forms.TextInput(attrs={"list": "models", "spellcheck": "false", "autocomplete": "off"}),
    )
    name = forms.CharField(label=_("Name"), required=False, help_text=_("What you call it; empty: its host."))
    enabled = forms.BooleanField(
        label=_("In use"), required=False, initial=True, help_text=_("Off: nothing is asked of it, not even a test.")
    )
    vision_model = forms.CharField(
        label=_("Model for pictures"),
        required=False,
        widget=forms.TextInput(attrs={"list": "models", "spellcheck": "false", "autocomplete": "off"}),
    )
    protocol = forms.ChoiceField(label=_("Protocol"), choices=PROTOCOLS, initial="auto")
    streaming = forms.ChoiceField(label=_("Streaming"), choices=STREAMING, initial="auto")
    request_timeout_seconds = forms.IntegerField(label=_("Seconds of silence until a request has failed"))
    probe_interval_seconds = forms.IntegerField(label=_("Seconds between two looks at its health; 0: none"))
    max_input_tokens = forms.IntegerField(label=_("Most tokens of a request"))
    max_output_tokens = forms.IntegerField(label=_("Most tokens of an answer"))
    context_tokens = forms.IntegerField(label=_("Most tokens of both together"))
    admin_url = forms.CharField(
        label=_("Page of the service"), required=False, help_text=_("Where its administrator works; shown as a link.")
    )
    revision = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, has_token: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not has_token:
            del self.fields["forget_token"]
            self.fields["token"].help_text = _("It is stored sealed and never shown again. Empty: none is sent.")

    def arguments(self) -> dict[str, Any]:
        told = dict(self.cleaned_data)
        token, forget = told.pop("token"), told.pop("forget_token", False)
        if not told["name"]:
            del told["name"]
        return {**told, **({"token": None} if forget else {"token": token} if token else {})}


class RunForm(OperationForm):
    project_id = forms.ChoiceField(label=_("Workspace"))
    mode = forms.ChoiceField(
        label=_("What to read"),
        choices=[("incremental", _("What changed since the last time")), ("full", _("Everything again"))],
    )
    force = forms.BooleanField(label=_("Even if nothing changed"), required=False)

    def __init__(self, *args: Any, workspaces: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer("project_id", workspaces)
