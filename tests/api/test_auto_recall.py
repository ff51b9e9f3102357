from __future__ import annotations

import memnb
from memories import saying

CHOSEN = "The churn alarm threshold is 0.35 from now on."
ASKED = "Which threshold did we choose for the churn alarm?"


def asked(memory: memnb.Memory) -> str:
    """What the model is sent for the question in a new session."""
    model = saying("0.35")
    memory.ask(ASKED, model=model)
    return model.requests[0].messages[-1].text


def test_what_fits_a_message_comes_with_it_unless_it_is_switched_off(memory: memnb.Memory) -> None:
    memory.ask(CHOSEN, model=saying("Noted."))
    memory.new()
    memory.search("anything")  # brings the index up to date, as the kernel does between cells
    assert CHOSEN in asked(memory)
    memory.new()
    memory.config("memory.auto_recall", "off")
    assert CHOSEN not in asked(memory)
    assert "nothing was recalled: memory.auto_recall is off" in str(memory.why())
    memory.ask(ASKED, model=saying("0.35"), memory=False)
    assert "nothing was recalled: memory isn't read in this turn" in str(memory.why())


def test_why_shows_what_came(memory: memnb.Memory) -> None:
    memory.ask(CHOSEN, model=saying("Noted."))
    memory.new()
    memory.search("anything")
    asked(memory)
    shown = str(memory.why())
    assert CHOSEN in shown
    assert "score" in shown
