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

APT_SECONDS = NPM_SECONDS = PIP_SECONDS = 900
NPM_FOLDER = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "memrelay-tests"
BASIC_MEMORY = "basic-memory==0.24.1"


@dataclass(frozen=True)
class Thing:
    """Something that a test runs or shows; ``find`` answers its path, or nothing."""

    variable: str
    find: Callable[[], str | None]
    packages: tuple[str, ...] = ()  # Debian's
    modules: tuple[str, ...] = ()  # npm's, kept in ``NPM_FOLDER``
    package: str = ""  # PyPI's, kept in an environment of its own there
    rests_on: str = ""  # Another thing: where that is not, nobody can ask for this one.
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
    own = NPM_FOLDER / "node_modules" / "node" / "bin" / "node"
    candidates = filter(None, [shutil.which("node"), str(own)])
    return next((path for path in candidates if _works([path, "-e", ask])), None)


def from_npm(file: str) -> Callable[[], str | None]:
    """A file that ``npm install`` puts into the folder."""
    path = NPM_FOLDER / "node_modules" / file
    return lambda: str(path) if path.exists() else None


def environment_of(package: str) -> Path:
    """The virtual environment of a pinned package; another version is another environment."""
    return NPM_FOLDER / package.replace("==", "-")


def from_pypi(package: str) -> Callable[[], str | None]:
    """The package's program. ``pip`` writes it last, so where it is, everything that it needs is too."""
    path = environment_of(package) / "bin" / package.partition("==")[0]
    return lambda: str(path) if path.exists() else None


def in_sbin(name: str) -> Callable[[], str | None]:
    """A server's program: the folders of those are often not on a person's path."""
    return lambda: shutil.which(
        name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
    )


def file_at(path: str) -> Callable[[], str | None]:
    return lambda: path if os.access(path, os.X_OK) else None


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
    "newer node": Thing(
        "NEWER_NODE", newer_node, modules=("node@22",), advice="name a Node 22.7 or newer in NEWER_NODE"
    ),
    "inspector": Thing(
        "MCP_INSPECTOR",
        from_npm(".bin/mcp-inspector"),
        modules=("@modelcontextprotocol/inspector@2.12.0",),
        advice="install npm, or name the MCP Inspector's program in MCP_INSPECTOR",
    ),
    "basic-memory": Thing(
        "BASIC_MEMORY",
        from_pypi(BASIC_MEMORY),
        package=BASIC_MEMORY,
        rests_on="newer python",
        advice="have a Python 3.12 or newer and run python -m tests.outside, or name its program in BASIC_MEMORY",
    ),
    "axe": Thing(
        "AXE",
        from_npm("axe-core/axe.min.js"),
        modules=("axe-core@4.14.1",),
        rests_on="npm",
        advice="run python -m tests.outside, or name axe-core's axe.min.js in AXE",
    ),
    "nginx": Thing("NGINX", in_sbin("nginx"), packages=("nginx-light",), advice="install nginx"),
    "fcgiwrap": Thing("FCGIWRAP", in_sbin("fcgiwrap"), packages=("fcgiwrap",), advice="install fcgiwrap"),
    "git-http-backend": Thing(
        "GIT_HTTP_BACKEND",
        file_at("/usr/lib/git-core/git-http-backend"),
        packages=("git",),
        advice="install git, or name its git-http-backend in GIT_HTTP_BACKEND",
    ),
    "sshd": Thing("SSHD", in_sbin("sshd"), packages=("openssh-server",), advice="install OpenSSH's server"),
    "gitolite": Thing(
        "GITOLITE_SHELL",
        file_at("/usr/share/gitolite3/gitolite-shell"),
        packages=("gitolite3",),
        advice="install gitolite3, or name its gitolite-shell in GITOLITE_SHELL",
    ),
    "npm": Thing("NPM", on_path("npm"), advice="install npm"),
}
GIT_SERVERS = ["nginx", "fcgiwrap", "git-http-backend", "sshd", "gitolite"]
LIVE_THINGS = ["newer node", "inspector", "basic-memory", *GIT_SERVERS]
BROWSER_THINGS = ["chromium", "chinese font", "axe"]


def found(name: str) -> str | None:
    thing = THINGS[name]
    return os.environ.get(thing.variable) or thing.find()


def needed(name: str) -> str:
    """Where the thing is; without it the test ends here."""
    if path := found(name):
        return path
    reason = f"needs a {name}: {THINGS[name].advice}"
    if os.environ.get("CI") == "true" and can_be_had(name):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def can_be_had(name: str) -> bool:
    """Whether the lack of it is a fault of the set-up: not where what it rests on is no part of the machine."""
    rests_on = THINGS[name].rests_on
    return not rests_on or found(rests_on) is not None


def install(names: list[str]) -> None:
    """Install what is missing: by npm and pip into a folder of the tests' own, by apt if this user may."""
    _install_by_npm([module for name in names if not found(name) for module in THINGS[name].modules])
    for name in names:
        if THINGS[name].package and not found(name):
            _install_by_pip(THINGS[name].package, found(THINGS[name].rests_on))
    _install_by_apt(names)


def _install_by_pip(package: str, python: str | None) -> None:
    """Into an environment of its own: what it needs must not meet what MemRelay needs."""
    if not python:
        return
    environment = environment_of(package)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    for command in ([python, "-m", "venv", "--clear", str(environment)], [*pip, "install", package]):
        try:
            subprocess.run(command, timeout=PIP_SECONDS, check=True)
        except (OSError, subprocess.SubprocessError) as failure:
            print(f"{package} could not be installed; the tests that need it cannot run. {failure}")
            return


def _install_by_npm(modules: list[str]) -> None:
    npm = shutil.which("npm")
    if not modules or not npm:
        return
    NPM_FOLDER.mkdir(parents=True, exist_ok=True)
    command = [npm, "install", "--prefix", str(NPM_FOLDER), "--no-audit", "--no-fund", "--silent", *modules]
    if subprocess.run(command, timeout=NPM_SECONDS, check=False).returncode:
        print(f"npm could not install {', '.join(modules)}; the tests that need it cannot run.")


def _install_by_apt(names: list[str]) -> None:
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
    names = sys.argv[1:] or [*LIVE_THINGS, *BROWSER_THINGS]
    install(names)
    for name in names:
        print(f"{name}: {found(name) or 'missing; ' + THINGS[name].advice}")
    missing = [name for name in names if can_be_had(name) and not found(name)]
    return int(os.environ.get("CI") == "true" and bool(missing))


def _works(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


if __name__ == "__main__":
    sys.exit(main())
