"""Could this be a secret? Tests of a value that stands beside a word such as ``password``. Pure functions.

They let weak passwords through and keep prose, code, hashes and identifiers out: text with holes in it curates badly.
"""

import base64
import re

from apps.secrets.rules import STAND_IN, classes_in, entropy, is_no_stand_in

NOTHING = re.compile(
    r"(?:[-\\$<{%&*(\[#/~@?]|\.\.?/|[A-Za-z]:\\|[a-z][a-z0-9+]{1,9}://|data:|arn:|urn:|enc\[|env[:.(]|os\.|self\.|this\.|process\."
    r"|settings?\.|config\.|secrets?\.|request\.|req\.|ctx\.|args?\.|opts?\.|options\.|vault:|file:|ref:|op:)",
    re.IGNORECASE,
)
VOCABULARY = frozenset(
    "required optional string text str int bool boolean bytes none null nil true false undefined empty unset missing"
    " todo tbd unknown hidden masked secret secrets token tokens password passwords passwd pwd passphrase key keys value"
    " values field fields input type types name username user users admin login email account default object array any"
    " number never always encrypted hashed stored invalid valid wrong incorrect correct expired changed forgotten reset"
    " weak strong bearer basic digest oauth oauth2 plain json yaml see same below above here read write from with"
    " and or the this that not must should when where what which how why unicode public private environment variable"
    " vault keychain keyring prompt stdin file path url uri uuid hash random generated rotated revoked leaked".split()
)
# In code, what stands behind the sign is more often another name than a value.
NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)*\d{0,2}[!?]?")
CALL = re.compile(r"[A-Za-z_$][\w$.:>-]*[(\[{<]")
LABEL_AGAIN = re.compile(
    r"(?:[a-z]{2,10}[-_]?){0,2}?(?:password|passwd|pass|pwd|secret|token|key|auth|credential|value|param|arg|var|item|field)s?"
    r"[-_]?\d{0,3}",
    re.IGNORECASE,
)
# Words of the trade that mix letters and digits: no part of them makes a value random.
TRADE = re.compile(
    r"(?:aes|sha|rsa|dsa|md|utf|gbk|gb|base|bcrypt|b?crypt|argon|scrypt|pbkdf|hmac|sm|des|tls|ssl|http|oauth|openid|oidc"
    r"|ecdsa|eddsa|ecdh|ed|curve|secp|prime|hs|rs|es|ps|cs|rc|ipv|ip|json|jwt|jws|jwe|uuid|ulid|version|ver|v|x|p|n|c|k"
    r"|py|python|node|java|go|php|gpt|claude|llama|qwen|glm|win|linux|ubuntu|debian|mysql|postgres|pg|redis|mongo|s|ec"
    r"|ascii|unicode|hex|bits?|bytes?|chars?|characters?|digits?|kb|mb|gb|ms|sec|min|days?|hours?|url|uri|id|api|cbc|gcm"
    r"|ctr|ecb|cfb|r)\d{0,5}(?:id|url|sum|k1|r1|[a-z])?|\d{1,4}|[a-z]{2,}",
    re.IGNORECASE,
)
PARTS = re.compile(r"[^A-Za-z0-9]+")
DATE_OR_NUMBER = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T_]?[\d:.+Z-]*)?|\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:/\d+)?|v?\d+(?:\.\d+){1,3}"
    r"|\d+(?:[.,]\d+)?(?:%|ms|s|m|h|d|kb|mb|gb|k|px|x|am|pm|st|nd|rd|th)?|0x[0-9a-f]{1,8}|\d{1,2}:\d{2}(?::\d{2})?",
    re.IGNORECASE,
)
STRANGE = re.compile(r"[!@#$%^&+=~?]")
CLASS_NAME = re.compile(r"(?:[A-Z][a-z]*[0-9]*){2,}")
CLASS_NAME_WORDS = re.compile(r"[A-Z]+[a-z]*[0-9]*")
CASE_TURNS = re.compile(r"[a-z][A-Z]")
TRADE_WORD = re.compile(
    r"(?:bcrypt|scrypt|argon|plaintext|openssl|github|gitlab|vault|keepass|bitwarden|xxx+|hash\w*|salt\w*)"
)
DIGITS = re.compile(r"[0-9]{4,12}")


def is_nothing(value: str) -> bool:
    """A stand-in, a reference to where the secret is kept, a word, a path."""
    return bool(
        STAND_IN.search(value)
        or NOTHING.match(value)
        or value.lower().rstrip(".!?:") in VOCABULARY
        or CALL.match(value)
        or ("." in value and NAME.fullmatch(value))
        or value.endswith(":")
        or len(set(value)) < 2
    )


def is_words(value: str) -> bool:
    """Words and figures joined by signs: ``AES-256-GCM``, ``base64url``, ``8-20``, ``token-bucket``."""
    return STRANGE.search(value) is None and all(
        TRADE.fullmatch(part) or part.isalpha() for part in PARTS.split(value) if part
    )


def has_letter_and_digit(value: str) -> bool:
    return any(one.isdigit() for one in value) and any(one.isalpha() for one in value)


def is_random_word(value: str) -> bool:
    """A key or token: long, with a part that no word looks like."""
    if len(value) < 8 or is_nothing(value) or DATE_OR_NUMBER.fullmatch(value) or LABEL_AGAIN.fullmatch(value):
        return False
    if has_letter_and_digit(value):
        return not is_words(value) and any(
            has_letter_and_digit(part) and len(part) >= 6 and not TRADE.fullmatch(part) and not is_class_name(part)
            for part in PARTS.split(value)
        )
    longest = max(PARTS.split(value), key=len)
    turns = len(CASE_TURNS.findall(longest))  # A name of a class turns once a word.
    return len(longest) >= 16 and turns * 5 >= len(longest) and entropy(longest) >= 3.5


def is_long_random_word(value: str) -> bool:
    """So random that a mere "key" or a space before it is enough."""
    if value.lower().startswith(("sha", "md5", "ssh-", "mii", "aaaa")) or not is_random_word(value):
        return False
    longest = max(PARTS.split(value), key=len)
    return len(longest) >= 20 and classes_in(longest) >= 3 and entropy(longest) >= 3.5


def is_strong_password(value: str) -> bool:
    """Nothing else than a password looks like this."""
    return is_password(value) and classes_in(value) >= 3 and not is_words(value) and "/" not in value


def is_class_name(part: str) -> bool:
    """``Ed25519PrivateKeyTypes``: whole words with capitals, where random characters change every other time."""
    words = CLASS_NAME_WORDS.findall(part)
    return CLASS_NAME.fullmatch(part) is not None and len(part) >= 3.5 * len(words)


def is_password(value: str) -> bool:
    """What stands behind ``password:`` in a file: anything with a figure or a sign in it that is no name or number."""
    if len(value) < 5 or is_nothing(value) or LABEL_AGAIN.fullmatch(value):
        return False
    if DIGITS.fullmatch(value):
        return len(value) >= 6
    if DATE_OR_NUMBER.fullmatch(value):
        return False
    if has_letter_and_digit(value):
        return not is_words(value) or classes_in(value) >= 4 or (len(value) >= 6 and _ends_in_figures(value))
    return STRANGE.search(value) is not None and classes_in(value) >= 3 and len(value) >= 6


def is_told_password(value: str) -> bool:
    """Behind ``the password is`` stands many a word; a password has figures and letters mixed, or signs."""
    if not is_password(value) or (classes_in(value) < 3 and DIGITS.fullmatch(value) is None and len(value) < 6):
        return False
    return DIGITS.fullmatch(value) is not None or not is_words(value) or classes_in(value) >= 4


def is_quoted_password(value: str) -> bool:
    """A quoted value is a value, be it one word. One with spaces is a sentence to be shown."""
    if " " in value:
        return False
    if is_password(value):
        return True
    return len(value) >= 6 and value.isalpha() and value.isascii() and value.islower() and not is_nothing(value)


def is_quoted_secret(value: str) -> bool:
    return " " not in value and is_random_word(value)


def is_password_in_chinese(value: str) -> bool:
    """Latin letters behind a Chinese label are hardly ever prose."""
    return is_password(value) and not is_trade_word(value)


def is_word_for_password(value: str) -> bool:
    return not is_nothing(value) and not TRADE_WORD.fullmatch(value)


def is_secret_in_chinese(value: str) -> bool:
    """Mail providers give out sixteen small letters."""
    return is_random_word(value) or (
        len(value) == 16 and value.isalpha() and value.islower() and entropy(value) >= 2.5 and not is_nothing(value)
    )


def is_trade_word(value: str) -> bool:
    """``AES-256-GCM`` is no password, ``correct-Horse-9`` is."""
    parts = [part for part in PARTS.split(value) if part]
    return (
        STRANGE.search(value) is None
        and all(
            part.isdigit()
            or part.isupper()
            or (TRADE.fullmatch(part) and not part.isalpha())
            or part.lower() in VOCABULARY
            for part in parts
        )
        and not DIGITS.fullmatch(value)
    )


def _ends_in_figures(value: str) -> bool:
    return re.fullmatch(r"[A-Za-z]{3,}[-_.]?[0-9]{1,8}[!.@#?]{0,2}", value) is not None


def is_pair(value: str) -> bool:
    """The base64 of ``name:password``, as a Basic header carries it."""
    try:
        pair = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except ValueError:
        return False
    name, colon, password = pair.partition(":")
    return bool(colon and password) and pair.isprintable() and is_no_stand_in(pair) and bool(name or password)


def is_cookie(value: str) -> bool:
    """At least one value that names a session; a list of names does not."""
    values = [part.partition("=")[2].strip() for part in value.split(";")]
    return any(len(one) >= 12 and is_random_word(one) for one in values)


def is_weak_url_password(value: str) -> bool:
    return len(value) >= 4 and not is_nothing(value) and value.lower() not in VOCABULARY and has_letter_and_digit(value)


def is_phrase(value: str) -> bool:
    return len(set(value.split())) >= 8 and is_no_stand_in(value)


def is_hash_of_password(value: str) -> bool:
    return is_no_stand_in(value)


def is_environment_secret(value: str) -> bool:
    """A long value of mixed characters that a variable in capitals is set to."""
    if is_nothing(value) or value.lower().startswith(("sha", "h1:", "eyj", "md5")) or re.search(r"[/.]\w+[/.]", value):
        return False
    return is_random_word(value) and classes_in(value) >= 3 and entropy(value) >= 4.0
