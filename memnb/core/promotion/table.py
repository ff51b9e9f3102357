"""The table of rules: what each reads, with sentences that it reads and that it must not read.

1. Exclusive: how long replies are, in which language they are, in which language code is written,
   how tests are run by default, the package manager of each ecosystem, each choice of code style.
2. Side by side: what is preferred otherwise, and what is said of the project itself.
3. The first rule that reads a sentence decides. Rows aren't changed: see `forms`.
"""

from __future__ import annotations

from typing import Final

from memnb.core.promotion.choice_rules import CHOICE_RULES
from memnb.core.promotion.code_rules import CODE_RULES
from memnb.core.promotion.forms import Rule
from memnb.core.promotion.project_rules import PROJECT_RULES
from memnb.core.promotion.reply_rules import REPLY_RULES

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = (*REPLY_RULES, *CODE_RULES, *PROJECT_RULES, *CHOICE_RULES)
"""Every rule, in order."""
