"""What is told of processes, and that none is left behind."""

import os
import subprocess
import sys
import time

from bench import processes

DEAF = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); signal.pause()"


def test_a_child_that_does_not_listen_is_killed():
    child = subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE)
    with child:
        assert child.stdout is not None
        child.stdout.readline()
        assert processes.family(os.getpid())[child.pid] == os.getpid()
        processes.end(child.pid, seconds=0.1)
        assert child.wait(5) == -9
    assert child.pid not in processes.family(os.getpid())


def test_cpu_time_and_memory_of_a_process_are_told():
    pid = os.getpid()
    before = processes.cpu_seconds(pid)
    until = time.process_time() + 0.02
    while time.process_time() < until:
        pass
    assert 0.02 <= processes.cpu_seconds(pid) - before < 1
    assert 1 < processes.pss_megabytes(pid) < 10_000
    assert processes.machine_seconds() > 0


def test_a_process_that_is_gone_has_used_nothing():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert processes.cpu_seconds(child.pid) == processes.pss_megabytes(child.pid) == 0
    assert processes.family(child.pid) == {}
