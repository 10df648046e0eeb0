from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.deeds import OperationForm
from apps.console.places import scope_arguments
from apps.console.searching import tags_of

KINDS = [
    ("note", _("Note")),
    ("rule", _("Rule")),
    ("fact", _("Fact")),
    ("decision", _("Decision")),
    ("experience", _("Experience")),
]
NOTE_TYPES = [
    ("", _("Nobody in particular")),
    ("user", _("About the user")),
    ("feedback", _("Feedback")),
    ("project", _("About the project")),
    ("reference", _("Reference")),
]


class BodyField(forms.CharField):
    """Markdown. A browser sends every line end as CRLF, whatever the text had; LF is what files have."""

    def __init__(self, **settings: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 18, "spellcheck": "false"})
        super().__init__(strip=False, required=False, widget=widget, **settings)

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


class TagsField(forms.CharField):
    """Tags in one line, apart by commas of either script."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        return tags_of(super().clean(value))


class MemoryForm(OperationForm):
    title = forms.CharField(label=_("Title"))
    body = BodyField(label=_("Text"), help_text=_("Markdown. [[Title]] links to another memory."))
    summary = forms.CharField(
        label=_("Summary"), required=False, help_text=_("One or two sentences; lists and agents see them first.")
    )
    kind = forms.ChoiceField(label=_("Kind"), choices=KINDS, initial="note")
    note_type = forms.ChoiceField(label=_("Whom it concerns"), choices=NOTE_TYPES, required=False)
    tags = TagsField(label=_("Tags"), required=False, help_text=_("Apart by commas."))


class NewMemoryForm(MemoryForm):
    project_id = forms.ChoiceField(label=_("Workspace"))

    def __init__(self, *args: Any, places: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer("project_id", places)

    def arguments(self) -> dict[str, Any]:
        told = {name: value for name, value in self.cleaned_data.items() if name != "project_id"}
        return {**told, **scope_arguments(self.cleaned_data["project_id"])}


class MoveForm(OperationForm):
    field_of = {"to_scope": "to", "to_project_id": "to"}

    to = forms.ChoiceField(label=_("New place"), help_text=_("Whoever sees that place sees the memory from then on."))
    reason = forms.CharField(label=_("Reason"), required=False, help_text=_("For the history."))
    revision = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, places: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer("to", places)

    def arguments(self) -> dict[str, Any]:
        told = self.cleaned_data
        to = {f"to_{name}": value for name, value in scope_arguments(told["to"]).items()}
        return {**to, "reason": told["reason"], "revision": told["revision"]}


class EditForm(MemoryForm):
    revision = forms.IntegerField(widget=forms.HiddenInput)
    body_ends = forms.CharField(widget=forms.HiddenInput, required=False)

    def arguments(self) -> dict[str, Any]:
        told = {name: value for name, value in self.cleaned_data.items() if name != "body_ends"}
        if self.cleaned_data["body_ends"] == "crlf":
            told["body"] = told["body"].replace("\n", "\r\n")
        return told
