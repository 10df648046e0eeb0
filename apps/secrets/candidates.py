"""What is probably a secret because of the words beside it: ``password: …``, ``密码是 …``, ``Cookie: …``.

Data as in ``rules``, of low confidence: nobody is refused a save for one of these, but no model sees the value. What may
stand beside the words is told by ``values``.
"""

import re
from collections.abc import Callable

from apps.secrets.rules import Confidence, Rule, is_no_stand_in
from apps.secrets.scanning import Caught
from apps.secrets.trees import by_shortest_word, prefix_tree
from apps.secrets.values import (
    is_cookie,
    is_environment_secret,
    is_hash_of_password,
    is_long_random_word,
    is_pair,
    is_password,
    is_password_in_chinese,
    is_phrase,
    is_quoted_password,
    is_quoted_secret,
    is_random_word,
    is_secret_in_chinese,
    is_strong_password,
    is_told_password,
    is_weak_url_password,
    is_word_for_password,
)


def _either(*names: str) -> str:
    return f"(?:{'|'.join(names)})"


# The names of secrets. What stands before one does not matter: DB_PASSWORD, adminPassword, 登录密码.
PASSWORDS = "password passwd passphrase passcode pwd"
PASSWORD = _either(*PASSWORDS.split())
SECRETS = (
    "secret token apikey api_key api-key api@key accesskey access_key access-key access@key privatekey private_key"
    " private-key private@key signingkey signing_key signing-key signing@key encryptionkey encryption_key encryption-key"
    " encryption@key authkey auth_key auth-key auth@key appkey app_key app-key app@key accountkey account_key masterkey"
    " master_key master-key master@key sharedkey shared_key licensekey license_key license@key subscription-key"
    " subscription_key subscription@key credential recovery@code"
)
SECRET = _either(
    "secret(?:[ _-]?(?:access[ _-]?)?key|[ _-]?token|[ _-]?value|[ _-]?id)?",
    "token",
    "credential",
    "recovery code",
    "(?:api|access|private|signing|encryption|auth|app|account|master|shared|license|subscription)[ _-]?key",
)
ZH_PASSWORDS = "密码 密碼 口令 暗码 开机码 PIN码"
ZH_PASSWORD = _either(*ZH_PASSWORDS.split())
ZH_SECRETS = "密钥 密鑰 秘钥 密匙 令牌 私钥 授权码 凭证 凭据 恢复码 卡密 激活码"
ZH_SECRET = _either(*ZH_SECRETS.split())

NOTE = r"(?:[ \t]?[(（][^()（）\n]{0,30}[)）])?"  # password (staging): ...
CLOSE = r"(?:s|[ _]?[0-9]{1,2}|[ _-]?(?:value|hex|base64|b64|raw))?" + NOTE + r"[\"'`*_\]\\]{0,6}[ \t]{0,20}"
SIGN = (
    r"(?:(?<![=!<>])=(?![=~])>?|:=|[:：＝](?![:=])|->|→)[*_]{0,3}(?:[ \t]{0,20}|[ \t]{0,20}\r?\n[ \t>-]{1,40})[*_]{0,3}"
)
OPEN = r"(?:\\?[\"'`“”「『‘]|[bfru]{1,2}[\"'])"
QUOTED = (
    r"(?:[bfru]{0,2}\"([^\"\\\r\n]{4,2000})\"|[bfru]{0,2}'([^'\\\r\n]{4,2000})'|`([^`\r\n]{4,2000})`"
    r"|\\\"([^\"\\\r\n]{4,2000})\\\"|[“「『‘]([^”」』’\r\n]{4,2000})[”」』’])"
)
# A bare value ends at a space, a quote, or where the next name begins; closing signs behind it are not its own.
BARE = (
    r"((?!\[redacted)[!#-&(-_a-{}~]{4,2000}?)(?=[,;.)\]}>?*]{0,4}(?:[\s\"'`|]|[^!-~]|$)"
    r"|[&;,][ ]?[\w .-]{1,30}[=:]|\\[nrt\"']|</)"
)
# A label with nothing else in its line, and one word in the next.
ALONE = r"[*_`]{0,3}[ \t]{0,8}\r?\n[ \t>]{0,20}[`*_]{0,3}([!-_a-{}~]{6,128})(?=[`*_]{0,3}[ \t]{0,8}(?:\r?\n|$))"
TOLD = r"(?:[ \t](?:for|of|to|on|in)[ \t][^\s:=]{1,40}(?:[ \t][^\s:=]{1,20}){0,2}?)?"
IS = (
    r"[ \t](?:(?:is|was|will be|are)(?:[ \t](?:now|currently|still|set to|changed to))?|set to|changed to|becomes|=|:|—|–|--?)"
    r":?[ \t]{1,4}[*_]{0,3}" + OPEN + "?"
)
ZH_END = r"[\"'`*_）)\]]{0,4}[ \t]{0,4}"
ZH_BEHIND = r"[*_]{0,3}(?:[ \t]{0,20}|[ \t]{0,20}\r?\n[ \t>-]{0,40})[*_]{0,3}" + OPEN + "?"
ZH_SIGN = ZH_END + r"(?:[:：=＝](?![:=])|是|为)" + ZH_BEHIND
ZH_SAYS = (
    r"(?:已经?|还|也|都|现在|目前|依然|仍然?|暂时|就|统一|默认|应该|全部|被|先|再|可能|我|你|他|把|给|发|您"
    r"|改成?|更换?|设置?|重置|更新|修改|调整|换){0,4}"
    r"(?:是|为|為|成|叫|用|等于|填|输入|如下)了?[ \t]{0,4}[:：]?"
)
ZH_IS = (
    ZH_END + "(?:" + ZH_SAYS + r"|[:：=＝](?![:=])|→|->|=>|[ \t]{1,4}"
    r"|(?!长度|规则|策略|强度|算法|哈希|位数|管理|重置|文件|字段|错误|格式|类型|提示|要求)[\u4e00-\u9fff]{1,5}[:：])"
    + ZH_BEHIND
)
MIXED_IS = ZH_END + ZH_SAYS + ZH_BEHIND  # "token 是 ...", "password 改为 ..."


def _words(names: str) -> tuple[str, ...]:
    return tuple(name.replace("@", " ") for name in names.split())


def _rule(name: str, words: tuple[str, ...], pattern: str, is_real: Callable[[str], bool]) -> Rule:
    return Rule(name, words, re.compile(pattern, re.ASCII | re.IGNORECASE), is_real, Confidence.LOW)


CANDIDATES: tuple[Rule, ...] = (
    _rule("password", _words(PASSWORDS), PASSWORD + CLOSE + SIGN + QUOTED, is_quoted_password),
    _rule("password", _words(PASSWORDS), PASSWORD + CLOSE + SIGN + BARE, is_password),
    _rule("password", _words(PASSWORDS), PASSWORD + NOTE + TOLD + IS + BARE, is_told_password),
    _rule("password", _words(PASSWORDS), PASSWORD + NOTE + MIXED_IS + BARE, is_password_in_chinese),
    _rule("password", _words(PASSWORDS), PASSWORD + r"[ \t]{1,4}([\"'])([^\"'\s]{4,128})\1", is_quoted_password),  # SQL
    _rule("password", _words(PASSWORDS), PASSWORD + ALONE, is_strong_password),
    _rule("password", _words(ZH_PASSWORDS), ZH_PASSWORD + ALONE, is_strong_password),
    _rule(
        "password",
        ("login", "credentials", "账号", "帐号", "账户", "密码"),
        r"(?:login|credentials|[账帐]号|账户)?(?:[/和与及]?密码)?[ \t]{0,4}(?:[:：=]|是|为| is )[ \t]{0,4}"
        r"[\w.@-]{1,40}[ ]?[/／][ ]?" + BARE,
        is_strong_password,
    ),
    _rule("password", ("identified by",), r"identified by[ \t]{1,4}[\"']([^\"'\s]{4,128})[\"']", is_quoted_password),
    _rule("password", _words(PASSWORDS), r"(?<=-)" + PASSWORD + r"[ \t]+[\"']?" + BARE, is_password),  # --password ...
    _rule("password", ("login ",), r"login [^\s]{1,64}\s{1,10}password " + BARE, is_password),  # .netrc
    _rule("password", _words(PASSWORDS), PASSWORD + r">[ ]?([^<\s]{4,128})[ ]?</", is_password),  # XML
    _rule(
        "password",
        ("pass", "pw"),
        r"(?<![A-Za-z])(?:pass|pw)[\"'`]?[ \t]{0,4}[:=：][ \t]{0,4}[\"']?" + BARE,
        is_told_password,
    ),
    _rule(
        "password",
        ("mysql", "mariadb"),
        r"(?:mysql|mariadb)(?:dump|admin)?[ \t][^\n|;]{0,80}?[ ]-p" + BARE,
        is_password,
    ),
    _rule("password", ("redis-cli",), r"redis-cli [^\n|;]{0,80}?(?<=[ ])-a[ ]" + BARE, is_password),
    _rule("password", ("docker login", "podman login"), r"\w+ login [^\n|;]{0,80}?(?<=[ ])-p[ ]" + BARE, is_password),
    _rule("password", ("sshpass",), r"sshpass[ \t]+-p[ \t]*[\"']?" + BARE, is_password),
    _rule("password", ("curl ",), r"curl [^\n|;]{0,200}?(?:-u|--user)[ =][\"']?[^\s:\"']{1,64}:" + BARE, is_password),
    _rule("password", ("wifi:",), r"wifi:(?:[TSH]:[^;]{0,64};){0,3}P:([^;\n]{4,64});", is_password),
    _rule("password", _words(ZH_PASSWORDS), ZH_PASSWORD + NOTE + ZH_IS + BARE, is_password_in_chinese),
    _rule(
        "password",
        _words(ZH_PASSWORDS),
        ZH_PASSWORD + NOTE + ZH_SIGN + r"([a-z]{6,32})(?=[\"'`*”」]{0,3}[ \t]{0,4}(?:$|[\r\n，。；,;]))",
        is_word_for_password,
    ),
    _rule("secret", _words(SECRETS), SECRET + CLOSE + SIGN + QUOTED, is_quoted_secret),
    _rule("secret", _words(SECRETS), SECRET + CLOSE + SIGN + r"(?:(?:Bearer|Token)[ ])?" + BARE, is_random_word),
    _rule("secret", _words(SECRETS), SECRET + NOTE + TOLD + IS + BARE, is_random_word),
    _rule("secret", _words(SECRETS), SECRET + NOTE + MIXED_IS + BARE, is_random_word),
    _rule("secret", _words(SECRETS), r"(?<=-)" + SECRET + r"[ \t]+[\"']?" + BARE, is_random_word),
    _rule("secret", _words(SECRETS), SECRET + r">[ ]?([^<\s]{8,200})[ ]?</", is_random_word),
    _rule("secret", _words(ZH_SECRETS), ZH_SECRET + NOTE + ZH_IS + BARE, is_secret_in_chinese),
    _rule("secret", _words(SECRETS), SECRET + r"[ \t]{1,2}" + BARE, is_long_random_word),
    _rule(
        "secret",
        ("key",),
        r"(?<!public)(?<!public[ _-])(?<!host[ _-])key(?:[ ]is[ ]|[\"'`*]{0,3}[ ]?[:：=][ ]?)[\"'`]?" + BARE,
        is_long_random_word,
    ),
    _rule(
        "pin",
        ("pin", "验证码", "校验码", "动态码"),
        r"(?:(?<![A-Za-z])pin(?:[ _-]?code|[ ]?码)?|验证码|校验码|动态码)(?:[ ]?[:：=][ ]?| is |是|为)"
        r"[ \t]{0,2}([0-9]{4,8})(?![0-9A-Za-z.-])",
        is_no_stand_in,
    ),
    _rule(
        "seed-phrase",
        ("mnemonic", "seed phrase", "助记词", "recovery phrase"),
        r"(?:mnemonic|seed phrase|助记词|recovery phrase)[\"'`*]{0,4}[ \t]{0,4}(?:[:：=]|is|是|为)\s{0,4}[\"'`]?"
        r"((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})",
        is_phrase,
    ),
    _rule(
        "totp-seed",
        ("totp", "otp", "2fa", "mfa"),
        r"(?:totp|otp|2fa|mfa)[ _-]?(?:secret|seed|key|密钥|种子)?[\"'`*]{0,4}[ \t]{0,4}(?:[:：=]|is|是|为)[ \t]{0,4}[\"'`]?"
        r"([A-Z2-7]{4}(?:[ -]?[A-Z2-7]{4}){3,15}=*)(?![A-Za-z0-9])",
        is_no_stand_in,
    ),
    # What protocols carry.
    _rule("authorization", ("basic ",), r"basic ([A-Za-z0-9+/]{8,400}={0,2})(?![A-Za-z0-9+/=])", is_pair),
    _rule("authorization", ("bearer ",), r"bearer ([A-Za-z0-9._~+/-]{16,2000}={0,2})", is_random_word),
    _rule(
        "authorization",
        ("authorization",),
        r"authorization[\"'`]?[ \t]{0,4}[:：=][ \t]{0,4}[\"'`]?(?:(?:token|digest|apikey|key|bearer|bot)[ ])?"
        r"([A-Za-z0-9._~+/-]{12,2000}={0,2})",
        is_random_word,
    ),
    _rule("cookie", ("cookie",), r"cookie[\"'`]?[ \t]{0,4}[:：][ \t]{0,4}[\"'`]?([^\r\n\"'`]{8,1000})", is_cookie),
    _rule(
        "cookie",
        ("sessionid", "session_id", "phpsessid", "jsessionid", "connect.sid"),
        r"(?:(?:php)?sess(?:ion)?_?id|jsessionid|connect\.sid)=([^\s;\"'`&,]{16,400})",
        is_random_word,
    ),
    _rule(
        "url-password",
        ("://",),
        r"://[^\s:/@\"'`<>{}$|\\]{0,64}:([^\s:/@\"'`<>{}$|\\]{4,128})@[A-Za-z0-9\[]",
        is_weak_url_password,
    ),
    _rule("url-password", ("://",), r"://([A-Za-z0-9_-]{20,200})(?::x-oauth-basic)?@[A-Za-z0-9\[]", is_random_word),
    _rule("password-hash", ("$2a$", "$2b$", "$2y$"), r"(\$2[aby]\$\d\d\$[./A-Za-z0-9]{53})", is_hash_of_password),
    _rule(
        "password-hash",
        ("$argon2", "$6$", "$5$", "$1$", "$y$", "pbkdf2_sha", "$apr1$"),
        r"(\$(?:argon2id?|argon2d)\$v=\d+\$[\w=,]{6,40}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,90}"
        r"|\$(?:[156y]|apr1)\$(?:rounds=\d+\$)?[./A-Za-z0-9]{2,40}\$[./A-Za-z0-9]{20,90}"
        r"|pbkdf2_sha\d+\$\d+\$[A-Za-z0-9]{8,40}\$[A-Za-z0-9+/]{40,90}=*)",
        is_hash_of_password,
    ),
)
# A variable in capitals, at the start of its line or behind export, -e, ENV: the name may say nothing, the value does.
_VARIABLE = re.compile(
    r"(?:^|(?<=export )|(?<=-e )|(?<=ENV )|(?<=ARG ))[ \t]{0,8}([A-Z][A-Z0-9_]{2,40})[ \t]?=[ \t]?"
    r"[\"']?([A-Za-z0-9+/_=~.!@#%^*-]{20,200})"
    r"(?=[\"'\s;]|$)",
    re.MULTILINE,
)
_NO_SECRET_NAME = re.compile(
    r"HASH|SUM|DIGEST|SHA|MD5|INTEGRITY|ETAG|COMMIT|REV|VERSION|NONCE|FINGERPRINT|PUBLIC|CERT|CURSOR|TRACE|REQUEST"
    r"|PATH|URL|HOST|IMAGE|BUILD|_ID$|^ID$|UUID"
)


def candidates(text: str) -> list[Caught]:
    """Every probable secret of a text: where it stands, by which rule."""
    return [*_labelled(text), *_variables(text)]


def _labelled(text: str) -> list[Caught]:
    caught: list[Caught] = []
    for hit in _ANY_WORD.finditer(text):
        for rule in _RULES_OF[hit.group().lower()]:
            match = rule.pattern.match(text, hit.start())
            if match is None:
                continue
            start, end = match.span(match.lastindex or 0)
            if rule.is_real(text[start:end]):
                caught.append((start, end, rule.name, rule.confidence))
                break
    return caught


def _variables(text: str) -> list[Caught]:
    return [
        (*match.span(2), "environment-secret", Confidence.LOW)
        for match in _VARIABLE.finditer(text)
        if not _NO_SECRET_NAME.search(match[1]) and is_environment_secret(match[2])
    ]


_RULES_OF = by_shortest_word(CANDIDATES, str.lower)
_ANY_WORD = re.compile(prefix_tree(_RULES_OF), re.ASCII | re.IGNORECASE)
