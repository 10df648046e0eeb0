"""The scopes themselves and how their folders are."""

from django.db.models import Count, Max, Q

from apps.base.days import local
from apps.memories.models import Resource, Scope, Status
from apps.memories.schemas import ScopeItem, ScopeListOut
from apps.memories.scopes import may_see
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation


@operation(needs=Right.READ, answers=ScopeListOut)
def scope_list(caller: Caller) -> ScopeListOut:
    """List scopes with their version, size, and what the last look at their folder found."""
    rows = Scope.objects.annotate(
        living=_living(Resource.MEMORY),
        checkpoints=_living(Resource.CHECKPOINT),
        changed_at=Max("memories__updated_at"),
    ).order_by("key")
    return ScopeListOut(
        scopes=[
            ScopeItem(
                scope=row.key,
                version=row.version,
                policy=row.policy,
                memories=row.living,
                checkpoints=row.checkpoints,
                updated_at=local(row.changed_at, caller.zone) if row.changed_at else None,
                alarm=row.alarm,
                notices=row.notices,
                scanned_at=local(row.scanned_at, caller.zone) if row.scanned_at else None,
            )
            for row in rows
            if may_see(caller, row.key)
        ]
    )


def _living(resource: Resource) -> Count:
    return Count("memories", filter=Q(memories__resource=resource) & ~Q(memories__status=Status.DELETED))
