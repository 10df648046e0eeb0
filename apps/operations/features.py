"""The switches of the server: what is on, and the neutral answer where it is off."""

from enum import StrEnum

from django.conf import settings
from django.utils.module_loading import import_string


class Feature(StrEnum):
    CURATION = "AI curation"
    MEMORY_GIT = "Memory Git"


def is_on(feature: Feature) -> bool:
    """Ask the room that owns the switch (``settings.FEATURE_SWITCHES``); a feature without a room is off."""
    path = settings.FEATURE_SWITCHES.get(feature.name)
    return bool(path and import_string(path)())
