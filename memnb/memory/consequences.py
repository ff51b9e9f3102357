"""What a forget makes of everything else: replies that are void, facts that fall silent.

It is told by comparing what could be seen before with what can be seen after, so that it can be
told of a forget that isn't done yet, and of one that was done long ago.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from memnb.core import visibility
from memnb.core.entries import Entries
from memnb.core.facts import SourceRef
from memnb.core.lineage import Lineage
from memnb.core.visibility import ANY_FACT, View
from memnb.errors import MemnbError
from memnb.memory.history import History
from memnb.memory.project_memory import ProjectMemory

__all__ = ["GENERATED", "Consequences", "Marks", "VoidTurns", "consequences", "marks_now"]

GENERATED = frozenset({"assistant", "tool"})
"""The types of records that a turn of the agent generates."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What forgets have left: for each session its barred records, and the forgotten facts.

    Both with the generation of the forget.
    """

    exclusions: Callable[[str], Mapping[int, int]]
    forgotten: Mapping[str, int]
    lineage: Lineage

    @classmethod
    def put_together(
        cls,
        generation: int,
        exclusions: Callable[[str], Mapping[int, int]],
        forgotten: Mapping[str, int],
        entries: Callable[[str], Entries | None],
    ) -> Marks:
        """Marks of the forgets up to a generation, in sessions of which `entries` are given."""

        def forgotten_of(fact_ids: Collection[str]) -> Mapping[str, int]:
            return {one: forgotten[one] for one in fact_ids if one in forgotten}

        newest = max(forgotten.values(), default=0)
        lineage = Lineage(generation, entries, exclusions, forgotten_of, lambda: newest)
        return cls(exclusions, forgotten, lineage)

    def of(self, history: History) -> View:
        """What of a session can be seen under these marks."""
        exclusions = self.exclusions(history.session_id)
        return history.view(exclusions, self.forgotten, taken=self.lineage.taken)

    def without(self, generation: int) -> Marks:
        """The marks as they would be had one forget not been."""
        exclusions = self.exclusions

        def others(session_id: str) -> Mapping[int, int]:
            return {s: made for s, made in exclusions(session_id).items() if made != generation}

        kept = {key: made for key, made in self.forgotten.items() if made != generation}
        return self._with(self.lineage.generation, others, kept)

    def with_forget(
        self, fact_ids: Iterable[str], records: Iterable[tuple[str, int]], generation: int
    ) -> Marks:
        """The marks as they will be after one more forget."""
        exclusions = self.exclusions
        more: dict[str, dict[int, int]] = {}
        for session_id, seq in records:
            more.setdefault(session_id, {})[seq] = generation

        def all_of(session_id: str) -> Mapping[int, int]:
            return {**more.get(session_id, {}), **exclusions(session_id)}

        forgotten = {**self.forgotten, **dict.fromkeys(fact_ids, generation)}
        return self._with(generation, all_of, forgotten)

    def kept(self, session_ids: Iterable[str]) -> Marks:
        """The marks as they are now, for later."""
        exclusions = {session_id: dict(self.exclusions(session_id)) for session_id in session_ids}
        return self._with(
            self.lineage.generation,
            lambda session_id: exclusions.get(session_id, {}),
            self.forgotten,
        )

    def _with(
        self,
        generation: int,
        exclusions: Callable[[str], Mapping[int, int]],
        forgotten: Mapping[str, int],
    ) -> Marks:
        return Marks.put_together(generation, exclusions, forgotten, self.lineage.entries)


@dataclass(frozen=True, slots=True)
class VoidTurns:
    """Turns of a session, by the numbers that people count them by, with replies that are void."""

    session_id: str
    turns: tuple[int, ...]
    is_live: bool = False


@dataclass(frozen=True, slots=True)
class Consequences:
    """What nobody sees any more: `n_void` replies and results of tools, and facts without them.

    `summaries` names the working summaries that fall with what they cover, and seeds, which are
    copies of such.
    """

    void: tuple[VoidTurns, ...] = ()
    n_void: int = 0
    silenced: tuple[str, ...] = ()
    summaries: tuple[str, ...] = ()


def marks_now(memory: ProjectMemory) -> Marks:
    """The marks that are there now."""
    facts = memory.stores.facts
    forgotten = {fact_id: one.generation for fact_id, one in facts.forgotten().items()}
    return Marks.put_together(
        facts.generation(), facts.exclusions, forgotten, memory.histories.entries
    )


def consequences(
    memory: ProjectMemory, before: Marks, after: Marks, *, but: Iterable[str] = ()
) -> Consequences:
    """What can't be seen any more under `after`, and could under `before`.

    Args:
        memory: the project's.
        before: the marks before.
        after: those after.
        but: facts that aren't asked about: the forgotten ones themselves.
    """
    void: list[VoidTurns] = []
    lost: dict[str, set[int]] = {}
    summaries: list[str] = []
    n_void = 0
    for session_id in memory.stores.sessions.ids():
        try:
            history = memory.histories.of(session_id)
        except MemnbError:
            continue
        gone = _newly_hidden(history, before, after)
        if not gone:
            continue
        lost[session_id] = gone
        summaries += _summaries(history, gone)
        replies = [entry for entry in history.entries if _is_reply(entry.type, entry.seq, gone)]
        n_void += len(replies)
        numbers = visibility.turn_numbers(history.entries)
        turns = sorted({numbers[entry.turn] for entry in replies if entry.turn in numbers})
        if turns:
            is_live = session_id == memory.session.session_id
            void.append(VoidTurns(session_id, tuple(turns), is_live))
    silenced = _silenced(memory, before, lost, frozenset(but))
    return Consequences(tuple(void), n_void, silenced, tuple(summaries))


def _summaries(history: History, gone: set[int]) -> list[str]:
    """The summaries and the seed among the records that are gone."""
    # A session that can't be read has no records, whatever is excluded of it.
    there = (seq for seq in sorted(gone) if seq <= len(history.entries))
    kinds = {seq: history.entries.kind(seq) for seq in there}
    return [
        f"{history.session_id}:{seq}"
        for seq, kind in kinds.items()
        if kind.type == "compact" or (kind.type == "user" and ANY_FACT in kind.carried)
    ]


def _is_reply(type_: str, seq: int, gone: set[int]) -> bool:
    return type_ in GENERATED and seq in gone


def _newly_hidden(history: History, before: Marks, after: Marks) -> set[int]:
    seen, rest = before.of(history).hidden, after.of(history).hidden
    # A session may be long, and most have nothing to do with it.
    return set() if seen.marks == rest.marks else {seq for seq in rest if seq not in seen}


def _silenced(
    memory: ProjectMemory, before: Marks, lost: Mapping[str, set[int]], but: frozenset[str]
) -> tuple[str, ...]:
    """Facts of which the wording that holds now cites a record that was lost."""
    stores = memory.stores
    found: dict[str, None] = {}
    for session_id, seqs in lost.items():
        found.update(dict.fromkeys(stores.facts.citing(session_id, sorted(seqs))))
    return tuple(
        fact.fact_id
        for fact in stores.facts.facts([one for one in found if one not in but], at=stores.now())
        if any(
            seq in lost.get(source.ref.session_id, ())
            for source in fact.current.sources
            for seq in source.ref.seqs
        )
        and _was_seen(memory, before, [source.ref for source in fact.current.sources])
    )


def _was_seen(memory: ProjectMemory, before: Marks, refs: Iterable[SourceRef]) -> bool:
    """Whether the evidence could be seen before: what was silent already doesn't fall silent."""
    try:
        return all(
            before.of(memory.histories.of(ref.session_id)).shows(seq, "durable")
            for ref in refs
            for seq in ref.seqs
        )
    except MemnbError:
        return False
