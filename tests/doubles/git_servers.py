"""Genuine Git servers for tests: nginx with Git's own HTTP backend, OpenSSH with git-shell, and Gitolite behind both.

``GitServers(folder)`` starts them, each on a free port of 127.0.0.1, and stops them at the end. Everything lies in the
folder. Where one of the programs is missing, the test that asks is skipped (``tests.outside``).
"""

import base64
import getpass
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.outside import GIT_SERVERS, needed

USER, TOKEN = "alice", "tok-alice-4f9c2e"
PASSPHRASE = "a pass phrase of the key"
START_SECONDS = 15.0

NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log; {user}
events {{ worker_connections 64; }}
http {{
  access_log {folder}/access.log; client_max_body_size 0; client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2;
  fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{
    listen 127.0.0.1:{https} ssl; server_name localhost;
    ssl_certificate {folder}/server.pem; ssl_certificate_key {folder}/server.key;
    location /git/ {{
      auth_basic "git"; auth_basic_user_file {folder}/htpasswd;
      fastcgi_pass unix:{folder}/cgi.sock; fastcgi_param SCRIPT_FILENAME {backend};
      fastcgi_param GIT_PROJECT_ROOT {folder}/git; fastcgi_param GIT_HTTP_EXPORT_ALL ""; {common}
      if ($uri ~ ^/git(/.*)$) {{ set $rest $1; }} fastcgi_param PATH_INFO $rest;
    }}
    location /gitolite/ {{
      auth_basic "git"; auth_basic_user_file {folder}/htpasswd;
      fastcgi_pass unix:{folder}/cgi.sock; fastcgi_param SCRIPT_FILENAME {gitolite};
      fastcgi_param GIT_PROJECT_ROOT {folder}/gitolite/repositories; fastcgi_param GIT_HTTP_EXPORT_ALL "";
      fastcgi_param GITOLITE_HTTP_HOME {folder}/gitolite; {common}
      if ($uri ~ ^/gitolite(/.*)$) {{ set $rest $1; }} fastcgi_param PATH_INFO $rest;
    }}
    location /forbidden/ {{ return 403; }}
    location /failing/ {{ return 503; }}
    location /page/ {{ default_type text/html; return 200 "<html>Please sign in.</html>"; }}
    location /moved/ {{ return 302 https://localhost:{https}/git/; }}
  }}
}}
"""
COMMON = """
      fastcgi_param REQUEST_METHOD $request_method; fastcgi_param QUERY_STRING $query_string;
      fastcgi_param CONTENT_TYPE $content_type; fastcgi_param CONTENT_LENGTH $content_length;
      fastcgi_param REMOTE_USER $remote_user; fastcgi_param REMOTE_ADDR $remote_addr;
      fastcgi_param REQUEST_URI $request_uri; fastcgi_param GIT_PROTOCOL $http_git_protocol;
      fastcgi_param SERVER_PROTOCOL $server_protocol; fastcgi_param HTTP_CONTENT_ENCODING $http_content_encoding;
      fastcgi_param HOME {folder}; fastcgi_param PATH {path}; fastcgi_param GIT_CONFIG_NOSYSTEM 1;
"""
SSHD = """
Port {ssh}
ListenAddress 127.0.0.1
HostKey {folder}/host_ed25519
HostKey {folder}/host_rsa
AuthorizedKeysFile {folder}/authorized_keys
PidFile {folder}/sshd.pid
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PermitUserEnvironment no
LogLevel ERROR
"""
GITOLITE = """
repo gitolite-admin
    RW+ = alice
repo memrelay/CREATOR/[a-z0-9][a-z0-9._-]*
    C   = alice
    RW+ = CREATOR
repo locked/..*
    R   = alice
"""


class GitServers:
    """What is where: ``https_url``, ``ssh_url``, ``authority`` (its certificate), ``key()`` and ``host_fingerprints``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.https, self.ssh = _free_port(), _free_port()
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "GitServers":
        for name in GIT_SERVERS:
            needed(name)
        for name in ("git", "gitolite", "t1", "t2", "t3", "t4", "t5"):
            (self.folder / name).mkdir(parents=True)
        self._write_certificates()
        digest = base64.b64encode(hashlib.sha1(TOKEN.encode()).digest()).decode()
        (self.folder / "htpasswd").write_text(f"{USER}:{{SHA}}{digest}\n")
        self._write_keys()
        try:
            self._set_gitolite_up()
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_details: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start what does not run; after ``stop`` it comes back at the same addresses."""
        self._begin("fcgiwrap", [needed("fcgiwrap"), "-c", "2", "-s", f"unix:{self.folder}/cgi.sock"])
        self._wait_for(lambda: (self.folder / "cgi.sock").exists())
        config = self.folder / "nginx.conf"
        common = COMMON.format(folder=self.folder, path=os.environ["PATH"])
        config.write_text(
            NGINX.format(
                folder=self.folder,
                https=self.https,
                backend=needed("git-http-backend"),
                gitolite=needed("gitolite"),
                common=common,
                user=f"user {getpass.getuser()};" if os.geteuid() == 0 else "",
            )
        )
        self._begin("nginx", [needed("nginx"), "-c", str(config), "-p", str(self.folder), "-e", f"{self.folder}/e.log"])
        (self.folder / "sshd_config").write_text(SSHD.format(folder=self.folder, ssh=self.ssh))
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)  # sshd does not start without its empty folder.
        self._begin("sshd", [needed("sshd"), "-D", "-e", "-f", str(self.folder / "sshd_config")])
        for port in (self.https, self.ssh):
            self._wait_for(lambda port=port: _answers(port))

    def stop(self) -> None:
        for process in self._running.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in self._running.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        self._running.clear()
        (self.folder / "cgi.sock").unlink(missing_ok=True)

    @property
    def authority(self) -> str:
        return (self.folder / "authority.pem").read_text()

    def https_url(self, path: str, *, place: str = "git") -> str:
        return f"https://localhost:{self.https}/{place}/{path}"

    def ssh_url(self, path: str) -> str:
        return f"ssh://{getpass.getuser()}@127.0.0.1:{self.ssh}{self.folder}/git/{path}"

    def gitolite_ssh_url(self, path: str) -> str:
        return f"ssh://{getpass.getuser()}@127.0.0.1:{self.ssh}/{path}"

    def key(self, name: str = "id_ed25519") -> str:
        """A private key. ``id_ed25519`` (with a passphrase), ``id_rsa`` and ``id_ecdsa`` open the plain repositories,
        ``id_gitolite`` opens Gitolite, ``id_stranger`` opens nothing."""
        return (self.folder / name).read_text()

    @property
    def host_fingerprints(self) -> dict[str, str]:
        found = {}
        for kind, name in (("ssh-ed25519", "host_ed25519"), ("ssh-rsa", "host_rsa")):
            told = _run(["ssh-keygen", "-lf", str(self.folder / f"{name}.pub")]).split()
            found[kind] = told[1]
        return found

    def create(self, name: str, *, read_only: bool = False) -> Path:
        """An empty bare repository, as a person makes one at a service."""
        path = self.folder / "git" / name
        self.git("init", "-q", "--bare", "-b", "main", str(path))
        self.git("config", "http.receivepack", "false" if read_only else "true", at=path)
        return path

    def git(self, *arguments: str, at: Path | None = None) -> str:
        """Genuine Git, as a person uses it on the server."""
        return _run(["git", *(["-C", str(at)] if at else []), *arguments], **self._clean())

    def push_as_somebody_else(self, path: Path, file: str = "foreign.md", text: str = "Not ours.\n") -> str:
        """A commit that MemRelay did not make, on top of what is there; answers its id."""
        clone = self.folder / f"clone-{os.urandom(4).hex()}"
        self.git("clone", "-q", str(path), str(clone))
        (clone / file).parent.mkdir(parents=True, exist_ok=True)
        (clone / file).write_text(text)
        self.git("add", "-A", at=clone)
        who = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
        self.git(*who, "commit", "-q", "-m", "A commit of somebody else", at=clone)
        self.git("push", "-q", "origin", "HEAD:main", at=clone)
        made = self.git("rev-parse", "HEAD", at=clone)
        shutil.rmtree(clone)
        return made

    def _write_certificates(self) -> None:
        authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        authority_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "The tests' own authority")])
        authority = _certificate(authority_name, authority_name, authority_key, authority_key, is_authority=True)
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
        server = _certificate(name, authority_name, key, authority_key, is_authority=False)
        (self.folder / "authority.pem").write_bytes(authority.public_bytes(Encoding.PEM))
        (self.folder / "server.pem").write_bytes(server.public_bytes(Encoding.PEM))
        (self.folder / "server.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))

    def _write_keys(self) -> None:
        opens_git, opens_nothing = ("id_ed25519", "id_rsa", "id_ecdsa"), ("id_stranger", "id_gitolite")
        for name in ("host_ed25519", "host_rsa", *opens_git, *opens_nothing):
            kind = name.rpartition("_")[2]
            kind = kind if kind in ("rsa", "ecdsa") else "ed25519"
            words = PASSPHRASE if name == "id_ed25519" else ""
            bits = ["-b", "2048"] if kind == "rsa" else []
            _run(["ssh-keygen", "-q", "-t", kind, *bits, "-N", words, "-C", name, "-f", str(self.folder / name)])
        command = f'env HOME={self.folder} GIT_CONFIG_NOSYSTEM=1 git-shell -c \\"$SSH_ORIGINAL_COMMAND\\"'
        lines = [f'restrict,command="{command}" {(self.folder / f"{name}.pub").read_text()}' for name in opens_git]
        (self.folder / "authorized_keys").write_text("".join(lines))

    def _set_gitolite_up(self) -> None:
        home = self.folder / "gitolite"
        (self.folder / "alice.pub").write_text((self.folder / "id_gitolite.pub").read_text())
        clean = self._clean(HOME=str(home), USER=getpass.getuser(), LOGNAME=getpass.getuser())
        _run(["gitolite", "setup", "-pk", str(self.folder / "alice.pub")], **clean)
        (home / ".gitolite" / "conf" / "gitolite.conf").write_text(GITOLITE)
        for step in (["compile"], ["trigger", "POST_COMPILE"]):
            _run(["gitolite", *step], **clean)
        (line,) = [
            line for line in (home / ".ssh" / "authorized_keys").read_text().splitlines() if line.startswith("command=")
        ]
        with (self.folder / "authorized_keys").open("a") as keys:
            keys.write(line.replace('command="', f'command="env HOME={home} ', 1) + "\n")

    def _clean(self, **more: str) -> dict[str, dict[str, str]]:
        base = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
        return {"env": {**base, **more}}

    def _begin(self, name: str, command: list[str]) -> None:
        if (running := self._running.get(name)) and running.poll() is None:
            return
        log = (self.folder / f"{name}.out").open("ab")
        self._running[name] = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=self.folder
        )
        log.close()

    def _wait_for(self, condition) -> None:
        end = time.monotonic() + START_SECONDS
        while not condition():
            dead = [name for name, process in self._running.items() if process.poll() is not None]
            if dead or time.monotonic() > end:
                told = "".join((self.folder / f"{name}.out").read_text() for name in dead)
                raise RuntimeError(f"The Git servers did not start: {dead or 'too slow'} {told}")
            time.sleep(0.05)


def _certificate(name, issuer, key, signing_key, *, is_authority):
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
    )
    if not is_authority:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    return builder.sign(signing_key, SHA256())


def _run(command: list[str], **options) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **options)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stdout} {done.stderr}")
    return done.stdout.strip()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _answers(port: int) -> bool:
    with socket.socket() as asking:
        asking.settimeout(1)
        return asking.connect_ex(("127.0.0.1", port)) == 0
