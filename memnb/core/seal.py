"""The seal: a keyed digest over all rows of a fact database, kept up to date row by row.

1. Every row stands for a number that only the holder of the key can compute; the rows' numbers are
   combined by exclusive or, so that adding and taking out a row are the same cheap step.
2. The combination is stored under a mask that is new for every version: whoever sees many seals
   learns nothing of the numbers, and can't make rows that fit. (MSet-XOR-Hash of Clarke et al.,
   2003: set-collision resistant while the key is secret.)
3. A change never looks at the rows it doesn't touch, and still can't hide what was done to them:
   the combination keeps not fitting until a person accepts it.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from hashlib import blake2b, sha256
from typing import Final

from memnb.errors import StoreAltered

__all__ = ["NONCE_BYTES", "Seal", "element", "key_id"]

NONCE_BYTES: Final = 16
_KEY_ID_BYTES: Final = 8
_VERSION_BYTES: Final = 8
_TOTAL_BYTES: Final = 32
_SEAL_BYTES: Final = _VERSION_BYTES + NONCE_BYTES + _TOTAL_BYTES + _KEY_ID_BYTES

Field = str | int | bytes | None


@dataclass(frozen=True, slots=True)
class Seal:
    """The seal of one version of a store.

    `version` counts the changes; `masked` is the combination of all rows; `key_id` says which key
    made it, without saying anything else of the key.
    """

    version: int
    nonce: bytes
    masked: bytes
    key_id: bytes

    @classmethod
    def over(cls, total: int, *, version: int, nonce: bytes, key: bytes, store_id: str) -> Seal:
        """The seal over rows whose combination is `total`."""
        mask = _mask(key, store_id, version, nonce)
        masked = (total ^ mask).to_bytes(_TOTAL_BYTES, "big")
        return cls(version, nonce, masked, key_id(key))

    @classmethod
    def from_bytes(cls, data: object) -> Seal:
        """The seal that was stored as `data`; raises StoreAltered when that is none."""
        if not isinstance(data, bytes) or len(data) != _SEAL_BYTES:
            raise StoreAltered(
                "the seal of the fact database is gone or no seal; `%memory doctor` says more."
            )
        version, rest = data[:_VERSION_BYTES], data[_VERSION_BYTES:]
        nonce, rest = rest[:NONCE_BYTES], rest[NONCE_BYTES:]
        return cls(int.from_bytes(version), nonce, rest[:_TOTAL_BYTES], rest[_TOTAL_BYTES:])

    def __bytes__(self) -> bytes:
        return self.version.to_bytes(_VERSION_BYTES) + self.nonce + self.masked + self.key_id

    def total(self, key: bytes, store_id: str) -> int:
        """The combination that the seal was made over."""
        return int.from_bytes(self.masked) ^ _mask(key, store_id, self.version, self.nonce)

    def is_by(self, key: bytes) -> bool:
        """Whether this key made it."""
        return hmac.compare_digest(self.key_id, key_id(key))


def element(key: bytes, table: str, fields: tuple[Field, ...]) -> int:
    """The number that one row of a table stands for."""
    data = f"{table} {fields!a}".encode()  # in ASCII: the same in every version of Python
    return int.from_bytes(blake2b(data, key=key, digest_size=_TOTAL_BYTES, person=b"row").digest())


def key_id(key: bytes) -> bytes:
    """What tells one key from another."""
    return sha256(b"memnb key " + key).digest()[:_KEY_ID_BYTES]


def _mask(key: bytes, store_id: str, version: int, nonce: bytes) -> int:
    data = b"seal " + store_id.encode() + version.to_bytes(_VERSION_BYTES) + nonce
    return int.from_bytes(hmac.digest(key, data, "sha256"))
