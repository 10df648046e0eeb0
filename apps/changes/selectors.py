from django.db.models import Max

from apps.changes.models import Change


def head() -> int:
    """The number of the latest change; 0 before the first."""
    return Change.objects.aggregate(head=Max("sequence"))["head"] or 0
