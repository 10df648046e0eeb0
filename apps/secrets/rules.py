"""The shapes of secrets that can be told from anything else by looking at them.

Data, no behaviour: a rule is a name, the literal words one of which begins every match, a pattern and a
test of what it caught. A rule stands here only if it does not mistake prose, hashes, UUIDs, base64 or
placeholders for a secret, because a save that meets one is refused (D-14).

The pattern is tried only where one of its words was found, so that a text without any costs one pass. A
group in the pattern marks the secret inside the match; without one the whole match is the secret.
"""

import base64
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import unquote


class Confidence(StrEnum):
    HIGH = "high"  # Refused, and kept from model, index and Git.
    LOW = "low"  # Redacted with a warning.


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]
    is_real: Callable[[str], bool]
    confidence: Confidence = Confidence.HIGH


# ------------------------------------------------------------------------------------------ tests of a catch

STAND_IN = re.compile(
    r"([xX*#])\1{4,}|0{8,}|\.{3,}|example|your|placeholder|change-?me|redacted|dummy|insert|replace", re.IGNORECASE
)
RUN_WITHOUT_BREAK = re.compile(r"[A-Za-z0-9]{12,}")
CLASSES = tuple(re.compile(one) for one in (r"[a-z]", r"[A-Z]", r"[0-9]", r"[^A-Za-z0-9]"))
EVERYDAY_PASSWORD = re.compile(
    r"(?:my|the|db|user|super|some|new|old|test)?[-_]?"
    r"(?:pass|passwd|password|passphrase|pwd|pw|secret|token|key|admin|root|user|username|guest|postgres|mysql|redis"
    r"|rabbitmq|mongo|test|hunter|foo|bar|demo|dev|local|default|pa55w0rd|p4ssw0rd|pa\$\$w0rd|p@ssw0rd|p@ss|passw0rd)"
    r"[-_]?[0-9]{0,6}[!.@#?]{0,2}",
    re.IGNORECASE,
)


def classes_in(value: str) -> int:
    """How many of small letters, capitals, digits and other signs occur."""
    return sum(one.search(value) is not None for one in CLASSES)


def entropy(value: str) -> float:
    """Bits a character, by the value's own letter counts."""
    length = len(value)
    return -sum(n / length * math.log2(n / length) for n in map(value.count, set(value)))


def is_no_stand_in(value: str) -> bool:
    """Documentation writes ghp_xxxxxxxx, AKIA...EXAMPLE and your-token-here; those are no secrets."""
    return STAND_IN.search(value) is None


def is_random(value: str) -> bool:
    """Tells a token from an identifier or a slug with the same beginning.

    Words joined by dashes or underscores have no twelve letters and digits in a row that mix two classes.
    """
    longest = max(RUN_WITHOUT_BREAK.findall(value), key=len, default="")
    return classes_in(longest) >= 2 and is_no_stand_in(value)


def has_digit_and_letter(value: str) -> bool:
    return is_random(value) and re.search(r"[0-9]", value) is not None and re.search(r"[A-Za-z]", value) is not None


def is_access_key_of_aws(value: str) -> bool:
    return entropy(value) >= 2.5 and is_no_stand_in(value)


def is_secret_key_of_aws(value: str) -> bool:
    """Forty characters that are hexadecimal only are a commit, not a key."""
    return classes_in(value) >= 3 and entropy(value) >= 3.5 and is_no_stand_in(value)


def is_strong_password(value: str) -> bool:
    """Nobody's password is postgres, and nothing is lost when that one is written down."""
    value = unquote(value)
    if EVERYDAY_PASSWORD.fullmatch(value) or STAND_IN.search(value) or entropy(value) < 2.5:
        return False
    return classes_in(value) >= 3 or (classes_in(value) == 2 and len(value) >= 10 and entropy(value) >= 3.0)


def is_signed_token(value: str) -> bool:
    """A JWT with a real header that someone signed; not the specimen everybody shows, nor a public key by design."""
    header, payload, _signature = value.split(".")
    head, claims = _object_in(header), _object_in(payload)
    if not head or claims is None or str(head.get("alg", "none")).lower() == "none":
        return False
    return claims.get("name") != "John Doe" and claims.get("role") != "anon"


def _object_in(part: str) -> dict[str, Any] | None:
    try:
        parsed = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None


def always(_value: str) -> bool:
    return True


# ------------------------------------------------------------------------------------------------ the rules

# A token ends where another kind of character begins. It may follow an escape that a program wrote (\n, %20).
BEGIN = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=%[0-9A-F]{2}))"
END = r"(?![A-Za-z0-9_-])"
KEY_LINE = r"(?:\\r)?(?:\r?\n|\\n)[ \t>|\"'+]*[A-Za-z0-9+/=]"


def _token(
    name: str, words: str, shape: str, is_real: Callable[[str], bool] = is_no_stand_in, *, end: str = END
) -> Rule:
    """A token that begins with one of the words, then has the shape."""
    beginnings = tuple(words.split())
    either = "|".join(map(re.escape, beginnings))
    return Rule(name, beginnings, re.compile(f"{BEGIN}(?:{either}){shape}{end}", re.ASCII), is_real)


def _phrase(name: str, words: tuple[str, ...], pattern: str, is_real: Callable[[str], bool] = is_no_stand_in) -> Rule:
    return Rule(name, words, re.compile(pattern, re.ASCII), is_real)


RULES: tuple[Rule, ...] = (
    # MemRelay's own.
    _token("memrelay-token", "mrl_", r"[A-Za-z0-9_-]{20,}", is_random),
    # Clouds.
    _token("aws-access-key", "AKIA ASIA", r"[A-Z2-7]{16}", is_access_key_of_aws),
    _phrase(
        "aws-secret-key",
        (
            "SECRET_ACCESS_KEY",
            "secret_access_key",
            "SecretAccessKey",
            "secretAccessKey",
            "Secret Access Key",
            "Secret access key",
            "secret access key",
        ),
        r"(?i:secret[_ ]?access[_ ]?key)[\"'`*]*\s*(?:=>|=|:|：|\bis\b|是|为)\s*[\"'`]?"
        r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        is_secret_key_of_aws,
    ),
    _token("aliyun-access-key", "LTAI", r"[A-Za-z0-9]{12,24}", has_digit_and_letter),
    _token("tencent-access-key", "AKID", r"[A-Za-z0-9]{32}", has_digit_and_letter),
    _token("google-api-key", "AIza", r"[A-Za-z0-9_-]{35}"),
    _token("google-oauth-secret", "GOCSPX-", r"[A-Za-z0-9_-]{28}"),
    _token("google-oauth-token", "ya29.", r"[A-Za-z0-9_-]{40,}", has_digit_and_letter),
    _phrase("azure-key", ("AccountKey=", "SharedAccessKey="), r"\w+=([A-Za-z0-9+/]{43,86}={1,2})(?![A-Za-z0-9+/=])"),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{64}"),
    _token("databricks-token", "dapi", r"[a-f0-9]{32}(?:-\d)?", has_digit_and_letter),
    _token("tailscale-key", "tskey-", r"[a-z]{3,10}-[A-Za-z0-9]{6,}-[A-Za-z0-9]{16,}", has_digit_and_letter),
    _token("vault-token", "hvs. hvb.", r"[A-Za-z0-9_-]{24,}", has_digit_and_letter),
    _token("supabase-token", "sbp_ sb_secret_", r"[A-Za-z0-9_-]{30,}", has_digit_and_letter),
    # Where code lives and packages are published.
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{36,}", end=""),
    _token("github-token", "github_pat_", r"[A-Za-z0-9_]{60,}", end=""),
    _token(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glft- glcbt- glsoat- gloas-",
        r"[A-Za-z0-9_.-]{20,300}",
        is_random,
        end="",
    ),
    _token("atlassian-token", "ATATT3 ATCTT3", r"[A-Za-z0-9_=-]{100,}", end=""),
    _token("npm-token", "npm_", r"[A-Za-z0-9]{36}"),
    _token("pypi-token", "pypi-AgE", r"[A-Za-z0-9_-]{50,}"),
    _token("rubygems-key", "rubygems_", r"[a-f0-9]{48}"),
    _token("docker-token", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_-]{27,}", is_random),
    # Models.
    _token("anthropic-key", "sk-ant-", r"[A-Za-z0-9_-]{32,}"),
    _token("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[A-Za-z0-9_-]{32,}", is_random),
    _token("openrouter-key", "sk-or-v1-", r"[a-f0-9]{64}"),
    _token("langsmith-key", "lsv2_pt_ lsv2_sk_", r"[a-f0-9]{32}_[a-f0-9]{10}"),
    # OpenAI of old, DeepSeek, Moonshot, DashScope, SiliconFlow and whoever else copied the beginning.
    _token("model-key", "sk-", r"[A-Za-z0-9]{32,}", has_digit_and_letter),
    _token("huggingface-token", "hf_ api_org_", r"[A-Za-z0-9]{34}", is_random),
    _token("groq-key", "gsk_", r"[A-Za-z0-9]{52}"),
    _token("xai-key", "xai-", r"[A-Za-z0-9]{80}"),
    _token("perplexity-key", "pplx-", r"[A-Za-z0-9]{48}"),
    _token("replicate-token", "r8_", r"[A-Za-z0-9]{37}"),
    _token("nvidia-key", "nvapi-", r"[A-Za-z0-9_-]{60,}"),
    _token("tavily-key", "tvly-", r"(?:dev-|prod-)?[A-Za-z0-9]{32,}"),
    # People and money.
    _token(
        "slack-token", "xoxa- xoxb- xoxc- xoxo- xoxp- xoxr- xoxs-", r"(?=[A-Za-z0-9-]*\d{8})[A-Za-z0-9-]{20,}", end=""
    ),
    _token("slack-token", "xoxe- xoxe.xoxb- xoxe.xoxp-", r"\d-[A-Za-z0-9]{60,}", end=""),
    _token("slack-token", "xapp-", r"\d-[A-Z0-9]{8,}-\d{8,}-[a-f0-9]{32,}", end=""),
    _phrase(
        "chat-webhook",
        (
            "hooks.slack.com/",
            "discord.com/api/webhooks/",
            "discordapp.com/api/webhooks/",
            "oapi.dingtalk.com/robot/send?",
            "open.feishu.cn/open-apis/bot/",
            "open.larksuite.com/open-apis/bot/",
            "qyapi.weixin.qq.com/cgi-bin/webhook/send?",
        ),
        r"[^\s?]{10,60}?(?:/services/T\w{6,}/B\w{6,}/|/workflows/|/triggers/|webhooks/\d{15,}/|\?access_token=|/hook/|\?key=)"
        r"([A-Za-z0-9_/-]{20,})",
        has_digit_and_letter,
    ),
    _token("stripe-key", "sk_live_ rk_live_", r"[A-Za-z0-9]{16,}"),
    _token("webhook-secret", "whsec_", r"[A-Za-z0-9+/]{32,}={0,2}", is_random),
    _token("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}"),
    _token("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[a-fA-F0-9]{32}"),
    _token("square-token", "sq0atp- sq0csp-", r"[A-Za-z0-9_-]{22,43}", is_random),
    _token("linear-key", "lin_api_", r"[A-Za-z0-9]{40}"),
    _token("notion-token", "ntn_", r"[0-9]{11}[A-Za-z0-9]{35}"),
    _token("postman-key", "PMAK-", r"[a-f0-9]{24}-[a-f0-9]{34}"),
    _token("grafana-token", "glsa_", r"[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    _token("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_-]{60,}", end=""),
    _phrase("telegram-token", (":AA",), rf"(?<=\d{{8}}):(AA[A-Za-z0-9_-]{{33}}){END}"),
    # What every system uses.
    _phrase(
        "private-key",
        ("-----BEGIN ",),
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        rf"[^\x00]{{0,300}}?{KEY_LINE}{{40,}}(?:{KEY_LINE}+)*"
        r"(?:(?:\\r)?(?:\r?\n|\\n)[ \t>|\"'+]*-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----)?",
        always,
    ),
    _phrase(
        "private-key",
        ("Private-Lines: ",),  # PuTTY
        rf"Private-Lines: \d+{KEY_LINE}{{40,}}(?:{KEY_LINE}+)*",
        always,
    ),
    _token("private-key", "AGE-SECRET-KEY-1", r"[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    _token("jwt", "eyJ", r"[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}", is_signed_token),
    _phrase(
        "totp-seed", ("otpauth://",), r"otpauth://[th]otp/[^\s?]*\?(?:[^\s&?]{0,200}&){0,8}?secret=([A-Za-z2-7]{16,}=*)"
    ),
    _phrase(
        "url-password",
        ("://",),
        r"://[^\s:/@\"'`<>{}$|\\]{0,64}:([^\s:/@\"'`<>{}$|\\]{6,128})@[A-Za-z0-9\[]",
        is_strong_password,
    ),
)
