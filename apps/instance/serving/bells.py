"""Jobs that a killed cluster had taken into its memory are offered again at once."""

from django.conf import settings
from django.utils import timezone
from django_q.models import OrmQ


def release_bells() -> int:
    """Unlock what no living worker holds; say how many rows that were.

    A row is locked when a cluster takes it into memory, for an hour and more (``retry``). Only one cluster serves a
    data folder (L-26), so at its start every lock is a dead one's.
    """
    now = timezone.now()
    return OrmQ.objects.filter(key=settings.Q_CLUSTER["name"], lock__gt=now).update(lock=now)
