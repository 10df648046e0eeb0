"""Times as people and agents write them: a date is the whole local day, an offset is honoured (D-25)."""

import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from apps.base import clock
from apps.base.errors import Invalid

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
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
    if _DATE.fullmatch(told):
        return _bound(date.fromisoformat(told), zone, end)
    moment = datetime.fromisoformat(told.upper().replace(" ", "T", 1))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(zone))
    return moment.astimezone(UTC)


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


def _bound(day: date, zone: str, end: bool) -> datetime:
    start = datetime.combine(day, time.min, ZoneInfo(zone))
    if not end:
        return start.astimezone(UTC)
    return datetime.combine(day + timedelta(days=1), time.min, ZoneInfo(zone)).astimezone(UTC) - timedelta(
        microseconds=1
    )
