"""Words that every room's arguments and answers share."""

from datetime import datetime
from typing import Annotated

from django.utils import timezone
from pydantic import AfterValidator, Field

from apps.base.paging import PAGE_LIMIT


def in_callers_zone(moment: datetime) -> datetime:
    """The same instant in the zone that is active; an operation activates its caller's."""
    return timezone.localtime(moment) if timezone.is_aware(moment) else moment


# A time in an answer: the caller's zone, with its offset (D-25).
Moment = Annotated[datetime, AfterValidator(in_callers_zone)]

Cursor = Annotated[
    str, Field(max_length=2000, description="Where the last page ended (its next_cursor); empty for the first page.")
]
PageLimit = Annotated[int, Field(ge=1, le=PAGE_LIMIT, description="Most items to answer.")]
