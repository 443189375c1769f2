"""Encrypts secrets that must be read back, with keys derived from `APP_ENCRYPTION_KEY`.

AES-256-GCM; a secret's table and row are authenticated with it, so an encrypted value that was
moved to another row cannot be decrypted. Invariant: a key that differs from the one in use is
noticed before anything is written with it.
"""

import hashlib
import hmac
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_FORMAT = b"\x01"
_KEY_ID_BYTES = 4
_NONCE_BYTES = 12
CHECK_PLACE = "settings/key_check"


class WrongKeyError(Exception):
    """`APP_ENCRYPTION_KEY` is not the key that the stored credentials were sealed with."""

    def __init__(self) -> None:
        super().__init__(
            "APP_ENCRYPTION_KEY is not the key that this database's credentials were encrypted"
            " with; start with the original key (nothing was changed)"
        )


class Vault:
    """Encrypts and decrypts secrets; derives keys for signatures."""

    def __init__(self, key: str) -> None:
        self._material = key.encode()
        self._cipher = AESGCM(self.derive("credentials", 32))
        self._key_id = self.derive("key id", _KEY_ID_BYTES)

    def derive(self, purpose: str, length: int = 32) -> bytes:
        """Key material derived for one purpose."""
        hkdf = HKDF(SHA256(), length, salt=None, info=f"notes/{purpose}".encode())
        return hkdf.derive(self._material)

    def seal(self, secret: bytes, place: str) -> bytes:
        """`secret` encrypted; only `open` with the same `place` (table and row) decrypts it."""
        nonce = os.urandom(_NONCE_BYTES)
        return _FORMAT + self._key_id + nonce + self._cipher.encrypt(nonce, secret, place.encode())

    def open(self, sealed: bytes, place: str) -> bytes:
        """Decrypts a sealed value. Raises `WrongKeyError` for another key or place, or damage."""
        head = len(_FORMAT) + _KEY_ID_BYTES
        if sealed[:head] != _FORMAT + self._key_id:
            raise WrongKeyError
        nonce, ciphertext = sealed[head : head + _NONCE_BYTES], sealed[head + _NONCE_BYTES :]
        try:
            return self._cipher.decrypt(nonce, ciphertext, place.encode())
        except InvalidTag:
            raise WrongKeyError from None

    def sign(self, message: str, purpose: str) -> str:
        """A signature of `message`, in hexadecimal digits."""
        return hmac.new(self.derive(purpose), message.encode(), hashlib.sha256).hexdigest()

    def signed(self, message: str, purpose: str, signature: str) -> bool:
        return hmac.compare_digest(self.sign(message, purpose).encode(), signature.encode())
