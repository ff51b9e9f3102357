"""What a sentence says in canonical form, and whether a rule still makes a text of its sources."""

from __future__ import annotations

from memnb.core.promotion.forms import Form, contradicts
from memnb.core.promotion.recognising import canonical, may_say, reproduced

__all__ = ["Form", "canonical", "contradicts", "may_say", "reproduced"]
