"""Pure rules, in tables: what each catches, and what none of them may take for a secret."""

import base64
import random
import string
import time
import uuid

import pytest

from apps.secrets.rules import RULES
from apps.secrets.scanning import scan
from tests.secrets.made import BASE32, HEX, TOKENS, URL_SAFE, jwt, key_block, part_of_jwt, some

UUID = str(uuid.UUID(int=random.Random(5).getrandbits(128)))
PGP_BLOCK = (
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n"
    f"{some(64)}\n{some(64)}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----"
)
PUTTY_FILE = (
    f"PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPublic-Lines: 1\n{some(64)}\nPrivate-Lines: 1\n{some(44)}\n"
)
MADE_TO_BE_SLOW = {
    "links": "://" * 30_000,
    "tokens": "eyJ." * 30_000,
    "key blocks": "-----BEGIN PRIVATE KEY-----\n" * 3_000,
    "quotes": "-----BEGIN PRIVATE KEY-----\n" + "+" * 100_000,
    "keys": "sk-a" * 30_000,
    "digits": "xoxb-1" * 20_000,
    "one long token": "xoxb-" + "a1-" * 40_000,
    "dotted tokens": "glpat-a.a" * 20_000,
    "arguments": "otpauth://totp/?" + "a=b&" * 30_000,
    "seeds": "otpauth://totp/?a=b&" * 10_000,
    "files": "Private-Lines: 1\naaaa\n" * 9_000,
}


def rules_that_fire(text: str) -> list[str]:
    return [finding.rule for finding in scan(text)]


def test_every_rule_has_a_specimen():
    assert {rule.name for rule in RULES} == set(TOKENS)


@pytest.mark.parametrize("rule", TOKENS)
@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "the value is {}.",
        "密钥{}，别告诉别人",
        "`{}`",
        '{{"token": "{}"}}',
        "KEY={}\nNEXT=1",
        "> {}",
        "- **token:** {}\n",
        "({})",
    ],
)
def test_a_secret_is_found_whatever_stands_around_it(rule, around):
    assert rules_that_fire(around.format(TOKENS[rule])) == [rule]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("github-token", "gho_" + some(36)),
        ("github-token", "ghs_" + some(36)),
        ("github-token", "github_pat_" + some(22) + "_" + some(59)),
        ("url-password", "https://x-access-token:" + "ghp_" + some(36) + "@github.com/a/b.git"),
        ("github-token", r"a line\n" + "ghp_" + some(36)),
        ("github-token", "q=%20" + "ghp_" + some(36)),
        ("aws-access-key", "ASIA" + some(16, BASE32)),
        ("aws-secret-key", '"SecretAccessKey": "' + some(40, string.ascii_letters + string.digits + "/+") + '"'),
        ("gitlab-token", "gldt-" + some(20)),
        ("openai-key", "sk-svcacct-" + some(80, URL_SAFE)),
        ("model-key", "sk-" + some(48)),
        ("slack-token", "xoxp-" + "-".join(some(12, string.digits, seed=n) for n in range(3)) + "-" + some(32, HEX)),
        ("slack-token", "xapp-1-" + "A0" + some(9, BASE32) + "-" + some(13, string.digits) + "-" + some(64, HEX)),
        ("slack-token", "xoxe.xoxp-1-" + some(160)),
        ("stripe-key", "rk_live_" + some(24)),
        ("chat-webhook", "https://oapi.dingtalk.com/robot/send?access_token=" + some(64, HEX)),
        ("chat-webhook", "https://open.feishu.cn/open-apis/bot/v2/hook/" + UUID),
        ("chat-webhook", "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=" + UUID),
        ("chat-webhook", "https://discord.com/api/webhooks/" + some(19, string.digits) + "/" + some(68)),
        ("azure-key", "Endpoint=sb://x/;SharedAccessKey=" + some(43) + "="),
        ("private-key", key_block("OPENSSH ")),
        ("private-key", key_block("EC ", line_end="\r\n")),
        ("private-key", key_block("", line_end="\\n")),
        ("private-key", key_block(indent="    ")),
        ("private-key", key_block(indent="> ")),
        ("private-key", key_block()[:400]),
        ("private-key", "AGE-SECRET-KEY-1" + some(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")),
        ("private-key", PGP_BLOCK),
        ("private-key", PUTTY_FILE),
        ("url-password", "redis://:" + some(20) + "@cache:6379/0"),
        ("url-password", "https://deploy:" + "Tr0ub4dor" + "&3@git.internal/x.git"),
        ("url-password", "mongodb+srv://svc:" + some(16) + "@cluster0.mongodb.net"),
    ],
)
def test_the_other_forms_of_a_secret_are_found_too(rule, text):
    assert rule in rules_that_fire(text)


HARMLESS = [
    "commit 3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376 fixed it",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "sha512-" + base64.b64encode(bytes(range(64))).decode(),
    f"job {UUID} is done",
    "![](data:image/png;base64," + base64.b64encode(random.Random(2).randbytes(3000)).decode() + ")",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "export GITHUB_TOKEN=ghp_" + "X" * 36,
    "glpat-xxxxxxxxxxxxxxxxxxxx and glpat-your-token-goes-right-here",
    "sk-xxxx, sk-..., sk-<token>, sk-ant-api03-your-key-here-and-nothing-but-your-key",
    "OPENAI_API_KEY=sk-your-openai-api-key-goes-here-1234567890",
    "sk-proj-replace-me-with-the-real-one-please-thank-you",
    "sk-estimator-doc-link-fitted-and-2-more-classes-of-sklearn",
    "AKIA" + "IOSFODNN7" + "EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
    "aws_secret_access_key = 3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376",
    "aws_secret_access_key = <your secret access key, forty characters of it>",
    "AKIAXXXXXXXXXXXXXXXX",
    "xoxb-your-slack-bot-token-goes-here",
    "https://hooks.slack.com/services/T00000000/B00000000/" + "X" * 24,
    "https://hooks.slack.com/services/ is where webhooks live",
    "mrl_xxxxxxxxxxxxxxxxxxxxxxxxxxxx; the prefix is mrl_",
    "mrl_token_is_checked_before_the_body_is_read_2",
    "hf_hub_download_retries_and_other_names_here",
    "npm_config_registry_and_npm_lifecycle_event",
    "-----BEGIN PRIVATE KEY----- begins a key, and 3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376 is a commit",
    "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN CERTIFICATE-----\n" + some(64) + "\n-----END CERTIFICATE-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + some(43) + " alice@laptop",
    "a JWT looks like eyJhbGciOi....eyJzdWIiOi....signature",
    jwt({"sub": "1234567890", "name": "John Doe", "iat": 1516239022}),
    jwt({"role": "anon", "iss": "supabase"}),
    jwt({"sub": "42"}, algorithm="none"),
    "eyJ" + some(20) + ".eyJ" + some(20) + "." + some(43) + " only looks like one",
    f"{part_of_jwt({'alg': 'HS256', 'typ': 'JWT'})} alone",
    "postgres://user:password@localhost:5432/app",
    "postgres://memrelay:memrelay@db/memrelay and mysql://root:root123@127.0.0.1/x",
    "postgres://${DB_USER}:${DB_PASSWORD}@${DB_HOST}/app",
    "https://user:<password>@example.com and https://user:your-Password1@example.com",
    "https://user:a%20secret@example.com",
    "http://127.0.0.1:8765/mcp and ssh://git@host:2222/a/b.git, write to alice@example.com",
    "https://a.example/x?y=http://b:8080/c@d",
    "otpauth://totp/Example:alice?secret=xxxxxxxxxxxxxxxx&issuer=Example",
    "password: hunter2 and 密码：correct-Horse-9 are of low confidence",
    "The pass keys api-token-rotation and token_bucket_limiter_v2 are names.",
    "12:AAB, ratio 16:AA and 10000000:AAAA",
    "shpat_test_fixture_names and lin_api_client and r8_gemm_kernel",
    "SG.1.2 and SG.abc.def, ntn_page, gsk_transform, xai-report",
    "记忆系统保存中文内容：今天讨论了令牌轮换方案，结论见 docs/令牌.md。",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_nothing_harmless_is_taken_for_a_secret(text):
    assert rules_that_fire(text) == []


def test_random_base64_is_no_secret_even_in_bulk():
    assert rules_that_fire(base64.b64encode(random.Random(3).randbytes(1_000_000)).decode()) == []


def test_a_finding_covers_the_secret_and_not_what_stands_around_it():
    password = some(14)
    text = f"see https://deploy:{password}@git.internal/x for more"

    [finding] = scan(text)

    assert text[finding.start : finding.end] == password


def test_a_key_block_is_covered_to_its_last_line():
    block = key_block()

    [finding] = scan(f"before\n{block}\nafter")

    assert f"before\n{block}\nafter"[finding.start : finding.end] == block


def test_lines_and_columns_count_from_one():
    [finding] = scan("first\r\n中文\n  ghp_" + some(36) + "\n")

    assert (finding.line, finding.column) == (3, 3)


def test_two_secrets_on_one_line_are_two_findings_in_their_order():
    assert rules_that_fire(f"{TOKENS['stripe-key']} {TOKENS['github-token']}") == ["stripe-key", "github-token"]


@pytest.mark.parametrize("text", MADE_TO_BE_SLOW.values(), ids=MADE_TO_BE_SLOW)
def test_a_text_made_to_be_slow_is_not(text):
    began = time.process_time()
    scan(text)
    assert time.process_time() - began < 1.0


def test_a_kilobyte_without_a_secret_costs_less_than_a_tenth_of_a_millisecond():
    text = ("The quick brown fox jumps, see https://github.com/a/b and the ssh keys. 记忆系统会保存。 " * 12)[:1024]
    times = []
    for _ in range(300):
        began = time.perf_counter()
        scan(text)
        times.append(time.perf_counter() - began)
    assert min(times) < 0.0001
