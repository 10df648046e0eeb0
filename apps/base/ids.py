"""Opaque identities: sortable by the time they were made, safe in names, URLs and Markdown."""

import os
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no letter that looks like a digit.


def new_id(prefix: str) -> str:
    """``<prefix>_`` and 26 characters: 48 bits of milliseconds, then 80 random bits.

    Neighbours in time are neighbours in the database's index, which keeps inserts cheap.
    """
    number = (time.time_ns() // 1_000_000 << 80) | int.from_bytes(os.urandom(10), "big")
    return f"{prefix}_" + "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
