"""What some tests need from outside Python: found by a variable, else where it usually is, else installed (D-45).

``python -m tests.outside`` installs what is missing if it may (root and apt; never sudo) and tells what it found. A
test asks ``needed("chromium")``: what is missing skips it with the reason, and fails it where ``CI`` is ``true``.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

APT_SECONDS = 900


@dataclass(frozen=True)
class Thing:
    """Something that a test runs or shows; ``find`` answers its path, or nothing."""

    variable: str
    find: Callable[[], str | None]
    packages: tuple[str, ...] = ()
    advice: str = ""


def on_path(*names: str) -> Callable[[], str | None]:
    return lambda: next((found for name in names if (found := shutil.which(name))), None)


def chinese_font() -> str | None:
    """A font file that has Simplified Chinese; fc-list comes with the browsers that would use it."""
    if not shutil.which("fc-list"):
        return None
    listed = subprocess.run(["fc-list", ":lang=zh-cn", "file"], capture_output=True, text=True, check=False).stdout
    return listed.partition(":")[0].strip() or None


def newer_python() -> str | None:
    """Python 3.12 or newer, which a genuine basic-memory needs (D-47): this one, one on the path, one of pyenv's."""
    names = [f"python3.{minor}" for minor in range(19, 11, -1)]
    candidates = [sys.executable, *filter(None, map(shutil.which, names))]
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates += [str(path) for name in names for path in sorted(versions.glob(f"*/bin/{name}"))]
    ask = "import sys; sys.exit(sys.version_info < (3, 12))"
    return next((path for path in candidates if _works([path, "-c", ask])), None)


def newer_node() -> str | None:
    """Node 22.7 or newer, which the MCP Inspector needs."""
    ask = "const [a, b] = process.versions.node.split('.'); process.exit(a > 22 || (a == 22 && b >= 7) ? 0 : 1)"
    found = shutil.which("node")
    return found if found and _works([found, "-e", ask]) else None


THINGS = {
    "chromium": Thing(
        "CHROMIUM",
        on_path("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
        packages=("chromium",),
        advice="install Chromium or name its file in CHROMIUM",
    ),
    "chinese font": Thing(
        "CHINESE_FONT", chinese_font, packages=("fontconfig", "fonts-noto-cjk"), advice="install fonts-noto-cjk"
    ),
    "newer python": Thing("NEWER_PYTHON", newer_python, advice="name a Python 3.12 or newer in NEWER_PYTHON"),
    "newer node": Thing("NEWER_NODE", newer_node, advice="name a Node 22.7 or newer in NEWER_NODE"),
}
BROWSER_THINGS = ["chromium", "chinese font"]


def found(name: str) -> str | None:
    thing = THINGS[name]
    return os.environ.get(thing.variable) or thing.find()


def needed(name: str) -> str:
    """Where the thing is; without it the test ends here."""
    if path := found(name):
        return path
    reason = f"needs a {name}: {THINGS[name].advice}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def install(names: list[str]) -> None:
    """Install by apt what is missing, if this user may."""
    missing = [package for name in names if not found(name) for package in THINGS[name].packages]
    if not missing or os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    apt = ["apt-get", "--quiet", "--yes", "--no-install-recommends"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["update"], ["install", *missing]):
        done = subprocess.run([*apt, *step], env=environment, timeout=APT_SECONDS, check=False)
        if done.returncode:
            print(f"apt-get {step[0]} failed; the tests that need {', '.join(missing)} cannot run.")
            return


def main() -> int:
    install(BROWSER_THINGS)
    for name in BROWSER_THINGS:
        print(f"{name}: {found(name) or 'missing; ' + THINGS[name].advice}")
    return int(os.environ.get("CI") == "true" and not all(map(found, BROWSER_THINGS)))


def _works(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


if __name__ == "__main__":
    sys.exit(main())
