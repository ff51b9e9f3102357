"""What kernels promised: every line they said before the fault, and what may be so without one.

A kernel says `did` after an operation returned: then it is acknowledged, and must be there for
ever. It says `begins` before one that takes something away or replaces it: then both states are
allowed until it is acknowledged, and nothing in between.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

Line = dict[str, Any]


@dataclass
class FactPromise:
    """A fact that somebody was told of."""

    revisions: dict[int, str] = field(default_factory=dict)
    """Acknowledged: this revision has this text."""
    begun: set[str] = field(default_factory=set)
    """What a correction may have made of it."""
    may_be_forgotten: bool = False
    must_be_forgotten: bool = False


@dataclass
class Ledger:
    """All promises of all kernels of one store."""

    messages: dict[tuple[str, int], str] = field(default_factory=dict)
    """Session and number of a message → its text; its exchange was answered, too."""
    records: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Session and type → how many records at least."""
    facts: dict[str, FactPromise] = field(default_factory=dict)
    log: set[str] = field(default_factory=set)
    """Lines that were appended to a note."""
    pages: dict[str, int] = field(default_factory=dict)
    """Writer of a note → the last number it wrote for sure."""
    pages_begun: set[tuple[str, int]] = field(default_factory=set)
    may_be_blank: set[tuple[str, int]] = field(default_factory=set)
    """Records of which a purge may have blanked the bodies."""
    must_be_blank: set[tuple[str, int]] = field(default_factory=set)
    purges: list[frozenset[tuple[str, int]]] = field(default_factory=list)
    """Purges that were begun: each blanked all of its records, or none."""
    generations: list[int] = field(default_factory=list)
    refusals: list[tuple[str, str]] = field(default_factory=list)
    """Errors of memnb that a kernel met: type and message."""
    crashes: list[str] = field(default_factory=list)
    """What else a kernel met: never allowed."""
    n_acknowledged: int = 0

    def fact(self, fact_id: str) -> FactPromise:
        """The promise about a fact."""
        return self.facts.setdefault(fact_id, FactPromise())

    def take(self, line: Line, *, before_fault: bool = True) -> None:
        """Take in what a kernel said.

        Args:
            line: what it said.
            before_fault: it was heard before the fault. Afterwards an acknowledgement is worth
                nothing; it tells only that the operation had begun.
        """
        if "refused" in line:
            if before_fault:
                self.refusals.append((line["refused"], line["message"]))
        elif "crashed" in line:
            self.crashes.append(line["crashed"])
        elif "wrong" in line:
            return  # what a harness found itself
        elif "begins" in line or not before_fault:
            self._begun(line)
        else:
            self.n_acknowledged += 1
            getattr(self, f"_did_{line['did']}")(line)

    def _begun(self, line: Line) -> None:
        operation = line.get("begins", line.get("did"))
        if operation == "correct":
            self.fact(line["fact"]).begun.add(line["text"])
        elif operation == "forget":
            self.fact(line["fact"]).may_be_forgotten = True
        elif operation == "replace":
            self.pages_begun.add((line["by"], line["number"]))
        elif operation == "purge":
            self.may_be_blank.update(_places(line))
            self.purges.append(frozenset(_places(line)))

    def _did_open(self, line: Line) -> None:
        self.n_acknowledged -= 1  # opening promises nothing

    def _did_search(self, line: Line) -> None:
        del line
        self.n_acknowledged -= 1  # nor does searching

    def _did_ask(self, line: Line) -> None:
        self.messages[line["session"], line["seq"]] = line["text"]

    def _did_record(self, line: Line) -> None:
        self.records[line["session"], line["type"]] += 1

    def _did_remember(self, line: Line) -> None:
        self.fact(line["fact"]).revisions[line["revision"]] = line["text"]

    def _did_correct(self, line: Line) -> None:
        self.fact(line["fact"]).revisions[line["revision"]] = line["text"]

    def _did_forget(self, line: Line) -> None:
        promise = self.fact(line["fact"])
        promise.may_be_forgotten = promise.must_be_forgotten = True
        if line["generation"] is not None:
            self.generations.append(line["generation"])

    def _did_purge(self, line: Line) -> None:
        self.may_be_blank.update(_places(line))
        self.must_be_blank.update(_places(line))

    def _did_append(self, line: Line) -> None:
        self.log.add(line["line"])

    def _did_replace(self, line: Line) -> None:
        self.pages_begun.add((line["by"], line["number"]))
        self.pages[line["by"]] = line["number"]


def _places(line: Line) -> list[tuple[str, int]]:
    return [(session_id, seq) for session_id, seq in line["records"]]


def parsed(data: bytes) -> list[Line]:
    """The whole lines in what a kernel said; the last may have been cut by its death."""
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


def heard(text: str) -> Ledger:
    """What was promised in all that a kernel said."""
    ledger = Ledger()
    for line in parsed(text.encode()):
        ledger.take(line)
    return ledger
