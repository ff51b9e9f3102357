"""The door before every writer: what a text holds that must not be kept, or wants a second look.

1. Secrets are refused, or masked in a transcript, and never repeated: a finding holds a rule and a
   place, no text.
2. Hidden characters are refused: what a person can't see they can't have approved.
3. Phrases that address the model are labelled and refuse nothing. Who wrote a text decides what it
   may become; patterns are hints.
4. Time is linear in the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from memnb.core.hidden_text import hidden_spans, stacked_marks
from memnb.core.injection_hints import injection_hints
from memnb.core.lookalikes import lookalikes
from memnb.core.secret_search import secret_spans
from memnb.errors import HiddenText, SecretFound

__all__ = ["Clean", "Finding", "FindingKind", "Findings", "mask", "require_clean", "screen"]

FindingKind = Literal["secret", "hidden", "injection"]
"""`secret` and `hidden` refuse a write, `injection` only labels it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One place of a screened text: what is there, by which rule, in code points, end exclusive."""

    kind: FindingKind
    rule: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Clean:
    """Nothing was found."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found, by place."""

    findings: tuple[Finding, ...]


def screen(text: str) -> Clean | Findings:
    """All that is wrong with `text`, by place; overlaps are possible between kinds."""
    found = [*_secrets(text), *_hidden(text), *_injections(text)]
    found.sort(key=lambda finding: (finding.start, finding.end))
    return Findings(tuple(found)) if found else Clean()


def require_clean(text: str, what: str) -> None:
    """Return only if `text` may be written.

    Args:
        text: What is about to be written.
        what: Its name in the message, as the start of a sentence: `The fact`.

    Raises:
        SecretFound: It holds what looks like a credential.
        HiddenText: It holds a character that a reader doesn't see or takes for another; the
            message counts positions from 1.
    """
    for finding in _secrets(text):
        raise SecretFound(
            f"{what} holds what looks like a secret ({finding.rule}): store the name of the "
            "environment variable or vault entry that holds it instead."
        )
    for finding in sorted(_hidden(text), key=lambda finding: finding.start):
        code_point = ord(text[finding.start])
        raise HiddenText(
            f"{what} holds a hidden or look-alike character ({finding.rule}: U+{code_point:04X} "
            f"at position {finding.start + 1}): retype it."
        )


def mask(text: str, *, before: str = "") -> tuple[str, tuple[str, ...]]:
    """`text` with every secret replaced by `⟦secret: rule⟧`, and the rules in order of place.

    Masking a masked text changes nothing.

    Args:
        text: what is masked.
        before: what stands right before it elsewhere; a secret may begin there.
    """
    pieces: list[str] = []
    rules: list[str] = []
    end = 0
    for secret in secret_spans(before + text):
        if secret.end <= len(before):
            continue
        start = max(secret.start - len(before), 0)
        pieces += (text[end:start], f"⟦secret: {secret.rule}⟧")
        rules.append(secret.rule)
        end = secret.end - len(before)
    pieces.append(text[end:])
    return "".join(pieces), tuple(rules)


def _secrets(text: str) -> Iterator[Finding]:
    for secret in secret_spans(text):
        yield Finding("secret", secret.rule, secret.start, secret.end)


def _hidden(text: str) -> Iterator[Finding]:
    for spans in (hidden_spans(text), stacked_marks(text), lookalikes(text)):
        for span in spans:
            yield Finding("hidden", span.rule, span.start, span.end)


def _injections(text: str) -> Iterator[Finding]:
    for hint in injection_hints(text):
        yield Finding("injection", hint.rule, hint.start, hint.end)
