"""Sealing values for the database: unreadable without the key ring, and useless in any other place (D-32).

A sealed value is ``version | length of key id | key id | salt | nonce | AES-256-GCM ciphertext with its tag``.
Each value has a key of its own, derived by HKDF from the ring's key and the salt, so that random nonces never
meet under one key. The header and the place (table, column, row) are authenticated with the text: a value
copied into another row does not open.
"""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError
from apps.base.keyring import load_keyring

VERSION = 1
SALT_BYTES, NONCE_BYTES, TAG_BYTES = 16, 12, 16


class SealBroken(MemRelayError):
    """The sealed value was changed, cut or moved to another place."""

    code = "SEAL_BROKEN"
    status = 500
    sentence = _("A sealed value does not open: it was changed, or it belongs to another place.")
    hint = _("Enter the secret again; the stored one cannot be recovered.")


class SealingKeyMissing(MemRelayError):
    """The key that sealed the value is not in the key ring."""

    code = "SEALING_KEY_MISSING"
    status = 500
    sentence = _("A sealed value needs the key {key}, which is not in the key ring.")
    hint = _("Restore the key ring that belongs to this database from a backup, or enter the secret again.")


def seal(plaintext: bytes, *, table: str, column: str, row: str) -> bytes:
    """Seal a value for one place, with the active key."""
    ring = load_keyring()
    name = ring.active.encode()
    salt, nonce = os.urandom(SALT_BYTES), os.urandom(NONCE_BYTES)
    header = bytes([VERSION, len(name)]) + name + salt + nonce
    return header + _cipher(ring.keys[ring.active], salt).encrypt(nonce, plaintext, header + _place(table, column, row))


def unseal(sealed: bytes, *, table: str, column: str, row: str) -> bytes:
    """Open a value at its place; raise ``SealBroken`` or ``SealingKeyMissing``."""
    name, salt, nonce, body = _parts(sealed)
    key = load_keyring().keys.get(name)
    if key is None:
        raise SealingKeyMissing(key=name)
    header = sealed[: len(sealed) - len(body)]
    try:
        return _cipher(key, salt).decrypt(nonce, body, header + _place(table, column, row))
    except InvalidTag:
        raise SealBroken from None


def key_of(sealed: bytes) -> str:
    """The id of the key that sealed the value."""
    return _parts(sealed)[0]


def needs_sealing_anew(sealed: bytes) -> bool:
    """Whether a rotation still has this value before it."""
    return key_of(sealed) != load_keyring().active


def _parts(sealed: bytes) -> tuple[str, bytes, bytes, bytes]:
    """Key id, salt, nonce, and the ciphertext with its tag."""
    if len(sealed) < 2 or sealed[0] != VERSION:
        raise SealBroken
    salt_at = 2 + sealed[1]
    nonce_at = salt_at + SALT_BYTES
    body_at = nonce_at + NONCE_BYTES
    if len(sealed) < body_at + TAG_BYTES:
        raise SealBroken
    try:
        name = sealed[2:salt_at].decode("ascii")
    except UnicodeDecodeError:
        raise SealBroken from None
    return name, sealed[salt_at:nonce_at], sealed[nonce_at:body_at], sealed[body_at:]


def _cipher(key: bytes, salt: bytes) -> AESGCM:
    return AESGCM(HKDF(algorithm=SHA256(), length=32, salt=salt, info=b"memrelay/record-key/v1").derive(key))


def _place(*names: str) -> bytes:
    """Each part with its length before it: ("ab", "c") and ("a", "bc") are two places."""
    parts = [b"memrelay/sealed/v1", *(name.encode() for name in names)]
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)
