"""What a person states in a command: recorded as their words, kept as a fact that cites them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memnb.core.bodies import NO_CELL, Cell, Part, UserBody, Via
from memnb.core.facts import Kind, Quote, Scope, Source
from memnb.core.screening import require_clean
from memnb.memory import disputes, remembering
from memnb.memory.project_memory import ProjectMemory
from memnb.memory.remembering import Claim, Kept, check_claim_text

__all__ = ["Said", "confirm", "correct", "expire", "record", "remember"]


@dataclass(frozen=True, slots=True)
class Said:
    """A command exactly as typed, how it came, and from which cell."""

    text: str
    via: Via = "command"
    cell: Cell = NO_CELL


def remember(
    memory: ProjectMemory,
    text: str,
    said: Said,
    *,
    kind: Kind = "convention",
    scope: Scope = "project",
    valid_from: str | None = None,
    valid_to: str | None = None,
    derived_from: tuple[str, ...] = (),
    evidence: Sequence[Source] = (),
    again: bool = False,
) -> Kept:
    """Keep what a person states; screened before anything is written.

    Raises:
        InvalidText, SecretFound, HiddenText: nothing was written.
        Refused: the text was forgotten, and `again` isn't set.
    """
    text = check_claim_text(text)
    with memory.stores.facts.snapshot():
        known = remembering.check_claim(
            memory.stores,
            memory.validator,
            text,
            derived_from=derived_from,
            valid_from=valid_from,
            valid_to=valid_to,
            again=again,
        )
        generation = memory.stores.facts.generation()
    if known is not None:
        return known
    source = record(memory, text, said, generation=generation)
    claim = Claim(
        text, "statement", (source, *evidence), "person", valid_from, valid_to, derived_from
    )
    return remembering.remember(
        memory.stores,
        memory.validator,
        claim,
        kind=kind,
        scope=scope,
        head=memory.session.chain_head,
        again=again,
    )


def correct(
    memory: ProjectMemory,
    fact_id: str,
    text: str,
    said: Said,
    *,
    expected_revision: int,
    evidence: Sequence[Source] = (),
    valid_from: str | None = None,
) -> Kept:
    """Correct a fact by what a person states; `evidence` adds records that they point at.

    Raises:
        As `remember`, and UnknownId, RevisionChanged, SourceNotValid.
    """
    text = check_claim_text(text)
    with memory.stores.facts.snapshot():
        remembering.check_correction(
            memory.stores, fact_id, text, expected_revision=expected_revision, valid_from=valid_from
        )
        generation = memory.stores.facts.generation()
    source = record(memory, text, said, generation=generation)
    claim = Claim(text, "statement", (source, *evidence), "person", valid_from)
    return remembering.correct(
        memory.stores,
        memory.validator,
        fact_id,
        claim,
        expected_revision=expected_revision,
        head=memory.session.chain_head,
    )


def expire(memory: ProjectMemory, fact_id: str, at: str, said: Said) -> Kept:
    """End a fact at a UTC stamp, as a person says.

    Raises:
        UnknownId, SourceNotValid, InputError: nothing was written.
    """
    remembering.check_expiry(memory.stores, memory.validator, fact_id, at)
    return remembering.expire(
        memory.stores,
        memory.validator,
        fact_id,
        at,
        _command(memory, said),
        head=memory.session.chain_head,
    )


def confirm(memory: ProjectMemory, fact_id: str, said: Said) -> Kept:
    """Take a fact that is held into use again, since a person says that it is still so.

    What contradicts it ends.

    Raises:
        UnknownId: nothing was written.
    """
    known = remembering.check_confirmation(memory.stores, fact_id)
    if known is not None:
        return known
    command = _command(memory, said)
    if disputes.is_disputed(remembering.require_fact(memory.stores, fact_id)):
        return disputes.resolve(
            memory.stores, memory.validator, fact_id, command, head=memory.session.chain_head
        )
    return remembering.confirm(memory.stores, fact_id, head=memory.session.chain_head)


def record(
    memory: ProjectMemory, text: str, said: Said, *, generation: int | None = None
) -> Source:
    """Record a command, and point at `text` in it.

    Args:
        memory: the project's.
        text: what the fact will say.
        said: the command.
        generation: the present one, when it is known; every look at it may cost a check.

    Raises:
        SecretFound, HiddenText: the command holds what must not be stored.
    """
    start = said.text.rfind(text)
    source = _command(memory, said, None if start >= 0 else text, generation)
    (seq,), start = source.ref.seqs, max(start, 0)
    return replace(source, quote=Quote(seq, 0, start, start + len(text)))


def _command(
    memory: ProjectMemory, said: Said, instead: str | None = None, generation: int | None = None
) -> Source:
    """Record a command as it was typed, or `instead`, and point at all of it."""
    require_clean(said.text, "a command")
    typed = said.text if instead is None else instead
    body = UserBody(said.via, (Part("typed", typed),), asks=False, cell=said.cell)
    (seq,) = memory.session.append(body.draft(), generation=generation)
    with memory.stores.facts.snapshot():
        ref = memory.validator.source_ref(memory.session.session_id or "", [seq])
    return Source(memory.stores.store_id, ref)
