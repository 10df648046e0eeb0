"""Reads of the server as a whole."""

from apps.instance.capabilities import capabilities_of
from apps.instance.condition import health_of
from apps.instance.dashboard import dashboard_of
from apps.instance.schemas import CapabilitiesOut, DashboardOut, HealthOut, LatestLimit
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation


@operation(needs=Right.READ, answers=CapabilitiesOut)
def capabilities_get(caller: Caller) -> CapabilitiesOut:
    """Read what this server can do now: features, toolsets, limits, operations."""
    return capabilities_of(caller)


@operation(needs=Right.READ, answers=DashboardOut)
def dashboard_get(caller: Caller, *, limit: LatestLimit = 5) -> DashboardOut:
    """Read how the server is doing: counts, health, what needs a look, what happened last."""
    return dashboard_of(caller, limit)


@operation(needs=Right.READ, answers=HealthOut)
def health_get(caller: Caller) -> HealthOut:
    """Read the health of each part of the server. A feature that is not enabled is off, which is no fault."""
    return health_of(caller)
