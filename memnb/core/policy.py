"""The policy: what becomes of a candidate. A model proposed it; this table disposes.

1. The first rule that holds decides, so a candidate counts once.
2. What is certain to be wrong is ignored, what a person should look at waits for them; only what
   no rule is about becomes a fact by itself. What only a file says always waits.
3. A preference or convention comes from nothing but words that a person typed. Extraction sees to
   that; it is checked here once more, since everything learned passes here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from memnb.core.candidates import (
    MAX_APPLIED,
    MIN_CONFIDENCE,
    REASONS,
    Candidate,
    Disposition,
    Reason,
)
from memnb.core.inbox import Ground
from memnb.core.permissions import Mode
from memnb.core.risks import is_about_another, risk_of
from memnb.core.screening import Findings, screen
from memnb.core.settings import LearningMode

__all__ = ["RULES", "Rule", "Situation", "Verdict", "decide", "learns"]

_TYPED: Final = frozenset({"preference", "convention", "decision"})
_TYPED_BASES: Final = frozenset({"quote", "statement", "canonical"})

Known = Literal["", "said", "renews"]
"""Whether a text is there: not; it is, or waits, or was refused; it is, but isn't in use."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What matters about a candidate besides the candidate.

    Args:
        mode: what is learned at all.
        agent_mode: what the agent may change.
        write_approval: whether every write waits for a person.
        is_forgotten: its text, or one within it, was forgotten.
        known: whether its text is there already.
        fits: whether the prompt has room for it.
        n_applied: how many of its run became facts already.
    """

    mode: LearningMode = "auto"
    agent_mode: Mode = "ask"
    write_approval: bool = False
    is_forgotten: bool = False
    known: Known = ""
    fits: bool = True
    n_applied: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a candidate, and on what ground; none when it is kept at once."""

    disposition: Disposition
    ground: Ground | None = None

    @property
    def reason(self) -> Reason | None:
        """The ground when it is one that is counted."""
        return next((reason for reason in REASONS if reason == self.ground), None)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: what it is about, and what becomes of a candidate for which it holds."""

    ground: Ground
    disposition: Disposition
    holds: Callable[[Candidate, Situation], bool]


def learns(mode: LearningMode, agent_mode: Mode) -> bool:
    """Whether anything is learned at all."""
    return mode != "off" and agent_mode != "readonly"


def _is_nobodys_words(candidate: Candidate, _: Situation) -> bool:
    """A preference from a file or a tool; a quote that isn't of one message."""
    if candidate.kind in _TYPED and candidate.basis not in _TYPED_BASES:
        return True
    if not candidate.sources:
        return True
    if candidate.basis not in ("quote", "statement"):
        return False
    (source, *more) = candidate.sources
    return bool(more) or source.quote is None or source.ref.seqs != (source.quote.seq,)


def _finds(text: str, *kinds: str) -> bool:
    found = screen(text)
    return isinstance(found, Findings) and any(one.kind in kinds for one in found.findings)


RULES: Final[tuple[Rule, ...]] = (
    Rule("invalid_preference_source", "ignore", _is_nobodys_words),
    Rule("forgotten", "ignore", lambda _, now: now.is_forgotten),
    Rule("screened", "ignore", lambda one, _: _finds(one.text, "secret", "hidden")),
    Rule("duplicate", "ignore", lambda _, now: now.known == "said"),
    Rule("screened", "review", lambda one, _: _finds(one.text, "injection")),
    Rule("third_party", "review", lambda one, _: is_about_another(one.text)),
    Rule("risk", "review", lambda one, _: risk_of(one.text) is not None),
    Rule("low_confidence", "review", lambda one, _: one.confidence < MIN_CONFIDENCE),
    Rule("temporary_preference", "review", lambda one, _: "temporary_preference" in one.reasons),
    Rule("file_line", "review", lambda one, _: one.basis == "file_line"),
    Rule("proposal", "review", lambda one, _: one.is_proposal or bool(one.reasons)),
    Rule("conflict", "review", lambda one, _: bool(one.conflicts) and one.origin != "promoted"),
    Rule("renewal", "review", lambda _, now: now.known == "renews"),
    Rule("over_budget", "review", lambda _, now: not now.fits),
    Rule("write_approval", "review", lambda _, now: now.write_approval),
    Rule("review_mode", "review", lambda _, now: now.mode != "auto"),
    Rule("run_cap", "review", lambda _, now: now.n_applied >= MAX_APPLIED),
)
"""Every rule, in order. Whatever none of them holds for is applied."""


def decide(candidate: Candidate, now: Situation) -> Verdict:
    """What becomes of a candidate."""
    if not learns(now.mode, now.agent_mode):
        return Verdict("ignore")
    for rule in RULES:
        if rule.holds(candidate, now):
            return Verdict(rule.disposition, rule.ground)
    return Verdict("apply")
