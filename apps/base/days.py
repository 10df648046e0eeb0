"""Times as people and agents write them: a date is the whole local day, an offset is honoured (D-25)."""

import re
from datetime import MINYEAR, UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from apps.base import clock
from apps.base.errors import Invalid

# In a query string a plus sign that was not escaped arrives as a space.
_LOST_PLUS = re.compile(r"(:\d{2}(?:\.\d+)?) (\d{2}:?\d{2})$")
_DAYS_AGO = {
    "today": 0,
    "今天": 0,
    "今日": 0,
    "yesterday": 1,
    "昨天": 1,
    "昨日": 1,
    "前天": 2,
    "the day before yesterday": 2,
}


def moment_from(text: str, zone: str, *, end: bool = False) -> datetime:
    """A bound in UTC. A date alone, or a word such as ``yesterday`` or ``昨天``, is a whole day in ``zone``.

    ``end`` takes the day's last microsecond, so that a bound includes its day. Raises ``ValueError`` on anything else.
    """
    told = text.strip().lower()
    if told in _DAYS_AGO:
        day = clock.now().astimezone(ZoneInfo(zone)).date() - timedelta(days=_DAYS_AGO[told])
        return _bound(day, zone, end)
    if (named := _date_in(told)) is not None:
        return _bound(named, zone, end)
    moment = datetime.fromisoformat(_LOST_PLUS.sub(r"\1+\2", told.upper()).replace(" ", "T", 1))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(zone))
    return _in_utc(moment)


def bound(text: str, zone: str, field: str, *, end: bool = False) -> datetime | None:
    """``moment_from`` for an argument that may be left empty. Raises ``Invalid`` naming the argument."""
    if not text:
        return None
    try:
        return moment_from(text, zone, end=end)
    except ValueError:
        raise Invalid(
            fields={field: _("This must be a date or a time, such as 2026-11-30 or 2026-11-30T09:00:00+08:00.")}
        ) from None


def local(moment: datetime, zone: str) -> datetime:
    """A stored time as its reader meets it: in their zone, with its offset."""
    return moment.astimezone(ZoneInfo(zone))


def _date_in(told: str) -> date | None:
    """A date without a time, in any ISO form (2026-11-30, 20261130, 2026-W49-1)."""
    try:
        return date.fromisoformat(told.upper())
    except ValueError:
        return None


def _bound(day: date, zone: str, end: bool) -> datetime:
    if not end:
        return _in_utc(datetime.combine(day, time.min, ZoneInfo(zone)))
    if day == date.max:
        return datetime.max.replace(tzinfo=UTC)
    return _in_utc(datetime.combine(day + timedelta(days=1), time.min, ZoneInfo(zone))) - timedelta(microseconds=1)


def _in_utc(moment: datetime) -> datetime:
    """The same instant in UTC; at either end of the calendar the nearest there is."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return (datetime.min if moment.year == MINYEAR else datetime.max).replace(tzinfo=UTC)
