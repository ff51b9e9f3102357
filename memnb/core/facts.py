"""Facts: durable claims, each revision with the evidence that justifies it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final, Literal

from memnb.core import canonical
from memnb.core.canonical import Value
from memnb.errors import InvalidText, SourceStatus, UnknownId

__all__ = [
    "KINDS",
    "MAX_SOURCE_SEQS",
    "MAX_TEXT_BYTES",
    "UNSPACED",
    "Basis",
    "Fact",
    "Hold",
    "Interval",
    "Kind",
    "Link",
    "Origin",
    "Quote",
    "Relation",
    "Revision",
    "Scope",
    "Source",
    "SourceRef",
    "SourceStatus",
    "bare",
    "check_text",
    "mac_payload",
    "normalised",
    "phrases",
    "require_kind",
    "require_scope",
    "source_values",
    "text_key",
]

Kind = Literal["preference", "convention", "decision", "observation", "reference", "procedure"]
Scope = Literal["project", "user", "shared"]
Basis = Literal["quote", "statement", "file_line", "canonical"]
Origin = Literal["person", "agent", "learned", "promoted", "merged", "imported"]
Relation = Literal["derived_from", "supersedes", "conflicts_with"]

KINDS: Final[tuple[Kind, ...]] = ("preference", "convention", "decision", "observation")
"""The kinds that can be given today; `reference` and `procedure` are kept for later."""

MAX_TEXT_BYTES: Final = 512
MAX_SOURCE_SEQS: Final = 200

UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts whose words stand without blanks between them (Thai, Lao, Burmese, Khmer, Chinese,
Japanese), as it stands in a class of a pattern."""

_WORD: Final = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
_EDGES: Final = re.compile(r"\A[^\w]+|[^\w]+\Z")
_LINE_BREAKS: Final = re.compile("[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class SourceRef:
    """Exact records of one session, pinned by the digest of their complete bytes."""

    session_id: str
    seqs: tuple[int, ...]
    digest: str

    def __str__(self) -> str:
        first, last = self.seqs[0], self.seqs[-1]
        return f"{self.session_id}:{first}" + (f"-{last}" if last != first else "")


@dataclass(frozen=True, slots=True)
class Quote:
    """Where a fact's text stands: a span of code points in one part of one record."""

    seq: int
    part: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Source:
    """One piece of evidence of a revision; `store_id` says whose session it is."""

    store_id: str
    ref: SourceRef
    quote: Quote | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """How a revision stands to another fact's revision."""

    relation: Relation
    other_id: str
    other_revision: int


@dataclass(frozen=True, slots=True)
class Hold:
    """Why a fact is kept out of the prompt until a person confirms it."""

    reason: Literal["disputed", "source_changed", "imported"]
    because_id: str


@dataclass(frozen=True, slots=True)
class Interval:
    """A stretch of time `[begins, ends)` between UTC stamps; None: open."""

    begins: str | None = None
    ends: str | None = None

    def reaches(self, at: str) -> bool:
        """Whether it isn't over at a UTC stamp."""
        return self.ends is None or at < self.ends


@dataclass(frozen=True, slots=True)
class Revision:
    """One wording of a fact. Times are UTC stamps; valid time is `[valid_from, valid_to)`.

    `confidence` is in thousandths, None for what a person said themselves. `is_signed` is False
    for one that was read and isn't as it was signed.
    """

    fact_id: str
    revision: int
    text: str
    basis: Basis | None
    origin: Origin
    recorded_at: str
    generation: int
    sources: tuple[Source, ...]
    links: tuple[Link, ...] = ()
    rule: str | None = None
    confidence: int | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    mac: bytes = b""
    is_signed: bool = True

    @property
    def reference(self) -> str:
        """The revision as records name it: `F-7k2m9q@1`."""
        return f"{self.fact_id}@{self.revision}"

    @property
    def derived_from(self) -> tuple[Link, ...]:
        """The facts that it rests on, at the revision they had then."""
        return tuple(link for link in self.links if link.relation == "derived_from")

    def begins_by(self, at: str) -> bool:
        """Whether its time has begun at a UTC stamp."""
        return self.valid_from is None or self.valid_from <= at

    def is_valid_at(self, at: str) -> bool:
        """Whether the claim holds at a UTC stamp."""
        return self.begins_by(at) and (self.valid_to is None or at < self.valid_to)


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact with the revisions that were asked for, oldest first; the last one is current.

    A fact is read either with its whole history, or as of an instant, with one revision.

    Args:
        newest: the number of its newest revision, which may be one that wasn't asked for; that of
            the last one when left out.
    """

    fact_id: str
    scope: Scope
    kind: Kind
    revisions: tuple[Revision, ...]
    holds: tuple[Hold, ...] = ()
    newest: int = 0

    def __post_init__(self) -> None:
        if not self.newest:
            object.__setattr__(self, "newest", self.revisions[-1].revision)

    @property
    def current(self) -> Revision:
        """The last revision: the newest, or the one that decides at the instant asked about."""
        return self.revisions[-1]

    def at(self, at: str) -> Revision | None:
        """The revision that decides at a UTC stamp: the newest that begins by then, if any."""
        begun = (one for one in reversed(self.revisions) if one.begins_by(at))
        return next(begun, None)

    def as_of(self, at: str) -> Fact:
        """The fact with the revision that decides at a UTC stamp, else the next that will."""
        decides = self.at(at) or min(reversed(self.revisions), key=lambda one: one.valid_from or "")
        return replace(self, revisions=(decides,))

    def in_force(self, revision: Revision) -> Interval | None:
        """When the claim holds in this wording; None when newer revisions leave it no time."""
        newer = [one.valid_from for one in self.revisions if one.revision > revision.revision]
        begins = revision.valid_from
        ends = [end for end in (*newer, revision.valid_to) if end is not None]
        end = min(ends, default=None)
        if None in newer or (begins is not None and end is not None and end <= begins):
            return None
        return Interval(begins, end)


def check_text(text: str) -> str:
    """`text` without surrounding blanks, when it may be a fact.

    Raises:
        InvalidText: it is empty, has a line break, or more than 512 UTF-8 bytes.
    """
    text = text.strip()
    if not text:
        raise InvalidText("a fact needs a text: `%memory remember TEXT`.")
    if _LINE_BREAKS.search(text):
        raise InvalidText("a fact is one line; remember each line as a fact of its own.")
    try:
        n_bytes = len(text.encode())
    except UnicodeEncodeError:
        raise InvalidText("the text holds half of a surrogate pair; type it again.") from None
    if n_bytes > MAX_TEXT_BYTES:
        raise InvalidText(
            f"a fact holds at most {MAX_TEXT_BYTES} bytes of UTF-8; this one has {n_bytes:,}."
            " Shorten it, or keep the long form in MEMORY.md (`%memory edit` says where it is)."
        )
    return text


def require_kind(kind: str) -> Kind:
    """`kind` when a fact may be of it.

    Raises:
        UnknownId: it may not.
    """
    for known in KINDS:
        if kind == known:
            return known
    raise UnknownId(f"no such kind of fact. The kinds are: {', '.join(KINDS)}.")


def require_scope(scope: str) -> Scope:
    """`scope` when facts may be kept in it: today the project's only.

    Raises:
        UnknownId: they may not.
    """
    if scope != "project":
        raise UnknownId("no such scope of facts; there is project.")
    return "project"


def normalised(text: str) -> str:
    """The form in which two texts are the same: composed, case-folded, blanks collapsed.

    Folding goes over the decomposed form (Unicode 3.13, D145): letters with two accents need it.
    """
    folded = unicodedata.normalize("NFD", text).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def text_key(text: str) -> bytes:
    """What duplicates share: the first 16 bytes of SHA-256 of the normalised text."""
    return sha256(normalised(text).encode(errors="surrogatepass")).digest()[:16]


def bare(text: str) -> str:
    """The normalised text without what may stand around it: quotes, brackets, an end mark."""
    return _EDGES.sub("", normalised(text))


def phrases(text: str) -> list[str]:
    """Every run of words in a text, bare: what it may say besides the whole.

    It is cut at every word, whatever stands between two, and at every sign of a script whose words
    stand without blanks.
    """
    form = normalised(text)
    words = list(_WORD.finditer(form))
    runs = (form[first.start() : last.end()] for n, first in enumerate(words) for last in words[n:])
    return list(dict.fromkeys((bare(text), *runs)))


def mac_payload(store_id: str, kind: Kind, scope: Scope, revision: Revision) -> bytes:
    """The bytes that the keyed digest of a revision covers: everything but the digest itself."""
    links: list[Value] = [
        [relation, other_id, other_revision]
        for relation, other_id, other_revision in sorted(
            (link.relation, link.other_id, link.other_revision) for link in revision.links
        )
    ]
    return canonical.encode_plain(
        {
            "basis": revision.basis,
            "confidence": revision.confidence,
            "fact_id": revision.fact_id,
            "generation": revision.generation,
            "kind": kind,
            "links": links,
            "origin": revision.origin,
            "recorded_at": revision.recorded_at,
            "revision": revision.revision,
            "rule": revision.rule,
            "scope": scope,
            "sources": source_values(revision.sources),
            "store_id": store_id,
            "text": revision.text,
            "valid_from": revision.valid_from,
            "valid_to": revision.valid_to,
        }
    )


def source_values(sources: Iterable[Source]) -> list[Value]:
    """Pieces of evidence as a signature covers them."""
    return [
        {
            "digest": source.ref.digest,
            "quote": None if source.quote is None else _quote_value(source.quote),
            "seqs": list(source.ref.seqs),
            "session_id": source.ref.session_id,
            "store_id": source.store_id,
        }
        for source in sources
    ]


def _quote_value(quote: Quote) -> list[Value]:
    return [quote.seq, quote.part, quote.start, quote.end]
