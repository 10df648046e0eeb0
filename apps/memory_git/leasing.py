"""Having scopes for oneself: for the baseline, a snapshot, a migration (L-15)."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from apps.leases.errors import ScopeBusy
from apps.leases.held import Held, exclusive_key
from apps.leases.services import holding
from apps.memories.ledger.scan import scan
from apps.memories.ledger.sweep import sweep
from apps.memories.models import FileIntent, Scope
from apps.memory_git.errors import FilePending


@contextmanager
def whole(scope_keys: Iterable[str], *, work: str) -> Iterator[Sequence[Held]]:
    """Hold the exclusive leases of scopes, in the order of their keys, with every acknowledged write on disk.

    What was edited outside is taken in first.

    Raises ``ScopeBusy`` where somebody has one, ``FilePending`` where a file cannot be written.
    """
    keys = sorted(set(scope_keys))
    for key in keys:
        scan(key)
    with ExitStack() as stack:
        held = []
        for key in keys:
            lease = stack.enter_context(holding(exclusive_key(key), kind=work))
            if lease is None:
                raise ScopeBusy(scope=key, work=work)
            held.append(lease)
        sweep(at_once=True)
        blocked = FileIntent.objects.filter(scope__in=keys).values_list("scope_id", flat=True).first()
        if blocked is not None:
            raise FilePending(scope=blocked)
        yield held


def all_scopes() -> list[str]:
    return list(Scope.objects.values_list("key", flat=True))
