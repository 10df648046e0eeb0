"""The loop of ``manage.py serve``: start the children, replace what dies, end everything on a signal.

It holds no database connection and no thread, so that nothing in it can hang on what it watches.
"""

import logging
import os
import signal
import time

from apps.instance.serving.children import Child
from apps.instance.serving.processes import adopt_orphans, everyone, kill
from apps.instance.serving.state import write_state

ENDINGS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
TICK_SECONDS = 0.25
LOOK_AROUND_SECONDS = 1.0
TELL_SECONDS = 2.0

logger = logging.getLogger(__name__)


class Supervisor:
    def __init__(self, children: list[Child], *, roles: list[str], stop_seconds: float):
        self.children = children
        self.roles = roles
        self.stop_seconds = stop_seconds
        self.looked_around = 0.0
        self.told = 0.0

    def run(self) -> None:
        """Serve until SIGTERM, SIGINT or SIGHUP; return when all children are gone."""
        adopt_orphans()
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
        try:
            while not signal.sigtimedwait(ENDINGS, TICK_SECONDS if self.told else 0):
                self.tick()
        finally:
            self.stop()

    def tick(self) -> None:
        now = time.monotonic()
        if now - self.looked_around >= LOOK_AROUND_SECONDS:
            self.look_around()
            self.looked_around = now
        for child in self.children:
            if child.has_come_to_rest():
                child.rest()
            elif trouble := child.trouble():
                child.put_down(trouble)
                self.report(child)
            if child.is_due():
                child.start()
                self.told = 0.0
            child.forgive()
        self.reap()
        if now - self.told >= TELL_SECONDS:
            self.tell(now)

    def report(self, child: Child) -> None:
        pause = max(0.0, child.next_start - time.monotonic())
        level = logging.WARNING if child.deaths == 1 else logging.ERROR
        logger.log(
            level,
            "The %s process is started anew in %.1f s, since %s (%d times in a row).",
            child.name,
            pause,
            child.last_trouble,
            child.deaths,
        )

    def look_around(self) -> None:
        """Meet new descendants, and end orphans: nobody waits for what they do."""
        processes = list(everyone())
        own = {child.pid for child in self.children}
        for child in self.children:
            child.meet(processes)
        for process in processes:
            if process.parent == os.getpid() and process.pid not in own and not process.zombie:
                kill(process.pid, signal.SIGKILL)

    def reap(self) -> None:
        """Take the exit codes of adopted orphans; the children look after their own."""
        own = {child.pid for child in self.children}
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None or ended.si_pid in own:
                return  # The next tick sees to it.
            os.waitpid(ended.si_pid, 0)

    def tell(self, now: float) -> None:
        for role in self.roles:
            write_state(role, {child.name: child for child in self.children})
        self.told = now

    def stop(self) -> None:
        """Ask all to finish, wait for the grace time, then kill; a second signal kills at once."""
        for child in self.children:
            child.ask_to_stop()
        deadline = time.monotonic() + self.stop_seconds
        while any(child.pid and not child.has_ended() for child in self.children):
            self.reap()
            if time.monotonic() > deadline or signal.sigtimedwait(ENDINGS, 0.05):
                logger.warning("Not all processes ended in time; they are killed.")
                break
        for child in self.children:
            child.kill()
        self.look_around()
        self.reap()
