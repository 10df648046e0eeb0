"""One repository, many spellings, no secrets (MEM-034, MEM-043, GIT-038)."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.workspaces.remotes import InvalidRemote, display_remote, normalise_remote, same_remote_key


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/Owner/Repo",
        "https://user:tok@GitHub.com/Owner/Repo.git/",
        "https://ghp_secret@github.com:443/Owner//Repo.git",
        "http://github.com:80/Owner/Repo/?tab=readme#top",
        "git@github.com:Owner/Repo.git",
        "github.com:Owner/Repo",
        "git@github.com:/Owner/Repo.git/",
        "ssh://git@github.com:22/Owner/Repo",
        "ssh://git@ssh.github.com:443/Owner/Repo.git",
        "git+ssh://git@github.com/Owner/Repo.git",
        "ssh+git://git:pw@github.com./Owner/./Repo.git",
        "git://github.com:9418/Owner/Repo.git",
        "git+https://www.github.com/Owner/Repo.git",
        "GIT://GITHUB.COM/Owner/%52epo",
        "github.com/Owner/Repo",
        "token@github.com/Owner/Repo.git",
        "  https://github.com/Owner/Repo.git\n",
        "[git@github.com:22]:Owner/Repo.git",
        "https://github.com/Owner/Group/../Repo/.git",
    ],
)
def test_every_spelling_of_one_remote_is_one_address(url: str) -> None:
    assert normalise_remote(url) == "github.com/Owner/Repo"
    assert same_remote_key(url) == "github.com/owner/repo"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("ssh://git@git.example.com:2222/Team/x.git", "git.example.com:2222/Team/x"),
        ("[git@git.example.com:2222]:Team/x.git", "git.example.com:2222/Team/x"),
        ("https://git.example.com:8443/x", "git.example.com:8443/x"),
        ("git@host.net:~/x.git", "host.net/x"),
        ("ssh://git@host.net/~/x.git", "host.net/x"),
        ("git@github.com:123/x", "github.com/123/x"),
        ("https://git.sr.ht/~user/x", "git.sr.ht/~user/x"),
        ("git@[::1]:x/y", "[::1]/x/y"),
        ("ssh://[2001:DB8:0::1]:22/x", "[2001:db8::1]/x"),
        ("https://bücher.example/x", "xn--bcher-kva.example/x"),
        ("https://a.host/a%20b/%E5%9B%A2%E9%98%9F.git", "a.host/a b/团队"),
        ("https://a.host/100%25/a%2Fb", "a.host/100%25/a%2Fb"),
        ("https://a.host/%zz/%ff", "a.host/%25zz/%25ff"),
        ("git@ssh.dev.azure.com:v3/Org/Proj/Repo", "dev.azure.com/Org/Proj/_git/Repo"),
        ("https://Org@dev.azure.com/Org/Proj/_git/Repo", "dev.azure.com/Org/Proj/_git/Repo"),
        ("/srv/git/Repo.git", "file:///srv/git/Repo"),
        ("/srv//git/./Repo/.git", "file:///srv/git/Repo"),
        ("file:///srv/git/Repo.git", "file:///srv/git/Repo"),
        ("file://localhost/srv/git/Repo", "file:///srv/git/Repo"),
        ("/srv/100%/a b", "file:///srv/100%25/a b"),
        ("C:\\Repos\\X.git", "file:///c:/Repos/X"),
        ("c:/Repos/X", "file:///c:/Repos/X"),
        ("file:///C:/Repos/X.git/", "file:///c:/Repos/X"),
        ("\\\\Server\\Share\\X", "file://server/Share/X"),
        ("file://server/Share/X.git", "file://server/Share/X"),
    ],
)
def test_what_tells_repositories_apart_is_kept(url: str, expected: str) -> None:
    assert normalise_remote(url) == expected
    assert normalise_remote(expected) == expected


def test_case_of_the_path_counts_unless_the_host_ignores_it() -> None:
    for host in ("github.com", "gitlab.com", "gitee.com", "bitbucket.org"):
        assert same_remote_key(f"git@{host}:A/B") == same_remote_key(f"https://{host}/a/b.git")
    assert same_remote_key("git@git.example.com:A/B") != same_remote_key("git@git.example.com:a/b")
    assert same_remote_key("C:\\Repos\\X") == same_remote_key("file:///c:/repos/x")
    assert same_remote_key("/srv/X") != same_remote_key("/srv/x")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:s3cret@github.com/o/r.git", "https://github.com/o/r.git"),
        ("https://s3cret@github.com/o/r.git", "https://github.com/o/r.git"),
        ("https://a@b:s3cret@github.com/o/r", "https://github.com/o/r"),
        ("https://github.com/o/r?access_token=s3cret", "https://github.com/o/r"),
        ("https://github.com/o/r#s3cret", "https://github.com/o/r"),
        ("https://user:s3%2Fcret@github.com/o/r", "https://github.com/o/r"),
        ("ssh://git:s3cret@host:2222/o/r", "ssh://git@host:2222/o/r"),
        ("git@github.com:o/r.git", "git@github.com:o/r.git"),
        ("s3cret@github.com/o/r", "github.com/o/r"),
        ("user:s3cret@github.com/o/r", "github.com/o/r"),
        ("user:s3cret@github.com:o/r", None),
        ("https://user:12/s3cret@github.com/o/r", None),
        ("https://user:p/s3cret@github.com/o/r", None),
        ("file://user:s3cret@host/x", None),
        ("/srv/git/r.git", "/srv/git/r.git"),
        ("C:\\Repos\\r", "C:\\Repos\\r"),
    ],
)
def test_no_secret_is_ever_shown_kept_or_told_in_an_error(url: str, shown: str | None) -> None:
    if shown is None:
        with pytest.raises(InvalidRemote) as refused:
            display_remote(url)
        assert "s3cret" not in str(refused.value)
        return
    assert display_remote(url) == shown
    assert "s3cret" not in display_remote(url) + normalise_remote(url)
    assert normalise_remote(display_remote(url)) == normalise_remote(url)
    assert display_remote(shown) == shown


@pytest.mark.parametrize(
    "url",
    [
        "", "   ", "repo", "owner/repo", "../repo", "./repo", "~/repo", ".", "/", "C:\\", "https://",
        "https://github.com", "https://github.com/", "https://github.com/.git", "https:///o/r", "git@:o/r",
        "git@github.com:", "ext::sh -c evil",
        "javascript://x/y", "mailto:a@b", "--upload-pack=evil", "https://host:99999/x", "https://host:0/x",
        "https://ho st/x",
        "https://host/../x", "https://-host/x", "https://[::zz]/x", "git@github.com:o/r\n--evil", "https://host/a%00b",
        "https://host/a%0ab", "https://github.com\\@evil.com/x", "x" * 3000, "https://a..b/x", "C:foo", "\ud800:x",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(url: str) -> None:
    for reading in (normalise_remote, same_remote_key, display_remote):
        with pytest.raises(InvalidRemote):
            reading(url)


_PIECES = [
    "https://",
    "ssh://",
    "file://",
    "git@",
    "host",
    "github.com",
    ":",
    "/",
    "\\",
    "@",
    "%",
    "%2F",
    "%41",
    "?",
    "#",
    ".git",
]
_PIECES += ["..", ".", "~", "[", "]", "::1", "22", "C:", " ", "é", "e\u0301", "Ａ", "tok", "\x00", "-"]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=10).map("".join) | st.text(max_size=20))
def test_any_text_is_an_address_or_refused_and_normalising_twice_is_once(url: str) -> None:
    try:
        canonical = normalise_remote(url)
    except InvalidRemote:
        return
    assert normalise_remote(display_remote(url)) == canonical
    if "." in canonical.split("/")[0] or canonical.startswith("file:"):
        assert normalise_remote(canonical) == canonical
        assert same_remote_key(canonical) == same_remote_key(url)


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(categories=["L", "N", "P"]), min_size=8, max_size=20))
def test_no_password_survives_whatever_it_is_made_of(secret: str) -> None:
    for url in (
        f"https://me:{secret}@example.com/o/r",
        f"ssh://git:{secret}@example.com/o/r",
        f"https://{secret}@example.com/o/r",
    ):
        try:
            told = display_remote(url) + normalise_remote(url) + same_remote_key(url)
        except InvalidRemote as refused:
            told = str(refused)
        assert secret not in told


def test_long_hostile_addresses_are_read_in_linear_time() -> None:
    started = time.process_time()
    for url in (
        "a" * 2000,
        "a@" * 1000,
        "a:" * 1000,
        "a." * 1000,
        "[" * 2000,
        "/" * 2000,
        "https://" + "@" * 1900,
        "%" * 2000,
    ):
        try:
            normalise_remote(url)
        except InvalidRemote:
            continue
    assert time.process_time() - started < 0.5
