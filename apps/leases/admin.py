from django.contrib import admin
from django.utils.translation import pgettext_lazy

from apps.leases.models import Lease
from apps.leases.owners import owner_is_alive
from apps.operations.administration import ReadOnlyAdmin


@admin.register(Lease)
class LeaseAdmin(ReadOnlyAdmin):
    """Who works on what. The lease of a dead process is taken over by itself; there is nothing to release by hand."""

    hidden = ("id",)
    list_display = ["key", "kind", "is_held", "attempt", "taken_at", "heartbeat_at"]
    list_filter = ["kind"]
    search_fields = ["key"]
    ordering = ["-heartbeat_at"]

    @admin.display(boolean=True, description=pgettext_lazy("column", "held"))
    def is_held(self, lease: Lease) -> bool:
        return bool(lease.owner) and owner_is_alive(lease.owner)
