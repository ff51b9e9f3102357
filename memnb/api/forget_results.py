"""Receipts of what was taken out: by a forget, and by a purge with the preview before it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from memnb.api.rendering import Block, Grid, Line, Result, Table, count
from memnb.memory.consequences import VoidTurns
from memnb.memory.purge_targets import Doomed, Why
from memnb.memory.purging import Preview, Purged
from memnb.memory.receipts import Receipt
from memnb.memory.residue import Looked

__all__ = ["ForgetReceipt", "PurgePreview", "PurgeReceipt", "PurgedRow"]

_MOST_SHOWN: Final = 20


@dataclass(frozen=True, slots=True, repr=False)
class ForgetReceipt(Result):
    """What a forget did or, with `dry_run`, would do; what it left, and who else holds the text.

    `first` is False for what was forgotten before: the receipt then says how things are now.
    `looked` has an entry for each store; `pending` says that another process keeps the bytes in
    the database's log for as long as it reads.
    """

    fact_id: str
    first: bool
    generation: int
    n_revisions: int = 0
    n_sources: int = 0
    n_excluded: int = 0
    n_void: int = 0
    pending: bool = False
    dry_run: bool = False
    forgotten_at: str = ""
    excluded: tuple[str, ...] = ()
    void: tuple[VoidTurns, ...] = ()
    silenced: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    summaries: tuple[str, ...] = ()
    looked: tuple[Looked, ...] = ()

    @classmethod
    def of(cls, receipt: Receipt, *, dry_run: bool = False) -> ForgetReceipt:
        """The receipt as it is shown."""
        return cls(
            fact_id=receipt.fact_id,
            first=receipt.first,
            generation=receipt.generation,
            n_revisions=receipt.n_revisions,
            n_sources=receipt.n_sources,
            n_excluded=len(receipt.barred),
            n_void=receipt.consequences.n_void,
            pending=receipt.pending,
            dry_run=dry_run,
            forgotten_at=receipt.at,
            excluded=tuple(f"{session_id}:{seq}" for session_id, seq in receipt.barred),
            void=receipt.consequences.void,
            silenced=receipt.consequences.silenced,
            flagged=receipt.flagged,
            summaries=receipt.consequences.summaries,
            looked=receipt.looked,
        )

    @property
    def still_held(self) -> tuple[str, ...]:
        """The places where the text still is, besides the records that were excluded."""
        return tuple(place for looked in self.looked for place in looked.held)

    @property
    def not_looked_at(self) -> tuple[str, ...]:
        """The stores that weren't looked into."""
        return tuple(looked.store for looked in self.looked if looked.why_not)

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON-like values, with the outcome in each store."""
        values = Result.to_dict(self)
        for fields, looked in zip(values["looked"], self.looked, strict=True):
            fields["outcome"] = looked.outcome
        return values

    def blocks(self) -> Sequence[Block]:
        """The receipt, and what it doesn't cover."""
        return [
            Line(self._head(), strong=True),
            *_lines(
                (self._fell_silent, self.silenced),
                (self._are_held, self.flagged),
                (self._are_void, _turns(self.void)),
                (self._are_inert, self.summaries),
                ("still in", self.still_held),
                ("kept in", self._kept_in()),
                ("couldn't be read", [place for one in self.looked for place in one.unread]),
                (
                    "looked at and clean",
                    [one.store for one in self.looked if one.outcome == "clean"],
                ),
                ("not looked at", [f"{o.store} ({o.why_not})" for o in self.looked if o.why_not]),
            ),
        ]

    def _head(self) -> str:
        did = (
            f"{count(self.n_revisions, 'revision')}, {count(self.n_excluded, 'message')} excluded,"
            f" generation {self.generation}"
        )
        databases = "pending: another kernel reads" if self.pending else "scrubbed"
        if not self.first:
            when = f" on {self.forgotten_at[:10]}" if self.forgotten_at else " before"
            head = f"{self.fact_id} was forgotten{when}"
            head += f": {count(self.n_excluded, 'message')} excluded" if self.n_excluded else ""
            return head if self.dry_run else f"{head} · databases: {databases}"
        if self.dry_run:
            return f"would forget {self.fact_id}: {did} · nothing was changed"
        return f"forgot {self.fact_id}: {did} · databases: {databases}"

    @property
    def _fell_silent(self) -> str:
        return f"{'would fall' if self._is_to_come else 'fell'} silent, since they share its source"

    @property
    def _are_held(self) -> str:
        return f"{'would be held' if self._is_to_come else 'held'}, since derived from it"

    @property
    def _are_void(self) -> str:
        return f"{'would be void' if self._is_to_come else 'void'}, since the model was shown it"

    @property
    def _are_inert(self) -> str:
        would = "would fall" if self._is_to_come else "fell"
        return f"summaries that {would} with what they cover, and are made anew"

    @property
    def _is_to_come(self) -> bool:
        return self.dry_run and self.first

    def _kept_in(self) -> list[str]:
        n_barred = sum(looked.n_barred for looked in self.looked)
        if not n_barred:
            return []
        what = f"{count(n_barred, 'record')} of the session files"
        return [f"{what}, never sent, cited or shown again; `%memory purge` blanks them"]


@dataclass(frozen=True, slots=True)
class PurgedRow:
    """A record whose body is blanked; what it says is not shown."""

    session_id: str
    seq: int
    type: str
    n_bytes: int
    why: Why


@dataclass(frozen=True, slots=True, repr=False)
class PurgePreview(Table):
    """What a purge would blank, and the token that makes it do so; None when there is nothing."""

    row: ClassVar[type] = PurgedRow

    target: str
    rows: tuple[PurgedRow, ...]
    token: str | None
    void: tuple[VoidTurns, ...] = ()
    silenced: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @classmethod
    def of(cls, preview: Preview) -> PurgePreview:
        """The preview as it is shown."""
        return cls(
            target=preview.target,
            rows=_rows(preview.records),
            token=preview.token,
            void=preview.consequences.void,
            silenced=preview.consequences.silenced,
            untouched=preview.untouched,
            unread=preview.unread,
        )

    def blocks(self) -> Sequence[Block]:
        """First what a person should know, then the records, then how to do it."""
        if not self.rows:
            nothing = Line("nothing to purge: no such record holds anything any more", strong=True)
            return [nothing, *_lines(("couldn't be read", self.unread))]
        blocks: list[Block] = [Line(f"would blank {_extent(self.rows)} for good", strong=True)]
        if self.silenced:
            text = (
                f"these facts would fall silent: {_listed(self.silenced)}; they keep their text"
                " until they are forgotten"
            )
            blocks.append(Line(text, strong=True))
        blocks += _lines(("would be void, since the model was shown it", _turns(self.void)))
        blocks.append(_grid(self.rows))
        if len(self.rows) > _MOST_SHOWN:
            blocks.append(Line(f"and {len(self.rows) - _MOST_SHOWN:,} more"))
        blocks += _lines(("couldn't be read", self.unread), ("not touched", self.untouched))
        blocks.append(Line(f"to do it, within 10 minutes: %memory purge --confirm {self.token}"))
        return blocks


@dataclass(frozen=True, slots=True, repr=False)
class PurgeReceipt(Table):
    """What a purge blanked, and what it didn't touch."""

    row: ClassVar[type] = PurgedRow

    target: str
    rows: tuple[PurgedRow, ...]
    generation: int
    void: tuple[VoidTurns, ...] = ()
    silenced: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @classmethod
    def of(cls, purged: Purged) -> PurgeReceipt:
        """The receipt as it is shown."""
        return cls(
            target=purged.target,
            rows=_rows(purged.records),
            generation=purged.generation,
            void=purged.consequences.void,
            silenced=purged.consequences.silenced,
            untouched=purged.untouched,
            failed=purged.failed,
        )

    def blocks(self) -> Sequence[Block]:
        """What was done, what wasn't, and what nobody can promise."""
        head = f"purged {_extent(self.rows)} · their places and digests stay, the chain holds"
        return [
            Line(head, strong=True),
            *_lines(
                ("couldn't be blanked yet, and is tried again at the next use", self.failed),
                ("fell silent, and keep their text until they are forgotten", self.silenced),
                ("void, since the model was shown it", _turns(self.void)),
                ("not touched", self.untouched),
            ),
            Line(_NOT_PROMISED),
        ]


_NOT_PROMISED: Final = (
    "not promised: what an SSD, a copy-on-write file system, a snapshot or a backup keeps of the"
    " old bytes"
)


def _rows(records: Iterable[Doomed]) -> tuple[PurgedRow, ...]:
    return tuple(
        PurgedRow(one.session_id, one.seq, one.type, one.n_bytes, one.why) for one in records
    )


def _extent(rows: Sequence[PurgedRow]) -> str:
    n_sessions, n_bytes = len({row.session_id for row in rows}), sum(row.n_bytes for row in rows)
    return (
        f"{count(len(rows), 'record')} ({count(n_bytes, 'byte')}) of {count(n_sessions, 'session')}"
    )


def _grid(rows: Sequence[PurgedRow]) -> Grid:
    columns = ("session", "record", "type", "bytes", "why")
    shown = rows[:_MOST_SHOWN]
    cells = ((r.session_id, str(r.seq), r.type, f"{r.n_bytes:,}", r.why) for r in shown)
    return Grid(columns, tuple(cells))


def _lines(*labelled: tuple[str, Sequence[str]]) -> list[Block]:
    """A line for each label under which there is something."""
    return [Line(f"{label}: {_listed(items)}") for label, items in labelled if items]


def _turns(void: Iterable[VoidTurns]) -> list[str]:
    return [
        f"{'turn' if len(one.turns) == 1 else 'turns'} {_ranges(one.turns)} of"
        f" {'this session' if one.is_live else one.session_id}"
        for one in void
    ]


def _ranges(numbers: Sequence[int]) -> str:
    """`1 to 3, 7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _listed(items: Sequence[str]) -> str:
    shown = ", ".join(items[:_MOST_SHOWN])
    more = len(items) - _MOST_SHOWN
    return f"{shown} and {more:,} more" if more > 0 else shown
