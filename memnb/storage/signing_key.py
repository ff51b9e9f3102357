"""The key that signs facts: read once, made when the first fact is kept, never made over facts."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from memnb.errors import KeyLost, StoreDamaged
from memnb.storage.files import shown
from memnb.storage.places import Places
from memnb.storage.private import create_private, private_folder, read_private, sweep

__all__ = ["KEY_BYTES", "SigningKey"]

KEY_BYTES = 32
"""As long as the SHA-256 digests it makes."""


class SigningKey:
    """The one key of this machine, for all projects and processes."""

    def __init__(self, places: Places, *, may_make: Callable[[], bool]) -> None:
        """Read it from `places`; `may_make` says whether nothing is signed yet."""
        self._path = places.key_file
        self._may_make = may_make
        self._key: bytes | None = None

    def __call__(self) -> bytes:
        """The key, 32 bytes.

        Raises:
            KeyLost: there is none, although facts were signed.
            StoreDamaged: the file doesn't hold 32 bytes.
            UnsafeFileSystem: others can read it and it isn't ours to close.
            StoreReadOnly, StoreFull: it can't be created.
        """
        if self._key is None:
            self._key = self._read() if not self._may_make() else self.make()
            sweep(self._path)  # a kill may have left the file that it was written to first
        return self._key

    def forget(self) -> None:
        """Read it anew at the next use: somebody may have put it back."""
        self._key = None

    def make(self) -> bytes:
        """The key; a new one when there is none."""
        private_folder(self._path.parent)
        if read_private(self._path, max_bytes=KEY_BYTES + 1) is None:
            create_private(self._path, secrets.token_bytes(KEY_BYTES))
        return self._read()

    def _read(self) -> bytes:
        key = read_private(self._path, max_bytes=KEY_BYTES + 1)
        if key is None:
            raise KeyLost(
                f"the key that signed the facts is gone from {shown(self._path)}; put it back, or"
                " see `%memory doctor`."
            )
        if len(key) != KEY_BYTES:
            raise StoreDamaged(
                f"{shown(self._path)} is not a memnb key; restore it from a backup, or move it away"
                " and see `%memory doctor`."
            )
        return key
