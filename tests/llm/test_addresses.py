import pytest

from apps.llm.addresses import UnusableAddress, is_loopback, normalised, origin_of


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("https://Models.Example.org/v1/", "https://models.example.org/v1"),
        ("  https://models.example.org:443/v1//  ", "https://models.example.org/v1"),
        ("https://models.example.org/v1/chat/completions", "https://models.example.org/v1"),
        ("https://models.example.org/v1/responses/", "https://models.example.org/v1"),
        ("https://models.example.org/team//v1/models", "https://models.example.org/team/v1"),
        ("https://models.example.org", "https://models.example.org"),
        ("https://models.example.org.:8443/v1", "https://models.example.org:8443/v1"),
        ("https://模型.example.org/v1", "https://xn--xgs754b.example.org/v1"),
        ("http://localhost:11434/v1", "http://localhost:11434/v1"),
        ("http://127.0.0.1:80/v1", "http://127.0.0.1/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("http://192.168.1.20:1234/v1", "http://192.168.1.20:1234/v1"),
        ("http://ollama:11434/v1", "http://ollama:11434/v1"),
        ("http://gateway.lan/v1", "http://gateway.lan/v1"),
    ],
)
def test_an_address_has_one_spelling(typed, kept):
    assert normalised(typed) == kept
    assert normalised(kept) == kept


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "models.example.org/v1",
        "ftp://models.example.org",
        "file:///etc/passwd",
        "https://",
        "https://user:secret@models.example.org/v1",
        "https://models.example.org/v1?key=secret",
        "https://models.example.org/v1#x",
        "https://models.example.org/v 1",
        "https://models.example.org\\@other.example.org/v1",
        "https://models.example.org:99999/v1",
        "https://models.example.org\n/v1",
        "https://[::1/v1",
        "https://a..b/v1",
        "http://models.example.org/v1",  # Not encrypted, and anywhere.
        "http://8.8.8.8/v1",
        "http://169.254.169.254/latest",
        "https://169.254.169.254/v1",
        "https://[fd00:ec2::254]/v1",
        "http://100.100.100.200/v1",
        "https://[fe80::1]/v1",
        "https://[::ffff:169.254.169.254]/v1",
        "https://metadata.google.internal/v1",
        "http://0.0.0.0/v1",
        "http://2852039166/v1",
        "http://0xa9fea9fe/v1",
        "http://127.1/v1",
        "http://0251.0376.0251.0376/v1",
        "https://224.0.0.1/v1",
        "https://" + "a" * 600 + ".example.org",
    ],
)
def test_an_address_that_cannot_be_meant_is_refused_with_a_sentence(typed):
    with pytest.raises(UnusableAddress) as failure:
        normalised(typed)
    assert str(failure.value).endswith(".") and "secret" not in str(failure.value)


def test_plain_http_anywhere_is_a_setting():
    assert normalised("http://models.example.org/v1", plain_http_anywhere=True) == "http://models.example.org/v1"
    with pytest.raises(UnusableAddress):
        normalised("http://169.254.169.254/v1", plain_http_anywhere=True)


def test_the_origin_is_who_gets_the_token():
    assert origin_of("https://a.example.org/v1") == origin_of("https://a.example.org/v2")
    assert origin_of("https://a.example.org/v1") != origin_of("https://a.example.org:8443/v1")
    assert (
        is_loopback("http://127.0.0.1:1/v1") and is_loopback("http://[::1]/v1") and is_loopback("http://localhost/v1")
    )
    assert not is_loopback("http://192.168.1.1/v1")
