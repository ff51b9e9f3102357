"""What the key of a machine signs besides the seal: revisions, candidates, forgotten texts."""

from __future__ import annotations

import hmac

from memnb.core.facts import Kind, Revision, Scope, bare, mac_payload, phrases, text_key
from memnb.core.inbox import Queued, queued_payload

__all__ = ["is_signed", "phrase_macs", "queued_mac", "revision_mac", "text_mac"]


def revision_mac(key: bytes, store_id: str, kind: Kind, scope: Scope, revision: Revision) -> bytes:
    """The keyed digest of a revision with its fact, sources and links."""
    payload = mac_payload(store_id, kind, scope, revision)
    return hmac.digest(key, b"fact " + payload, "sha256")


def is_signed(key: bytes, store_id: str, kind: Kind, scope: Scope, revision: Revision) -> bool:
    """Whether a revision is as it was signed."""
    return hmac.compare_digest(revision.mac, revision_mac(key, store_id, kind, scope, revision))


def queued_mac(key: bytes, store_id: str, queued: Queued) -> bytes:
    """The keyed digest of a candidate with its sources and its state."""
    return hmac.digest(key, b"candidate " + queued_payload(store_id, queued), "sha256")


def text_mac(key: bytes, text: str) -> bytes:
    """The keyed digest by which a forgotten text is known again, whatever marks end it.

    It is keyed, since a plain hash would confirm a guess.
    """
    return _mac_of_bare(key, bare(text))


def phrase_macs(key: bytes, text: str) -> list[bytes]:
    """The keyed digests of all that a text may say besides the whole."""
    return [_mac_of_bare(key, phrase) for phrase in phrases(text)]


def _mac_of_bare(key: bytes, form: str) -> bytes:
    return hmac.digest(key, b"text " + text_key(form), "sha256")
