"""What a sentence says in canonical form, and whether a rule still makes a text of its sources."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from memnb.core.promotion.forms import Form, plain
from memnb.core.promotion.table import RULES

__all__ = ["canonical", "may_say", "reproduced"]

_BY_REFERENCE: Final = {rule.reference: rule for rule in RULES}
_VERSIONS: Final = {rule.name: rule for rule in sorted(RULES, key=lambda rule: rule.version)}
_NEWEST: Final = tuple(_VERSIONS[name] for name in dict.fromkeys(rule.name for rule in RULES))


def canonical(sentence: str) -> Form | None:
    """The one form of a sentence, by the first rule that reads it; None when none does."""
    for rule in _NEWEST:
        form = rule.form(sentence)
        if form is not None:
            return form
    return None


def may_say(text: str, categories: Collection[str]) -> bool:
    """Whether any sentence of a text may be about one of these; a look that costs little."""
    text = plain(text)
    return any(rule.is_about(text) for rule in _NEWEST if rule.category in categories)


def reproduced(rule: str | None, texts: Sequence[str]) -> str | None:
    """The text that a rule, named `name@version`, makes of every one of these sentences.

    None when there is no such rule or sentence, it reads one of them as nothing, or makes
    different texts of them.
    """
    named = _BY_REFERENCE.get(rule or "")
    if named is None or not texts:
        return None
    forms = [named.form(text) for text in texts]
    made = {None if form is None else form.text for form in forms}
    return made.pop() if len(made) == 1 else None
