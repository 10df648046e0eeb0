"""How often one caller may call: a fixed window of a minute, counted per web process.

Rates protect the server from a loop gone wild, not from a determined crowd, so the processes need not count together.
"""

import time
from threading import Lock

WINDOW = 60.0
MOST_KEYS = 10_000  # Made-up addresses must not fill the memory; past this the window starts afresh.


class Rates:
    def __init__(self) -> None:
        self._lock = Lock()
        self._window = -1
        self._counts: dict[str, int] = {}

    def seconds_to_wait(self, key: str, limit: int) -> int:
        """Count one more call. 0 lets it through; else the seconds until the next window. A limit of 0 is none."""
        if limit <= 0:
            return 0
        now = time.monotonic()
        window = int(now // WINDOW)
        with self._lock:
            if window != self._window or len(self._counts) >= MOST_KEYS:
                self._window, self._counts = window, {}
            count = self._counts[key] = self._counts.get(key, 0) + 1
        return 0 if count <= limit else max(1, round((window + 1) * WINDOW - now))

    def forget(self) -> None:
        with self._lock:
            self._counts = {}
