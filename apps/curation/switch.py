"""Whether curation is on: an administrator's choice, and a model to do it with."""

from apps.curation.models import CurationSettings
from apps.llm.selectors import is_configured


def is_enabled() -> bool:
    """The switch of ``Feature.CURATION``. Without a connected model there is nothing to switch on."""
    return chosen().enabled and is_configured()


def chosen() -> CurationSettings:
    """What was chosen, or how it is before anybody chose."""
    return CurationSettings.objects.filter(pk=1).first() or CurationSettings()
