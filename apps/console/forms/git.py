from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.deeds import OperationForm

STRATEGIES = [
    ("single", _("One repository for everything")),
    ("per_workspace", _("One for each workspace, memory space and the library")),
]


class GitForm(OperationForm):
    """How Memory Git is set up. The strategy of repositories that exist is changed by a plan of its own."""

    strategy = forms.ChoiceField(label=_("Strategy"), choices=STRATEGIES)
    branch = forms.CharField(label=_("Branch"), help_text=_("Of new repositories."))
    author_name = forms.CharField(label=_("Commits are by"), help_text=_("Who did what stands in each commit besides."))
    author_email = forms.CharField(label=_("Mail address of the author"))

    def __init__(self, *args: Any, has_repositories: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if has_repositories:
            del self.fields["strategy"]
            del self.fields["branch"]
