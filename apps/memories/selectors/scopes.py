"""The scopes themselves and how their folders are."""

from django.db.models import Count, Q

from apps.base.days import local
from apps.memories.models import Scope, Status
from apps.memories.schemas import ScopeItem, ScopeListOut
from apps.memories.scopes import may_see
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation


@operation(needs=Right.READ, answers=ScopeListOut)
def scope_list(caller: Caller) -> ScopeListOut:
    """List scopes with their version, size, and what the last look at their folder found."""
    rows = Scope.objects.annotate(living=Count("memories", filter=~Q(memories__status=Status.DELETED))).order_by("key")
    return ScopeListOut(
        scopes=[
            ScopeItem(
                scope=row.key,
                version=row.version,
                policy=row.policy,
                memories=row.living,
                alarm=row.alarm,
                notices=row.notices,
                scanned_at=local(row.scanned_at, caller.zone) if row.scanned_at else None,
            )
            for row in rows
            if may_see(caller, row.key)
        ]
    )
