"""Addresses of remotes: GIT-014 and GIT-042."""

from pathlib import Path

import pytest

from apps.memory_git.remotes.addresses import PER_WORKSPACE, SINGLE, UnusableAddress, check_mode, parse


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("https://git.example.org/me/memory.git", "https://git.example.org/me/memory.git"),
        ("  HTTPS://Git.Example.org:443/me/memory.git/ ", "https://git.example.org/me/memory.git"),
        ("https://git.example.org:8443/{repo}.git", "https://git.example.org:8443/{repo}.git"),
        ("ssh://git@git.example.org:22/me/{repo}.git", "ssh://git@git.example.org/me/{repo}.git"),
        ("ssh://git@[2001:DB8::1]:2222/me/x", "ssh://git@[2001:db8::1]:2222/me/x"),
        ("git@git.example.org:me/memory.git", "git@git.example.org:me/memory.git"),
        ("git@git.example.org:/srv/memory.git", "ssh://git@git.example.org/srv/memory.git"),
        ("https://bücher.example/ä.git", "https://xn--bcher-kva.example/%C3%A4.git"),
    ],
)
def test_an_address_has_one_spelling_and_reads_as_the_same_again(typed, kept):
    assert str(parse(typed)) == kept
    assert str(parse(kept)) == kept


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "memory",
        "git.example.org/me/memory.git",
        "http://git.example.org/memory.git",
        "git://git.example.org/memory.git",
        "ext::sh -c id",
        "https://user:secret@git.example.org/memory.git",
        "https://token@git.example.org/memory.git",
        "ssh://git:secret@git.example.org/memory.git",
        "ssh://-oProxyCommand=id@git.example.org/x",
        "https://-evil.example.org/memory.git",
        "https://git.example.org/memory.git?token=secret",
        "https://git.example.org/memory.git#main",
        "https://git.example.org",
        "https://git.example.org//",
        "https://git.example.org/../memory.git",
        "https://git.example.org/a/%2e%2e/memory.git",
        "https://git.example.org/a%00b.git",
        "https://git.example.org/{name}.git",
        "https://git.example.org/{repo}/{repo}.git",
        "https://{repo}.example.org/x.git",
        "https://169.254.169.254/latest.git",
        "https://[fd00:ec2::254]/latest.git",
        "ssh://git@100.100.100.200/latest.git",
        "https://[::ffff:169.254.169.254]/latest.git",
        "https://2852039166/latest.git",
        "https://metadata.google.internal/x.git",
        "https://0.0.0.0/x.git",
        "git@git.example.org:-oProxyCommand",
        "file:///srv/git/memory.git",
        "/srv/git/memory.git",
        "https://git.example.org/a b.git",
        "https://git.example.org\\@evil.example/x.git",
    ],
)
def test_what_is_no_address_or_hides_something_is_refused_without_repeating_it(typed):
    with pytest.raises(UnusableAddress) as refused:
        parse(typed)
    assert "secret" not in str(refused.value)


def test_a_full_address_serves_a_single_repository_and_a_template_one_per_workspace():
    full, template = parse("https://git.example.org/m.git"), parse("https://git.example.org/{repo}.git")
    check_mode(full, SINGLE)
    check_mode(template, PER_WORKSPACE)
    for address, mode in ((full, PER_WORKSPACE), (template, SINGLE)):
        with pytest.raises(UnusableAddress):
            check_mode(address, mode)


def test_a_template_gets_the_name_and_nothing_else():
    template = parse("git@git.example.org:team/{repo}")
    assert str(template.named("relay-01J8")) == "git@git.example.org:team/relay-01J8"
    assert template.named("relay").origin == template.origin


@pytest.mark.parametrize("name", ["", "..", "a/b", "a..b", "-x", "a b", ".git", "a'b"])
def test_a_name_that_would_lead_elsewhere_is_refused(name):
    with pytest.raises(UnusableAddress):
        parse("https://git.example.org/{repo}.git").named(name)


def test_http_and_folders_are_taken_where_the_settings_say_so(tmp_path: Path):
    assert str(parse("http://git.lan/m.git", plain_http=True)) == "http://git.lan/m.git"
    (tmp_path / "git").mkdir()
    roots = (tmp_path / "git",)
    inside = f"file://{tmp_path}/git/{{repo}}.git"
    assert str(parse(inside, file_roots=roots)) == inside
    (tmp_path / "git" / "out").symlink_to(tmp_path)
    for outside in (f"file://{tmp_path}/m.git", f"file://{tmp_path}/git/out/m.git", "file://host/m.git"):
        with pytest.raises(UnusableAddress):
            parse(outside, file_roots=roots)
