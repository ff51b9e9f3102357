"""The defences at rest, each of which can be switched off: what it alone holds off shows then."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Any, Final

from memnb.core import evidence
from memnb.core.records import OPEN, ChainHead
from memnb.storage import fact_store
from memnb.storage.anchor import Anchor
from memnb.storage.fact_store import FactStore
from memnb.storage.sealing import Rows, Sealer

__all__ = ["DEFENCES", "without"]

_Switched = tuple[object, str, Any]


def _no_seal() -> _Switched:
    def check(self: Sealer, rows: Rows, anchored: Any) -> None:
        self._require_newest(self._stored(rows, anchored), anchored)

    return Sealer, "check", check


def _no_signature() -> _Switched:
    return fact_store, "is_signed", lambda *_: True


def _no_evidence() -> _Switched:
    def check_revision(revision: Any, *_: object) -> str:
        return "valid" if revision.is_signed else "stale"

    return evidence, "check_revision", check_revision


def _no_head() -> _Switched:
    return FactStore, "head", lambda _, session_id: ChainHead(session_id, 0, "", OPEN)


def _no_anchor() -> _Switched:
    return Anchor, "read", lambda _: None


DEFENCES: Final = MappingProxyType(
    {
        "seal": _no_seal,
        "signature": _no_signature,
        "evidence": _no_evidence,
        "head": _no_head,
        "anchor": _no_anchor,
    }
)
"""The keyed digest over all rows; the signature of each revision; its text compared with the
records it points at; the noted head of each session; what this machine saw last."""


@contextlib.contextmanager
def without(*names: str) -> Iterator[None]:
    """Work without these defences inside the block."""
    switches: list[Callable[[], _Switched]] = [DEFENCES[name] for name in names]
    with contextlib.ExitStack() as stack:
        for switch in switches:
            owner, name, weak = switch()
            stack.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, weak)
        yield
