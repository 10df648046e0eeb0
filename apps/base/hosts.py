"""Hosts that the server is told to call: which of them hand out credentials of the machine, and are never called. Pure."""

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Where clouds answer with credentials: by name, and by addresses that are not link-local.
CREDENTIAL_NAMES = frozenset({"metadata.google.internal", "metadata", "instance-data", "metadata.goog"})
CREDENTIAL_ADDRESSES = frozenset(map(ipaddress.ip_address, ("fd00:ec2::254", "100.100.100.200")))
BROADCAST = ipaddress.ip_address("255.255.255.255")


def address_in(host: str) -> Address | None:
    """The IP address that a host is, however it is mapped; nothing where it is a name."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_reserved(host: str) -> bool:
    """Whether a host is nobody's server: it hands out credentials, or is no single machine at all."""
    address = address_in(host)
    if address is None:
        return host in CREDENTIAL_NAMES
    is_nobody = address.is_multicast or address.is_unspecified or address == BROADCAST
    return address.is_link_local or address in CREDENTIAL_ADDRESSES or is_nobody
