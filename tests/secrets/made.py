"""Secrets made at run time: no file of the project holds one, so that no scanner trips over the tests."""

import base64
import json
import random
import string

LETTERS = string.ascii_letters
WORD = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
BASE32 = string.ascii_uppercase + "234567"
URL_SAFE = WORD + "-_"


def some(length: int, alphabet: str = WORD, seed: int = 7) -> str:
    """The same random characters each time, with a small letter, a capital and a digit where the alphabet has them."""
    dice = random.Random(f"{seed}/{length}/{alphabet}")
    drawn = [dice.choice(alphabet) for _ in range(length)]
    classes = [set(alphabet) & set(kind) for kind in (string.ascii_lowercase, string.ascii_uppercase, string.digits)]
    for place, kind in enumerate(sorted(one) for one in classes if one):
        drawn[4 + place] = dice.choice(kind)
    return "".join(drawn)


def part_of_jwt(claims: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")


def jwt(claims: dict[str, object], algorithm: str = "HS256") -> str:
    return f"{part_of_jwt({'alg': algorithm, 'typ': 'JWT'})}.{part_of_jwt(claims)}.{some(43, URL_SAFE)}"


def key_block(kind: str = "RSA ", line_end: str = "\n", indent: str = "") -> str:
    body = [some(64, WORD, seed=line) for line in range(8)]
    lines = [f"-----BEGIN {kind}PRIVATE KEY-----", *body, some(40) + "==", f"-----END {kind}PRIVATE KEY-----"]
    return line_end.join(indent + line for line in lines)


TOKENS = {
    "memrelay-token": "mrl_" + some(43, URL_SAFE),
    "aws-access-key": "AKIA" + some(16, BASE32),
    "aliyun-access-key": "LTAI" + some(20),
    "tencent-access-key": "AKID" + some(32),
    "google-api-key": "AIza" + some(35, URL_SAFE),
    "google-oauth-secret": "GOCSPX-" + some(28),
    "google-oauth-token": "ya29." + some(120),
    "azure-key": "AccountKey=" + some(86) + "==",
    "digitalocean-token": "dop_v1_" + some(64, HEX),
    "databricks-token": "dapi" + some(32, HEX),
    "tailscale-key": "tskey-" + "auth-" + some(12) + "-" + some(32),
    "vault-token": "hvs." + some(90),
    "supabase-token": "sbp_" + some(40, HEX),
    "github-token": "ghp_" + some(36),
    "gitlab-token": "glpat-" + some(20),
    "atlassian-token": "ATATT3" + some(180),
    "npm-token": "npm_" + some(36),
    "pypi-token": "pypi-" + "AgE" + some(150, URL_SAFE),
    "rubygems-key": "rubygems_" + some(48, HEX),
    "docker-token": "dckr_pat_" + some(27),
    "anthropic-key": "sk-ant-" + "api03-" + some(95, URL_SAFE),
    "openai-key": "sk-proj-" + some(74) + "T3Blbk" + "FJ" + some(74),
    "openrouter-key": "sk-or-v1-" + some(64, HEX),
    "langsmith-key": "lsv2_pt_" + some(32, HEX) + "_" + some(10, HEX),
    "model-key": "sk-" + some(32, HEX),
    "huggingface-token": "hf_" + some(34, LETTERS),
    "groq-key": "gsk_" + some(52),
    "xai-key": "xai-" + some(80),
    "perplexity-key": "pplx-" + some(48),
    "replicate-token": "r8_" + some(37),
    "nvidia-key": "nvapi-" + some(64),
    "tavily-key": "tvly-" + some(32),
    "slack-token": "xoxb-" + some(12, string.digits) + "-" + some(13, string.digits) + "-" + some(24),
    "chat-webhook": "https://hooks.slack.com/services/" + "T0" + some(9) + "/B0" + some(9) + "/" + some(24),
    "stripe-key": "sk_live_" + some(24),
    "webhook-secret": "whsec_" + some(32),
    "sendgrid-key": "SG." + some(22) + "." + some(43),
    "shopify-token": "shpat_" + some(32, HEX),
    "square-token": "sq0atp-" + some(22),
    "linear-key": "lin_api_" + some(40),
    "notion-token": "ntn_" + some(11, string.digits) + some(35),
    "postman-key": "PMAK-" + some(24, HEX) + "-" + some(34, HEX),
    "grafana-token": "glsa_" + some(32) + "_" + some(8, HEX),
    "sentry-token": "sntrys_" + some(90),
    "telegram-token": some(10, string.digits) + ":AA" + some(33),
    "private-key": key_block(),
    "jwt": jwt({"sub": "42", "scope": "all"}),
    "totp-seed": "otpauth://" + "totp/MemRelay:alice?issuer=MemRelay&secret=" + some(32, BASE32),
    "url-password": "postgres://alice:" + some(14) + "@db.internal:5432/memrelay",
    "aws-secret-key": "aws_secret_access_key = " + some(40, WORD + "/+"),
}
