"""Base mode (D-05): nothing configured, no network, no model, no Git; and everything is well (must hold 4)."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live.server import PROJECT


def test_a_server_without_a_network_saves_finds_and_is_well(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    if not unshare or os.geteuid() != 0:
        pytest.skip("needs unshare and the rights to make a network namespace")
    done = subprocess.run(
        [unshare, "--net", sys.executable, "-m", "tests.live.alone", str(tmp_path)],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["interfaces"] == ["lo"]
    assert seen["found"] == ["Alone"]
    assert seen["git"] == []
    assert seen["ready"][0] == 200
    features = json.dumps(seen["capabilities"])
    assert '"curation_enabled": false' in features and '"memory_git_enabled": false' in features
    assert all(word not in seen["log"] for word in ("ERROR", "CRITICAL", "Traceback"))
