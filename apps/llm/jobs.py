"""What a worker does for the connection: look whether the endpoint is well, when that is due."""

from datetime import timedelta

from apps.base import clock
from apps.base.bells import ring
from apps.leases.services import holding
from apps.llm.connections import current_row, is_in_use, opened
from apps.llm.models import ConnectionHealth
from apps.llm.probing import examine, glance, voice_known
from apps.llm.schemas import ConnectionState

# A bell may be lost: then it is rung again after this long.
UNTIL_RUNG_AGAIN = timedelta(minutes=3)


def ring_if_due() -> bool:
    """Ring for a look at the endpoint if it is time for one. Cheap: one query while it is not."""
    now = clock.now()
    due = ConnectionHealth.objects.filter(
        next_probe_at__lte=now, connection__is_current=True, connection__enabled=True
    ).exclude(connection__text_model="")
    for health in due:
        claimed = ConnectionHealth.objects.filter(pk=health.pk, next_probe_at=health.next_probe_at)
        if claimed.update(next_probe_at=now + UNTIL_RUNG_AGAIN):
            ring("apps.llm.jobs.connection_probe", health.pk)
            return True
    return False


def connection_probe(connection_id: str) -> None:
    """Look at the endpoint of this revision, unless it was replaced or somebody is looking."""
    row = current_row()
    if row is None or row.pk != connection_id or not is_in_use(row):
        return
    with holding(f"model-probe/{connection_id}", kind="model-probe") as held:
        if held is None:
            return
        connection = opened(row)
        voice = voice_known(connection)
        if voice is None or row.health.state == ConnectionState.CONFIGURATION_ERROR:
            examine(connection)
        else:
            glance(connection, voice)
