"""From a form to an operation and back: its answer, or its refusal beside the fields it is about."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest

from apps.base.errors import Denied, Invalid, MemRelayError, NotFound
from apps.console.refusals import advice_for, told, warnings_of
from apps.console.visiting import caller_for
from apps.operations.operation import Operation

R = TypeVar("R")


class OperationForm(forms.Form):
    """A form whose cleaned fields are an operation's arguments.

    ``hint``: what to do about a refusal; ``existing``: the id of a memory that stands in the way.
    """

    hint = ""
    existing = ""
    field_of: ClassVar[Mapping[str, str]] = {}  # An argument that the form asks for under another name.

    def arguments(self) -> dict[str, Any]:
        return self.cleaned_data

    def offer(self, name: str, choices: Sequence[tuple[str, Any]]) -> None:
        """What a field may be chosen from, where the reader decides that."""
        self.fields[name].choices = choices  # type: ignore[attr-defined]

    def refuse(self, error: MemRelayError) -> None:
        if isinstance(error, Invalid):
            for name, text in error.fields.items():
                argument = name.partition(".")[0]
                field = self.field_of.get(argument, argument)
                self.add_error(field if field in self.fields else None, text)
        else:
            self.add_error(None, str(error))
            self.hint = advice_for(error)
            self.existing = error.facts["memory_id"] if error.code == "TITLE_TAKEN" else ""


def perform(request: HttpRequest, operation: Operation[..., R], form: OperationForm, **more: Any) -> R | None:
    """Do it with what the form holds. None where the form or the operation refuses; the form then says why."""
    if not form.is_valid():
        return None
    try:
        return operation.perform(caller_for(request), {**form.arguments(), **more})
    except (NotFound, Denied):
        raise
    except MemRelayError as error:
        form.refuse(error)
        return None


def do(request: HttpRequest, operation: Operation[..., R], **arguments: Any) -> R | None:
    """Do what a button asks. None where it is refused; the next page says why."""
    try:
        answer = operation.perform(caller_for(request), arguments)
    except (NotFound, Denied):
        raise
    except MemRelayError as error:
        messages.error(request, told(error))
        return None
    tell_warnings(request, answer)
    return answer


def tell_warnings(request: HttpRequest, answer: Any) -> None:
    for sentence in warnings_of(getattr(answer, "warnings", [])):
        messages.warning(request, sentence)
