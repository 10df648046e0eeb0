"""``redact``: no secret survives it, nothing else is touched (SRC-056 to SRC-061, D-14)."""

import base64
import re
import time
from urllib.parse import quote

import pytest

from apps.secrets.redaction import Numbering, find_all, may_apply, redact, report
from apps.secrets.rules import Confidence
from tests.secrets.corpus import HARMLESS
from tests.secrets.labelled import CHINESE, ENGLISH, RANDOM, STRONG
from tests.secrets.made import TOKENS, key_block, some
from tests.secrets.test_rules import MADE_TO_BE_SLOW

LABELLED = {**ENGLISH, **CHINESE}
TOKEN = TOKENS["github-token"]
PLACEHOLDER = re.compile(r"\[redacted: [a-z0-9-]+ [0-9]+\]")
SURVIVING = 8  # So many characters in a row of a secret are too many.


def bare(text: str) -> str:
    return "".join(one for one in text if one.isalnum())


def survives(secret: str, text: str, stretched: int = 1) -> bool:
    """Whether a telling part of the secret is still in the text, whatever signs were put between."""
    secret, text = bare(secret), bare(PLACEHOLDER.sub("", text))
    width = min(SURVIVING * stretched, len(secret))
    return any(secret[at : at + width] in text for at in range(len(secret) - width + 1))


def core(rule: str) -> str:
    """The secret part of a specimen of high confidence."""
    specimen = TOKENS[rule]
    match rule:
        case "url-password":
            return specimen.split(":")[2].split("@")[0]
        case "totp-seed":
            return specimen.rpartition("secret=")[2]
        case "chat-webhook":
            return specimen.rpartition("/")[2]
        case "aws-secret-key" | "azure-key":
            return specimen.partition("=")[2].strip()
        case "private-key":
            return specimen.split("\n")[4]
        case "telegram-token":
            return specimen.partition(":")[2]
    return specimen


@pytest.mark.parametrize("case", LABELLED)
@pytest.mark.parametrize("around", ["{}", "before\n\n{}\n\nafter", "- {}", "> {}", "1. {}\n2. next"])
def test_no_labelled_secret_survives(case: str, around: str) -> None:
    template, secret = LABELLED[case]
    text = around.format(template.format(secret)).replace("\n", "\n> " if around == "> {}" else "\n")

    redaction = redact(text)

    assert not survives(secret, redaction.text)
    assert "[redacted: " in redaction.text


def test_there_are_more_than_twenty_five_kinds_in_each_way_of_telling() -> None:
    assert len(TOKENS) >= 25 and len(LABELLED) >= 50 and len(CHINESE) >= 20


@pytest.mark.parametrize("rule", TOKENS)
@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "令牌：{}，别外传",
        "**{}**",
        "`{}`",
        "_{}_",
        "| name | {} |",
        "```\n{}\n```",
        "（{}）",
        '"{}"',
        "<b>{}</b>",
    ],
)
def test_no_token_survives_whatever_stands_around_it(rule: str, around: str) -> None:
    redaction = redact(around.format(TOKENS[rule]))

    assert not survives(core(rule), redaction.text)
    assert redaction.findings


def in_full_width(text: str) -> str:
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text)


SPLITTING = [rule for rule in TOKENS if rule not in ("private-key",)]


@pytest.mark.parametrize("rule", SPLITTING)
@pytest.mark.parametrize(
    "hidden",
    [
        lambda text: "\u200b".join(text),
        lambda text: text[:9] + "\u2060\u00ad" + text[9:],
        lambda text: text[:6] + "\u202e" + text[6:],
        in_full_width,
        lambda text: quote(text, safe=""),
        lambda text: quote(quote(text, safe=""), safe=""),
        lambda text: "".join(f"&#{ord(one)};" for one in text),
        lambda text: "".join(f"\\u{ord(one):04x}" for one in text),
        lambda text: text.replace("_", r"\_").replace("-", r"\-").replace(".", r"\."),
        lambda text: base64.b64encode(f"config:\n  value: {text}\n".encode()).decode(),
    ],
    ids=[
        "zero width",
        "joiners",
        "direction",
        "full width",
        "address",
        "twice",
        "entities",
        "JSON",
        "backslashes",
        "base64",
    ],
)
def test_no_disguise_carries_a_token_through(rule: str, hidden) -> None:
    disguised = hidden(TOKENS[rule])

    redaction = redact(f"note {disguised} end")

    assert disguised not in redaction.text
    assert not survives(hidden(core(rule)), redaction.text, stretched=len(bare(hidden("a"))))
    assert redaction.text.startswith("note ") and redaction.text.endswith(" end")


@pytest.mark.parametrize(
    "rule", ["github-token", "openai-key", "anthropic-key", "npm-token", "stripe-key", "gitlab-token"]
)
@pytest.mark.parametrize("break_", ["\n", "\r\n", "\\\n", "\n    ", "\n> ", '" +\n    "', '"\n"', '" + "'])
def test_a_token_broken_over_lines_is_gone_with_both_its_parts(rule: str, break_: str) -> None:
    token = TOKENS[rule]
    half = len(token) // 2

    redaction = redact(f'see "{token[:half]}{break_}{token[half:]}"\nand the next line stays')

    assert not survives(token, redaction.text)
    assert redaction.text.endswith("\nand the next line stays")


@pytest.mark.parametrize("skipped", [0, 1, 2, 3])
def test_a_key_block_in_base64_is_found_wherever_it_begins_and_however_it_is_wrapped(skipped: int) -> None:
    encoded = base64.b64encode(b"#" * skipped + key_block().encode()).decode()
    wrapped = "\n".join(encoded[at : at + 76] for at in range(0, len(encoded), 76))

    for text in (f"data: {encoded}", f"data: |\n{wrapped}\n", f"path/{encoded}"):
        assert not survives(encoded, redact(text).text)
        assert not may_apply(text).allowed


def test_a_key_block_in_a_table_or_quote_goes_whole() -> None:
    for line_end in ("\n", "\r\n", "\\n", "<br>", "\n> ", "\n    "):
        text = redact("| key | " + key_block(line_end=line_end) + " |").text
        assert not any(survives(line, text) for line in key_block().split("\n")[1:-1]), line_end


@pytest.mark.parametrize("name", HARMLESS)
def test_nothing_harmless_is_touched(name: str) -> None:
    assert redact(HARMLESS[name]).text == HARMLESS[name]


def test_all_that_is_harmless_in_one_text_is_not_touched_either() -> None:
    text = "\n\n".join(HARMLESS.values())

    assert redact(text).findings == []


def test_one_value_has_one_number_and_the_placeholder_says_which_kind() -> None:
    other = "ghp_" + some(36, seed=8)

    text = redact(f"a {TOKEN} b {other} c {TOKEN} d password: {STRONG}").text

    assert text == (
        "a [redacted: github-token 1] b [redacted: github-token 2] c [redacted: github-token 1]"
        " d password: [redacted: password 1]"
    )


def test_a_numbering_holds_over_several_texts_and_knows_a_broken_value_again() -> None:
    numbering = Numbering()
    redact(f"a {TOKEN}", numbering=numbering)

    assert redact(f"b {TOKEN[:20]}\n{TOKEN[20:]}", numbering=numbering).text == "b [redacted: github-token 1]"
    assert TOKEN not in repr(numbering)


@pytest.mark.parametrize(
    "text", [template.format(secret) for template, secret in LABELLED.values()] + list(TOKENS.values())
)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text).text

    assert redact(once).text == once


def test_a_text_keeps_everything_else() -> None:
    text = f"# Ops\r\n\r\n- 用户 bob\r\n- password: {STRONG}\r\n\r\n\ttail ｆｕｌｌ %41 &amp; \u200b end"

    assert redact(text).text == text.replace(STRONG, "[redacted: password 1]")


# Known values.

KNOWN = "correct horse battery"


@pytest.mark.parametrize(
    "shown",
    [
        KNOWN,
        KNOWN.replace(" ", "%20"),
        KNOWN.replace("horse", "ho\u200brse"),
        in_full_width(KNOWN).replace(" ", "\u3000"),
        base64.b64encode(f"x{KNOWN}yz".encode()).decode(),
        base64.b64encode(KNOWN.encode()).decode(),
    ],
)
def test_a_known_value_is_gone_however_it_is_written(shown: str) -> None:
    redaction = redact(f"say {shown} now", [KNOWN, ""])

    assert shown not in redaction.text
    assert {one.confidence for one in redaction.findings} == {Confidence.HIGH}


def test_a_short_known_value_is_one_only_as_a_word() -> None:
    assert redact("the code ab12c opens it, xab12cx does not", ["ab12c"]).text.count("[redacted: known-value 1]") == 1
    assert redact("a cat sat", ["cat", "a"]).text == "a cat sat"


# Reports and verdicts.


def test_a_report_locates_and_never_echoes() -> None:
    text = f"one\ntwo {TOKEN}\n密码：{STRONG}"

    told = report(f"notes/{TOKEN}.md", find_all(text))

    assert [(one["rule"], one["line"], one["column"], one["confidence"]) for one in told] == [
        ("github-token", 2, 5, "high"),
        ("password", 3, 4, "low"),
    ]
    everything = str(told) + repr(redact(text).findings)
    assert TOKEN not in everything and STRONG not in everything


@pytest.mark.parametrize("secret", [TOKEN, key_block(), KNOWN, base64.b64encode(key_block().encode()).decode()])
def test_a_certain_or_known_secret_blocks_applying(secret: str) -> None:
    verdict = may_apply(f"# Overview\n\nUse {secret}.", [KNOWN])

    assert (verdict.allowed, verdict.code) == (False, "SECRET_IN_OUTPUT")
    assert verdict.blocking and secret not in verdict.text


def test_a_candidate_only_warns_and_is_redacted() -> None:
    verdict = may_apply(f"# Overview\n\nThe password is {STRONG}.")

    assert (verdict.allowed, verdict.code, verdict.blocking) == (True, "", [])
    assert [one.rule for one in verdict.warnings] == ["password"]
    assert STRONG not in verdict.text


def test_what_was_redacted_may_be_applied() -> None:
    verdict = may_apply(redact(f"token {TOKEN}, password: {STRONG}, api key: {RANDOM}").text)

    assert verdict.allowed and not verdict.warnings


SLOW = {
    **MADE_TO_BE_SLOW,
    "labels": "password: " * 10_000,
    "labels in Chinese": "密码是" * 20_000,
    "labels with notes": "password (" * 10_000,
    "spaces": "password:" + " " * 100_000,
    "line ends": "a\n" * 50_000,
    "broken words": "aB3aB3aB3\n" * 10_000,
    "spaces before line ends": ("a" + " " * 80) * 1_200,
    "escapes": "%41" * 30_000,
    "entities": "&#65;" * 20_000,
    "backslashes": "\\_" * 50_000,
    "underscores": "_" * 100_000,
    "hidden": "\u200b" * 100_000,
    "base64": "QUJD" * 25_000,
    "base64 runs": ("QUJDQUJDQUJDQUJDQUJDQUJDQUJD ") * 3_500,
    "cookies": "Cookie: a=b; " * 8_000,
    "seeds of words": "mnemonic: abc " + "abc " * 25_000,
    "many mnemonics": "mnemonic: " * 10_000,
    "bars": "|" * 100_000,
    "rows": "| password | a |\n" * 6_000,
    "commas": "password,a\n" * 9_000,
    "curl": "curl " * 20_000,
    "variables": "export A=" * 10_000,
    "quotes": 'password="' * 10_000,
    "placeholders": "[redacted: password 1] " * 4_500,
    "passwords": f"password: {STRONG}\n" * 4_000,
}


@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW)
def test_a_text_made_to_be_slow_is_not(text: str) -> None:
    def seconds(part: str) -> float:
        began = time.process_time()
        redact(part)
        return time.process_time() - began

    assert seconds(text) < 2.0
