"""The tools of memory: those that read it, and those with which a model proposes to change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from memnb.agent.quoting import Found, TypedMessages, find_quote
from memnb.agent.reading_tools import ReadingTools
from memnb.agent.tools import Change, Plan, Tool, ToolResult, tool
from memnb.core.candidates import Candidate
from memnb.core.facts import Fact, Kind
from memnb.core.note_names import NoteName
from memnb.core.permissions import ChangeKind
from memnb.errors import NotTheirWords
from memnb.memory import noting, queueing, recall, receipts, remembering
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.remembering import Claim, Kept, require_fact

__all__ = ["MemoryTools"]

_MOST_PLACES: Final = 5
CERTAIN: Final = 1000
"""In thousandths: a model that saves something doesn't say how sure it is."""

RememberedKind = Literal["preference", "convention", "decision", "observation"]


@dataclass(frozen=True, slots=True)
class MemoryTools:
    """Memory as tools of one turn.

    Args:
        memory: the project's.
        typed: what the person typed in this session and can be seen, newest first.
        generation: the generation that the request was made under.
        turn: the record of the message that is answered: from there on a search finds nothing.
        max_bytes: the most that a result may put before the model.
    """

    memory: ProjectMemory
    typed: TypedMessages
    generation: int
    turn: int = 0
    max_bytes: int = recall.MAX_BYTES

    def tools(self) -> tuple[Tool, ...]:
        """All of them."""
        return (
            tool(self.memory_remember, access="write", trust="memory"),
            *ReadingTools(self.memory, self.turn, self.max_bytes).tools(),
            tool(self.memory_correct, access="write", trust="memory"),
            tool(self.memory_forget, access="write", trust="memory"),
            tool(self.memory_write, access="write", trust="memory", recorded_first=True),
            tool(self.memory_edit, access="write", trust="memory", recorded_first=True),
        )

    def memory_remember(
        self,
        text: Annotated[str, "exactly as the person typed it"],
        kind: RememberedKind = "convention",
    ) -> Plan:
        """Save one lasting preference, convention or decision that the person stated.

        `text` must be copied exactly from the person's own message.
        """
        text = remembering.check_claim_text(text)
        quote = find_quote(self.typed, text)
        if quote is None:
            raise NotTheirWords(
                "nothing was kept: the text must be an exact span of what the person typed."
            )

        def apply() -> ToolResult:
            source = quote.source(self.memory.validator, self.memory.stores.store_id)
            kept = remembering.remember(
                self.memory.stores,
                self.memory.validator,
                Claim(text, "quote", (source,), "agent"),
                kind=kind,
                head=self.memory.session.chain_head,
                expected_generation=self.generation,
            )
            return _kept(kept)

        change: ChangeKind = "remember_quote" if quote.is_sentence else "remember_part"
        return Plan(
            apply,
            Change(change, f"remember this {kind}", quote.shown(text)),
            lambda: self._propose(text, kind, quote),
        )

    def memory_correct(self, fact_id: str, revision: int, text: str) -> Plan:
        """Replace the text of one fact by what the person says it is now.

        `revision` is the fact's present one; `text` is best an exact span of the person's message.
        """
        text = remembering.check_claim_text(text)
        fact = require_fact(self.memory.stores, fact_id)
        quote = find_quote(self.typed, text)
        if quote is None:
            raise NotTheirWords(
                "nothing was changed: a correction must be an exact span of what the person typed."
            )

        def apply() -> ToolResult:
            source = quote.source(self.memory.validator, self.memory.stores.store_id)
            kept = remembering.correct(
                self.memory.stores,
                self.memory.validator,
                fact_id,
                Claim(text, "quote", (source,), "agent"),
                expected_revision=revision,
                head=self.memory.session.chain_head,
                expected_generation=self.generation,
            )
            reference = kept.reference
            return ToolResult(
                f"corrected {fact_id}, now revision {kept.revision}", remembered=(reference,)
            )

        preview = f"{self._wordings(fact)}\n→ {quote.shown(text)}"
        change = Change(
            "correct_quote" if quote.is_sentence else "correct_part",
            f"correct {fact_id}",
            preview,
            state=fact.current.reference,
        )
        return Plan(apply, change, lambda: self._propose(text, fact.kind, quote, fact))

    def memory_forget(self, fact_id: str) -> Plan:
        """Forget one fact and its sources for good, when the person asked for that."""
        fact = require_fact(self.memory.stores, fact_id)

        def apply() -> ToolResult:
            receipt = receipts.forget(self.memory, fact_id)
            places = receipt.still_held
            held = f"; still in: {', '.join(places[:_MOST_PLACES])}" if places else ""
            more = len(places) - _MOST_PLACES
            more_held = f" and {more} more places" if more > 0 else ""
            return ToolResult(f"forgot {fact_id}{held}{more_held}", forgot=True)

        change = Change(
            "forget", f"forget {fact_id} for good", self._wordings(fact), fact.current.reference
        )
        return Plan(apply, change)

    def memory_write(
        self, name: str, text: str, mode: Literal["append", "replace"] = "append"
    ) -> Plan:
        """Append to a note, or replace it: scratchpad, today, a named note, or MEMORY."""
        stores = self.memory.stores
        note_name = noting.find(stores, name)
        if mode == "append":
            noting.check_addition(text)
        else:
            noting.check_text(text)
        version = stores.notes.read(note_name).version if mode == "replace" else ""

        def apply() -> ToolResult:
            if mode == "append":
                noting.append(stores, note_name, text)
            else:
                noting.write(stores, note_name, text, version=version)
            return ToolResult(f"wrote {note_name.relative}")

        title = f"{mode} {'to ' if mode == 'append' else ''}{note_name.relative}"
        return Plan(apply, Change(_note_change(note_name), title, text, state=version))

    def memory_edit(self, name: str, old: str, new: str) -> Plan:
        """Replace one passage of a note; `old` must stand there exactly once."""
        stores = self.memory.stores
        note_name = noting.find(stores, name)
        note = stores.notes.read(note_name)
        noting.edited(note.text, old, new)

        def apply() -> ToolResult:
            noting.edit(stores, note_name, old, new, version=note.version)
            return ToolResult(f"edited {note_name.relative}")

        preview = f"- {old}\n+ {new}"
        change = Change(
            _note_change(note_name), f"edit {note_name.relative}", preview, state=note.version
        )
        return Plan(apply, change)

    def _propose(self, text: str, kind: Kind, quote: Found, against: Fact | None = None) -> str:
        """Let what the person typed wait for them; gives the id it waits by, "" when it can't."""
        memory = self.memory
        candidate = Candidate(
            text,
            kind,
            "quote",
            (quote.source(memory.validator, memory.stores.store_id),),
            "agent",
            CERTAIN,
            is_proposal=against is not None,
            conflicts=() if against is None else (against.current.reference,),
        )
        return queueing.queue(
            memory.stores,
            memory.validator,
            candidate,
            "tool",
            head=memory.session.chain_head,
            generation=self.generation,
        )

    def _wordings(self, fact: Fact) -> str:
        """What a fact says now and from a later day on, a line each."""
        now = self.memory.stores.now()
        intervals = [(one, fact.in_force(one)) for one in fact.revisions]
        texts = [one.text for one, interval in intervals if interval and interval.reaches(now)]
        return "\n".join(texts or [fact.current.text])


def _note_change(name: NoteName) -> Literal["write_note", "write_trusted_note"]:
    return "write_trusted_note" if name.is_trusted else "write_note"


def _kept(kept: Kept) -> ToolResult:
    if kept.outcome in ("new", "renewed"):
        return ToolResult(f"remembered {kept.fact_id}", remembered=(kept.reference,))
    if kept.outcome == "already":
        return ToolResult(f"already remembered as {kept.fact_id}")
    return ToolResult(f"not kept: {kept.fact_id} said that once and was corrected since")
