"""How gunicorn serves MemRelay: its own ASGI worker with the parser and loop that lost no request in trials (D-28)."""

from typing import Any

from apps.instance.serving.processes import die_with_parent
from memrelay import settings

wsgi_app = "memrelay.asgi:application"
worker_class = "asgi"
http_parser = "python"
asgi_loop = "asyncio"
workers = settings.WEB_PROCESSES
preload_app = True  # Loaded once: half the time to start, shared memory, and a killed process is replaced at once.
control_socket_disable = True
umask = 0o077
# A question of 2,000 characters stands in the address, percent-encoded: up to 12 bytes a character.
limit_request_line = 32_768

timeout = 60
graceful_timeout = settings.STOP_SECONDS
# Longer than the 5 seconds after which common clients drop an idle connection themselves: the other way round a request
# may meet a closing door. Not much longer: at a stop, idle connections are waited for.
keepalive = 7
forwarded_allow_ips = "*" if settings.BEHIND_PROXY else ""

# The path only: questions of a search stand behind the "?", and bodies and tokens are never written.
loglevel = "warning"
accesslog = "-" if settings.ACCESS_LOG else None
access_log_format = "%(t)s %(h)s %(m)s %(U)s %(s)s %(D)s us [%({x-request-id}o)s]"


def post_fork(server: Any, worker: Any) -> None:
    """A web process whose master was killed must not go on holding the port."""
    die_with_parent()
