"""Automatic recall: is it silent when nothing fits, and what does it bring when something does?

For each set, by messages that are questions:

    off topic     the questions of another memory, which this one can't answer: a block is wrong
    answered      questions that something answers: is there a block, and does it hold the evidence?
    unanswered    questions about what was spoken of that nothing answers; a block is no mistake

and requests to a notebook, which none of these memories is about, and small talk, for which nothing
may be looked for at all. There is nothing to compare it with but a block that always comes: the
five best passages, whatever they share with the message.

Times are the processor's: nothing else is waited for, and others may run beside it.

Data lie in the folder that MEMNB_DATA names; absent sets are skipped with a message.

    python benchmarks/reminding.py [SET …] [--most N] [--json FILE]

`--most N`: so many memories of each set.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

import precision_sets
import recall_measures
import recall_sets
import report
from memnb.core import recall_block
from memnb.core.bodies import Part
from memnb.core.passages import Passage
from memnb.core.query import Query, understand
from memnb.core.ranking import Candidates, rank
from memnb.core.recall_block import Recall, Wording
from memnb.core.recall_gate import Gate, asked
from memnb.memory import reminding
from memnb.storage import passage_table

SETS = {
    **{name: recall_sets.SETS[name] for name in ("longmemeval", "locomo", "beam")},
    "precisionmembench": ("PrecisionMemBench", lambda data: precisionmembench(data)),
}
FENCE = "data-3f9ac105"
SILENT = 0.95
MOST_MS = 10

SMALL_TALK = """
Hello there!
Good morning, how are you today?
Hi, thanks for your help yesterday.
Thanks a lot, that was great!
ok, please go on
Yes, do that again.
No, not like that.
And what about the second one?
Why is that so?
Can you say that again please?
That looks good to me.
Great, thank you very much!
Wait, stop.
Good night, see you tomorrow.
Are you sure about that?
Danke, das war gut!
Guten Morgen, wie geht es dir?
Bonjour, ça va bien?
Hola, buenos días
%memory facts
!ls -la
What do you think?
I don't understand.
Please try once more.
""".strip().splitlines()

REQUESTS = """
Plot the revenue by month as a bar chart.
Load orders.csv into a dataframe and show its first rows.
Write a function that returns the median of a list of numbers.
Explain what a left join does in SQL.
Why does this cell raise a KeyError for the column price?
Drop all rows with missing values in the target column.
Fit a logistic regression and print the confusion matrix.
How do I convert a column of strings to datetimes in pandas?
Rename the columns to snake case.
Compute the correlation between price and demand.
Split the data into train and test sets by date.
Make the font of the axis labels larger.
Which version of numpy is installed in this environment?
Profile this function, it is too slow.
Write a unit test for parse_invoice.
Merge the two tables on the customer id.
Save the figure as a PNG with 300 dpi.
Show me the distribution of delivery times per warehouse.
Refactor the loop into a vectorised expression.
Encode the categorical columns with one-hot encoding.
Normalise the features before clustering them with k-means.
Sort the countries by churn rate, highest first.
Turn this notebook into a script with command line arguments.
What does the p-value of this t-test mean?
""".strip().splitlines()


@dataclass(frozen=True)
class Sent:
    """What one message was sent with."""

    set: str
    kind: str
    question: str
    text: str
    recall: Recall
    always: Sequence[str]
    gold: frozenset[str]
    ms: float

    @property
    def is_there(self) -> bool:
        return bool(self.recall.text)

    @property
    def held(self) -> float:
        """Whether the block holds something of what answers the question."""
        return float(any(one in self.gold for one in self.recall.carried))

    @property
    def share(self) -> float:
        """How much of what answers the question it holds."""
        return len(self.gold & set(self.recall.carried)) / len(self.gold)

    @property
    def precision(self) -> float:
        """How much of what it holds answers the question."""
        carried = self.recall.carried
        return sum(one in self.gold for one in carried) / len(carried)


def precisionmembench(data: Path) -> Iterator[recall_sets.Memory]:
    """A memory for each case: its facts that hold and are of its scope, but those always sent."""
    folder = data / "precisionmembench"
    beliefs = precision_sets.read(folder).rows.values()
    for case in precision_sets.loaded(folder, "retrieval.cases.json"):
        person, scope = case.get("userId", precision_sets.PERSON), set(case["scope"])
        held = [row for row in beliefs if row["user_id"] == person and scope & set(row["scope"])]
        memory = recall_sets.Memory(case["caseId"])
        for row in held:
            if precision_sets.holds(row) and precision_sets.is_recalled(row):
                memory.passages.append(precision_sets.passage(row))
        wanted = case["expect"].get("relevantBeliefs", {}).get("shouldOnlyInclude", ())
        gold = frozenset(one.reference for one in memory.passages if one.name in wanted)
        memory.questions.append(
            recall_sets.Question(
                case["caseId"],
                case["category"],
                case["query"],
                precision_sets.NOW,
                gold,
                answerable=bool(gold),
            )
        )
        yield memory


def sent(name: str, kind: str, question: recall_sets.Question, connection: Any) -> Sent:
    began = time.thread_time()
    text = asked([Part("typed", question.text)])
    recall, always = recall_block.NO_RECALL, list[str]()
    if text:
        query = understand(text, question.now)
        candidates = reminding.proposed(connection, query)
        ranked = rank(query, candidates, now=question.now)[: reminding.CONSIDERED]
        recall = recall_block.compose(
            ranked,
            Gate(query, candidates).fits,
            reading(query, candidates),
            fence=FENCE,
            room=recall_block.MAX_BYTES,
        )
        always = [one.passage.reference for one in ranked[: recall_block.MAX_PASSAGES]]
    ms = (time.thread_time() - began) * 1000
    return Sent(name, kind, question.id, question.text, recall, always, question.gold, ms)


def reading(query: Query, candidates: Candidates) -> Callable[[Passage], Wording]:
    places = reminding.Places(query, candidates)
    return lambda passage: Wording(passage.text, places.of(passage.text))


def of_set(name: str, most: int | None) -> list[Sent]:
    memories = list(SETS[name][1](recall_sets.DATA))
    if most is not None:
        memories = memories[:: max(1, len(memories) // most)][:most]
    strange = {one.name: one.questions for one in recall_sets.elsewhere(memories)}
    if name == "precisionmembench":  # all are about the same facts
        strange = {}
    found = []
    for memory in memories:
        connection = apsw.Connection(":memory:")
        passage_table.create(connection)
        with connection:
            passage_table.put(connection, memory.passages)
        for question in memory.questions:
            kind = "answered" if question.answerable else "unanswered"
            if question.gold or not question.answerable:
                found.append(sent(name, kind, question, connection))
        found += [sent(name, "off topic", one, connection) for one in strange.get(memory.name, ())]
        last = max((one.at for one in memory.passages), default=precision_sets.NOW)
        requests = (recall_sets.Question(text, "", text, last) for text in REQUESTS)
        found += [sent(name, "request", one, connection) for one in requests]
        connection.close()
    return found


def rows(title: str, items: Sequence[Sent]) -> list[report.Row]:
    def of(kind: str) -> list[Sent]:
        return [item for item in items if item.kind == kind]

    def mean(values: Sequence[float]) -> float:
        return recall_measures.figure(values).mean

    strange, requests = of("off topic"), of("request")
    answered, unanswered = of("answered"), of("unanswered")
    there = [item for item in answered if item.is_there]
    always = [float(any(one in item.gold for one in item.always)) for item in answered]
    n_bytes = [item.recall.n_bytes for item in there]
    ms = [item.ms for item in items]
    found = [
        *([silence(f"{title}: off topic", strange)] if strange else []),
        silence(f"{title}: requests", requests),
        report.Row(
            f"{title}: answered, a block ({len(answered)})",
            mean([float(item.is_there) for item in answered]),
            None,
            "share",
        ),
        report.Row(
            f"{title}: answered, with evidence",
            mean([item.held for item in answered]),
            mean(always),
            "share; beside: always five",
        ),
        report.Row(f"{title}: of the evidence", mean([i.share for i in answered]), None, "share"),
        report.Row(f"{title}: blocks with evidence", mean([i.held for i in there]), None, "share"),
        report.Row(f"{title}: precision", mean([i.precision for i in there]), None, "share"),
        report.Row(f"{title}: bytes of a block, mean", mean(n_bytes), None, "bytes"),
        report.Row(f"{title}: time, p50", report.percentile(ms, 50), None, "ms", f"≤ {MOST_MS}"),
        report.Row(f"{title}: time, p99", report.percentile(ms, 99), None, "ms"),
    ]
    if unanswered:
        found.append(silence(f"{title}: unanswered", unanswered, target=False))
    return found


def silence(name: str, items: Sequence[Sent], *, target: bool = True) -> report.Row:
    figure = recall_measures.figure([float(not item.is_there) for item in items]).mean
    is_met = figure >= SILENT if target else None
    aim = f"≥ {SILENT}" if target else ""
    return report.Row(f"{name}, nothing ({len(items)})", figure, None, "share", aim, is_met)


def small_talk() -> report.Row:
    looked_for = [text for text in SMALL_TALK if asked([Part("typed", text)])]
    if looked_for:
        print("looked for:", *looked_for, sep="\n  ")
    figure = 1 - len(looked_for) / len(SMALL_TALK)
    name = f"small talk and commands, nothing ({len(SMALL_TALK)})"
    return report.Row(name, figure, None, "share", "1", not looked_for)


def main() -> None:
    arguments = sys.argv[1:]
    most = int(arguments[arguments.index("--most") + 1]) if "--most" in arguments else None
    wanted = [name for name in SETS if name in arguments] or list(SETS)
    shown, items = [small_talk()], list[Sent]()
    for name in wanted:
        if not recall_sets.is_there(name):
            print(f"skipped {name}: not in {recall_sets.DATA} (set MEMNB_DATA)")
            continue
        found = of_set(name, most)
        shown += rows(SETS[name][0], found)
        items += found
    report.show("Automatic recall", shown, items=[item_value(item) for item in items])


def item_value(item: Sent) -> dict[str, Any]:
    """What is kept of each question; no text of a set."""
    return {
        "set": item.set,
        "question": item.question,
        "kind": item.kind,
        "n_bytes": item.recall.n_bytes,
        "carried": item.recall.carried,
        "held": item.held,
        "ms": round(item.ms, 2),
    }


if __name__ == "__main__":
    main()
