"""Where a request comes from, as far as that can be trusted."""

from ipaddress import IPv6Address, ip_address

from django.conf import settings
from django.http import HttpRequest

UNKNOWN = "unknown"
IPV6_SHIFT = 64  # A customer gets a /64 network at least; counting its addresses one by one would count nothing.


def client_address(request: HttpRequest) -> str:
    """The address to count by. Behind a proxy it is the last one in X-Forwarded-For: that one our proxy wrote itself,
    the ones before it anybody can make up."""
    given = request.META.get("REMOTE_ADDR", "")
    if settings.BEHIND_PROXY:
        given = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip() or given
    try:
        address = ip_address(given.strip("[]").partition("%")[0])
    except ValueError:
        return UNKNOWN
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return f"{IPv6Address(int(address) >> IPV6_SHIFT << IPV6_SHIFT)}/{IPV6_SHIFT}"
    return str(address)
