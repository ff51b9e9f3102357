from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.bodies import AssistantBody, Part, PartType, ToolBody, UserBody
from memnb.core.candidates import Candidate, Reason
from memnb.core.extraction import Judged, Supplied, SuppliedExchange, judge, numbered_spans
from memnb.core.extraction_replies import (
    SCHEMAS,
    Claimed,
    NumberedSpan,
    quoted_claims,
    selected_claims,
)
from memnb.core.facts import Quote
from memnb.core.messages import Call, Usage
from memnb.core.records import combined
from memnb.core.words import find_span, own_spans

TABS = "We use tabs for indentation in this repo."
LINE = 'requires-python = ">=3.12"'
FILE_FACT = 'pyproject.toml contains "requires-python = \\">=3.12\\""'
OUTPUT = f"pyproject.toml, lines 1 to 2 of 2\n1\t[project]\n2\t{LINE}\n"


def typed(*texts: str) -> UserBody:
    return UserBody("agent", tuple(Part("typed", text) for text in texts))


def parted(*parts: tuple[PartType, str]) -> UserBody:
    return UserBody("agent", tuple(Part(type_, text) for type_, text in parts))


def agent(text: str, *calls: Call) -> AssistantBody:
    return AssistantBody(text, calls, (), "m", {}, "calls" if calls else "end", Usage())


def exchange(message: UserBody, *rest: AssistantBody | ToolBody, turn: int = 2) -> SuppliedExchange:
    said = dict(enumerate((message, *rest), turn))
    return SuppliedExchange(turn, said, {seq: f"{seq:064x}" for seq in said})


def supplied(*exchanges: SuppliedExchange, facts: Mapping[str, str] | None = None) -> Supplied:
    return Supplied("S-1", "P-1", 3, exchanges, facts or {})


TALK = supplied(
    exchange(
        typed(f"Morning! {TABS} Plot it, please.\n```\nUse spaces.\n```\n> Use LF.\n"),
        agent("Use EUR."),
    ),
    exchange(
        typed("Which Python?"),
        agent("", Call("c1", "read_file", '{"path":"pyproject.toml"}')),
        ToolBody("c1", "read_file", True, OUTPUT, "file"),
        agent(FILE_FACT),
        turn=5,
    ),
    facts={"F-7k2m9q@2": "We use spaces."},
)


def item(**changes: Any) -> dict[str, Any]:
    """A candidate that keeps the contract, but for these fields; None takes one out."""
    text = changes.get("text", TABS)
    whole = {
        "text": text,
        "source_seqs": [2],
        "kind": "convention",
        "quote": text,
        "conflicts": [],
        "proposal": False,
        "confidence": 0.9,
    }
    return {key: value for key, value in {**whole, **changes}.items() if value is not None}


def file_item(**changes: Any) -> dict[str, Any]:
    seqs, quote = [5, 6, 7, 8], f"2\t{LINE}"
    return item(
        **{
            "text": FILE_FACT,
            "quote": quote,
            "kind": "project_fact",
            "source_seqs": seqs,
            **changes,
        }
    )


def judged(*items: Any, within: Supplied = TALK) -> Judged:
    claims = quoted_claims(json.dumps({"candidates": list(items)}))
    assert not isinstance(claims, str)
    return judge(claims, within)


def only(found: Judged) -> Candidate:
    (candidate,) = found.candidates
    assert not found.reasons
    return candidate


def quoted_text(candidate: Candidate, within: Supplied) -> str:
    quote = candidate.sources[0].quote
    assert quote is not None
    parts = next(one for one in within.exchanges if one.turn == quote.seq).message.parts
    return parts[quote.part].text[quote.start : quote.end]


# What is kept


def test_a_persons_own_words_become_a_candidate_that_points_at_them() -> None:
    found = only(judged(item()))
    assert (found.text, found.kind, found.basis, found.origin) == (
        TABS,
        "convention",
        "quote",
        "learned",
    )
    assert (found.confidence, found.is_proposal, found.conflicts) == (900, False, ())
    assert quoted_text(found, TALK) == TABS
    assert found.sources[0].ref.seqs == (2,)
    assert found.sources[0].ref.digest == combined([f"{2:064x}"])


@pytest.mark.parametrize("kind", ["preference", "convention", "decision"])
def test_the_kind_is_the_models_to_say(kind: str) -> None:
    assert only(judged(item(kind=kind))).kind == kind


def test_a_line_of_a_file_becomes_an_observation_that_rests_on_what_proves_it() -> None:
    found = only(judged(file_item()))
    assert (found.text, found.kind, found.basis) == (FILE_FACT, "observation", "file_line")
    assert found.sources[0].ref.seqs == (6, 7, 8)
    assert found.sources[0].quote is None
    assert found.is_proposal


def test_what_contradicts_a_supplied_fact_is_a_proposal() -> None:
    found = only(judged(item(conflicts=["F-7k2m9q@2"])))
    assert found.is_proposal
    assert found.conflicts == ("F-7k2m9q@2",)


def test_what_the_model_isnt_sure_of_is_a_proposal() -> None:
    assert only(judged(item(proposal=True))).is_proposal


def test_what_a_program_said_in_a_persons_place_is_a_proposal() -> None:
    api = supplied(exchange(replace(typed(TABS), via="api")))
    assert only(judged(item(), within=api)).is_proposal


@pytest.mark.parametrize(
    ("message", "text", "reasons"),
    [
        pytest.param("Only use tabs.", "Only use tabs.", ("temporary_preference",), id="only"),
        pytest.param("Do we use tabs?", "Do we use tabs?", ("low_confidence",), id="a question"),
        pytest.param("Rename it.", "Rename it.", (), id="what only likelihood can tell"),
        pytest.param("Please plot df.", "Please plot df.", ("low_confidence",), id="a request"),
        pytest.param(
            "Correction: we use tabs.",
            "Correction: we use tabs.",
            ("low_confidence",),
            id="a correction",
        ),
        pytest.param("Never use tabs.", "use tabs.", ("low_confidence",), id="half a sentence"),
        pytest.param(
            "For now, we use tabs.",
            "we use tabs.",
            ("temporary_preference",),
            id="half a temporary sentence",
        ),
        pytest.param(
            "For this task: use tabs.",
            "use tabs.",
            ("temporary_preference",),
            id="after a temporary heading",
        ),
        pytest.param(
            "Today:\n- use tabs\n- use LF",
            "use LF",
            ("temporary_preference",),
            id="in a temporary list",
        ),
        pytest.param(
            "Correction: we use tabs.", "we use tabs.", ("low_confidence",), id="what is corrected"
        ),
        pytest.param("Rules:\n- use tabs", "use tabs", (), id="in a list of rules"),
        pytest.param("We use tabs.", "We use tabs", (), id="all but the full stop"),
        pytest.param("- We use tabs.", "We use tabs.", (), id="a list item"),
        pytest.param("Hm. We use tabs. Not LF.", "We use tabs. Not LF.", (), id="two sentences"),
    ],
)
def test_a_certain_rule_asks_for_a_persons_look(
    message: str, text: str, reasons: Sequence[Reason]
) -> None:
    found = only(judged(item(text=text), within=supplied(exchange(typed(message)))))
    assert found.reasons == tuple(reasons)
    assert found.is_proposal == bool(reasons)


def test_half_a_sentence_beside_inserted_data_asks_for_a_look() -> None:
    talk = supplied(
        exchange(parted(("typed", "We use "), ("variable", "spaces"), ("typed", " here.")))
    )
    assert only(judged(item(text="We use"), within=talk)).reasons == ("low_confidence",)
    assert numbered_spans(talk) == ()


# Where it stands


@pytest.mark.parametrize(
    ("message", "text"),
    [
        pytest.param(typed(TABS), TABS, id="all of the part"),
        pytest.param(typed(f"{TABS} Go."), TABS, id="at the start"),
        pytest.param(typed(f"Go. {TABS}"), TABS, id="at the end"),
        pytest.param(typed(f"Go.\r\n{TABS}\r\nThanks.\r\n"), TABS, id="between CRLF"),
        pytest.param(
            parted(("typed", "Look: "), ("variable", "x"), ("typed", f". {TABS}")),
            TABS,
            id="after inserted data",
        ),
        pytest.param(typed("نستخدم المسافات. شكرًا."), "نستخدم المسافات.", id="Arabic"),
        pytest.param(typed("你好。我们用制表符缩进。谢谢。"), "我们用制表符缩进。", id="Chinese"),
        pytest.param(
            typed("😀 We ship 🚀 on Fridays. 👍"), "😀 We ship 🚀 on Fridays.", id="emoji"
        ),
        pytest.param(
            typed("👩‍👩‍👧 e\u0301t\u00e9. We use e\u0301."), "We use e\u0301.", id="composed"
        ),
        pytest.param(typed(f"```\n{TABS}\n```\n{TABS}"), TABS, id="after the same in a fence"),
        pytest.param(typed(f"> {TABS}\n\n{TABS}"), TABS, id="after the same in a quotation"),
    ],
)
def test_an_exact_quote_is_found_wherever_it_stands(message: UserBody, text: str) -> None:
    talk = supplied(exchange(message))
    assert quoted_text(only(judged(item(text=text), within=talk)), talk) == text


def test_of_repeated_sentences_the_first_is_cited() -> None:
    talk = supplied(exchange(typed(f"{TABS} Yes. {TABS}")))
    quote = only(judged(item(), within=talk)).sources[0].quote
    assert quote == Quote(2, 0, 0, len(TABS))


def test_of_a_sentence_in_two_messages_the_named_one_is_cited() -> None:
    talk = supplied(exchange(typed(TABS)), exchange(typed(TABS), turn=3))
    assert only(judged(item(source_seqs=[3]), within=talk)).sources[0].ref.seqs == (3,)


# What is rejected, by its first failing check

REJECTED: dict[str, tuple[Reason, Any]] = {
    "no object": ("candidate_schema", "text"),
    "a key is missing": ("candidate_schema", item(confidence=None)),
    "a key too many": ("candidate_schema", item(note="x")),
    "an unknown kind": ("candidate_schema", item(kind="observation")),
    "a kind that is no text": ("candidate_schema", item(kind=["convention"])),
    "seqs that are no list": ("candidate_schema", item(source_seqs=2)),
    "a seq that is a truth value": ("candidate_schema", item(source_seqs=[True])),
    "a seq with a fraction": ("candidate_schema", item(source_seqs=[2.0])),
    "a proposal that is a number": ("candidate_schema", item(proposal=0)),
    "conflicts that are no list": ("candidate_schema", item(conflicts="F-7k2m9q@2")),
    "a conflict that is no text": ("candidate_schema", item(conflicts=[7])),
    "a confidence above one": ("candidate_schema", item(confidence=1.01)),
    "a negative confidence": ("candidate_schema", item(confidence=-0.1)),
    "a confidence that is a truth value": ("candidate_schema", item(confidence=True)),
    "a confidence in words": ("candidate_schema", item(confidence="high")),
    "a text that is no text": ("invalid_text", item(text=7, quote=TABS)),
    "an empty text": ("invalid_text", item(text="")),
    "only blanks": ("invalid_text", item(text=" ")),
    "blanks around the text": ("invalid_text", item(text=f" {TABS}")),
    "two lines": ("invalid_text", item(text=f"{TABS}\nPlot it.")),
    "513 bytes": ("invalid_text", item(text="x" * 513)),
    "512 bytes in 257 characters": ("exact_text_mismatch", item(text="ü" * 256)),
    "half of a surrogate pair": ("invalid_text", item(text="\ud83d")),
    "a quote that is too long": ("invalid_text", item(quote="x" * 513)),
    "no source": ("invalid_source", item(source_seqs=[])),
    "a record that wasn't supplied": ("invalid_source", item(source_seqs=[1])),
    "a negative record": ("invalid_source", item(source_seqs=[-2])),
    "part of an exchange": ("invalid_source", file_item(source_seqs=[6, 7, 8])),
    "an exchange in another order": ("invalid_source", file_item(source_seqs=[5, 7, 6, 8])),
    "a record twice": ("invalid_source", item(source_seqs=[2, 2])),
    "two exchanges": ("invalid_source", item(source_seqs=[2, 3, 5, 6, 7, 8])),
    "more records than a source may have": ("invalid_source", item(source_seqs=list(range(201)))),
    "a reply of the agent": ("invalid_preference_source", item(source_seqs=[3], text="Use EUR.")),
    "a whole exchange": ("invalid_preference_source", item(source_seqs=[2, 3])),
    "a tool's result": ("invalid_preference_source", item(source_seqs=[7], text=LINE)),
    "a temporary quote": ("temporary_preference", item(text="Use tabs for now.")),
    "a temporary quote that isn't there": ("temporary_preference", item(text="Until then, wait.")),
    "another quote than the text": ("exact_text_mismatch", item(quote="Plot it, please.")),
    "a paraphrase": ("exact_text_mismatch", item(text="We use tabs.")),
    "other capitals": ("exact_text_mismatch", item(text=TABS.upper())),
    "cut inside a word": ("exact_text_mismatch", item(text="e use tabs")),
    "from a fence": ("exact_text_mismatch", item(text="Use spaces.")),
    "from a quotation": ("exact_text_mismatch", item(text="Use LF.")),
    "from two lines": ("exact_text_mismatch", item(text="Plot it, please. Use spaces.")),
    "an unknown fact": ("invalid_conflicts", item(conflicts=["F-000000@1"])),
    "a fact at another revision": ("invalid_conflicts", item(conflicts=["F-7k2m9q@1"])),
    "a fact without a revision": ("invalid_conflicts", item(conflicts=["F-7k2m9q"])),
    "a file's line against an unknown fact": ("invalid_conflicts", file_item(conflicts=["F-0@1"])),
    "a file's line without its number": ("unverified_project_evidence", file_item(quote=LINE)),
    "a file's line under another number": (
        "unverified_project_evidence",
        file_item(quote=f"1\t{LINE}"),
    ),
    "a file's line that nobody said": (
        "unverified_project_evidence",
        file_item(text='pyproject.toml contains "[project]"', quote="1\t[project]"),
    ),
    "a file's line of the result alone": (
        "unverified_project_evidence",
        file_item(source_seqs=[7]),
    ),
    "a file's line as if the person had said it": (
        "invalid_preference_source",
        file_item(kind="preference", quote=FILE_FACT),
    ),
}


@pytest.mark.parametrize(("reason", "claimed"), REJECTED.values(), ids=REJECTED)
def test_a_claim_is_rejected_at_its_first_failing_check(reason: Reason, claimed: Any) -> None:
    assert judged(claimed) == Judged((), {reason: 1})


ORDER: list[tuple[Reason, dict[str, Any]]] = [
    ("candidate_schema", {"proposal": "no"}),
    ("invalid_text", {"quote": "two\nlines"}),
    ("invalid_source", {"source_seqs": [99]}),
    ("invalid_preference_source", {"source_seqs": [3]}),
    ("temporary_preference", {"quote": "for now"}),
    ("exact_text_mismatch", {"quote": "Plot it, please."}),
    ("invalid_conflicts", {"conflicts": ["F-000000@1"]}),
]


@pytest.mark.parametrize("first", range(len(ORDER)), ids=[reason for reason, _ in ORDER])
def test_of_all_that_is_wrong_only_the_first_check_counts(first: int) -> None:
    faults: dict[str, Any] = {}
    for _, fault in reversed(ORDER[first:]):
        faults.update(fault)
    assert judged(item(**faults)) == Judged((), {ORDER[first][0]: 1})


def test_an_exchange_with_more_records_than_a_source_may_have_cant_be_named() -> None:
    long = supplied(exchange(typed(TABS), *(agent("Go on.") for _ in range(200))))
    found = judged(file_item(source_seqs=list(range(2, 203))), within=long)
    assert found.reasons == {"invalid_source": 1}


def test_each_rejected_claim_counts_once_and_spares_the_others() -> None:
    found = judged(item(kind="x"), item(), item(source_seqs=[99]), item(source_seqs=[98]))
    assert [one.text for one in found.candidates] == [TABS]
    assert found.reasons == {"candidate_schema": 1, "invalid_source": 2}


def test_the_same_text_twice_is_one_candidate() -> None:
    found = judged(item(), item(kind="decision"))
    assert [one.kind for one in found.candidates] == ["convention"]
    assert found.reasons == {"duplicate": 1}


# The reply as a whole

WHOLE = json.dumps({"candidates": [item()]})


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        pytest.param("", "invalid_json", id="nothing"),
        pytest.param("I found nothing.", "invalid_json", id="prose"),
        pytest.param(f"```json\n{WHOLE}\n```", "invalid_json", id="a fence of Markdown"),
        pytest.param(f"{WHOLE}\nDone.", "invalid_json", id="text after it"),
        pytest.param(f"Here: {WHOLE}", "invalid_json", id="text before it"),
        pytest.param(f"{WHOLE}{WHOLE}", "invalid_json", id="two objects"),
        pytest.param(f"\ufeff{WHOLE}", "invalid_json", id="a byte order mark"),
        pytest.param(WHOLE[:-1], "invalid_json", id="cut"),
        pytest.param('{"candidates":[],"candidates":[]}', "invalid_json", id="a key twice"),
        pytest.param(
            WHOLE.replace('"kind"', '"text": "x", "kind"'),
            "invalid_json",
            id="a key twice within a candidate",
        ),
        pytest.param(WHOLE.replace("0.9", "NaN"), "invalid_json", id="NaN"),
        pytest.param(WHOLE.replace("0.9", "Infinity"), "invalid_json", id="infinity"),
        pytest.param(WHOLE.replace("0.9", "1e999"), "invalid_json", id="a number beyond all"),
        pytest.param(WHOLE.replace("0.9", "0." + "1" * 99), "invalid_json", id="endless digits"),
        pytest.param(WHOLE.replace("[2]", f"[{'9' * 5000}]"), "invalid_json", id="a huge number"),
        pytest.param("[" * 100_000, "invalid_json", id="deep nesting"),
        pytest.param("[]", "response_schema", id="a list"),
        pytest.param("null", "response_schema", id="null"),
        pytest.param("{}", "response_schema", id="an empty object"),
        pytest.param('{"candidates":{}}', "response_schema", id="candidates that are no list"),
        pytest.param('{"picks":[]}', "response_schema", id="the other form"),
        pytest.param('{"candidates":[],"why":""}', "response_schema", id="a key too many"),
        pytest.param(
            json.dumps({"candidates": [item()] * 5}), "response_schema", id="five candidates"
        ),
    ],
)
def test_a_reply_in_another_form_is_of_no_use(reply: str, reason: Reason) -> None:
    assert quoted_claims(reply) == reason


@pytest.mark.parametrize("reply", ['{"candidates":[]}', ' \n{"candidates" : [ ]}\r\n'])
def test_nothing_to_keep_is_the_usual_answer(reply: str) -> None:
    assert quoted_claims(reply) == []


@pytest.mark.parametrize(
    ("confidence", "thousandths"),
    [(0, 0), (1, 1000), (0.57, 570), (0.7, 700), (0.6999, 699), (1e-30, 0)],
)
def test_confidence_is_rounded_down(confidence: float, thousandths: int) -> None:
    assert only(judged(item(confidence=confidence))).confidence == thousandths


# Selection


def picked(*picks: Any, within: Supplied = TALK) -> Judged:
    claims = selected_claims(json.dumps({"picks": list(picks)}), numbered_spans(within))
    assert not isinstance(claims, str)
    return judge(claims, within)


def pick(**changes: Any) -> dict[str, Any]:
    return {"span": 2, "kind": "convention", "confidence": 0.9, "conflicts": [], **changes}


def test_the_persons_sentences_are_numbered() -> None:
    texts = [(one.number, one.text) for one in numbered_spans(TALK)]
    assert texts == [(1, "Morning!"), (2, TABS), (3, "Plot it, please."), (4, "Which Python?")]


def test_a_picked_sentence_is_the_same_candidate_as_a_quoted_one() -> None:
    assert picked(pick()) == judged(item())


def test_a_picked_sentence_is_cited_where_it_was_cut() -> None:
    talk = supplied(exchange(typed("We use tabs and spaces. We use tabs and")))
    quote = only(picked(pick(span=2), within=talk)).sources[0].quote
    assert quote == Quote(2, 0, 24, 39)


def test_what_is_said_twice_can_be_picked_once() -> None:
    talk = supplied(exchange(typed(TABS)), exchange(typed(TABS.upper()), turn=3))
    assert [one.place.seq for one in numbered_spans(talk)] == [2]


@pytest.mark.parametrize(
    ("reason", "claimed"),
    [
        pytest.param("candidate_schema", 2, id="a number alone"),
        pytest.param("candidate_schema", pick(proposal=False), id="a key too many"),
        pytest.param("candidate_schema", pick(kind="project_fact"), id="another kind"),
        pytest.param("candidate_schema", pick(span="2"), id="a number in words"),
        pytest.param("candidate_schema", pick(span=True), id="a truth value"),
        pytest.param("candidate_schema", pick(confidence=2), id="a confidence above one"),
        pytest.param("invalid_source", pick(span=5), id="a number that there isn't"),
        pytest.param("invalid_source", pick(span=0), id="zero"),
        pytest.param("invalid_conflicts", pick(conflicts=["F-000000@1"]), id="an unknown fact"),
    ],
)
def test_a_pick_is_rejected_at_its_first_failing_check(reason: Reason, claimed: Any) -> None:
    assert picked(claimed) == Judged((), {reason: 1})


def test_a_temporary_sentence_cant_be_picked() -> None:
    talk = supplied(exchange(typed("Hi! Use tabs for now.")))
    assert picked(pick(), within=talk) == Judged((), {"temporary_preference": 1})


@pytest.mark.parametrize(
    "place",
    [Quote(2, 0, 0, 41), Quote(3, 0, 9, 50), Quote(2, 1, 9, 50), Quote(2, 0, 9, 500)],
    ids=["elsewhere", "another record", "another part", "beyond the part"],
)
def test_a_place_that_doesnt_hold_the_text_proves_nothing(place: Quote) -> None:
    claim = Claimed(TABS, (2,), "convention", TABS, (), False, 900, place)
    assert judge([claim], TALK) == Judged((), {"exact_text_mismatch": 1})


# Whatever a model says

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([TABS, "Use spaces.", "F-7k2m9q@2", FILE_FACT, "convention", "project_fact"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
SEQS = st.lists(st.integers(-1, 9), max_size=5)
TEXTS = st.text("Weus tab.\n", max_size=12) | st.sampled_from(
    [TABS, "Use spaces.", "Use EUR.", LINE]
)
ITEMS = st.fixed_dictionaries(
    {
        "text": TEXTS,
        "source_seqs": SEQS | st.sampled_from([[2], [5], [5, 6, 7, 8]]) | VALUES,
        "kind": st.sampled_from(["preference", "convention", "project_fact", "observation"]),
        "quote": TEXTS,
        "conflicts": st.just([]) | VALUES,
        "proposal": st.booleans() | VALUES,
        "confidence": st.floats(0, 1) | VALUES,
    }
)
MESSAGES = st.lists(
    st.builds(
        Part,
        st.sampled_from(["typed", "typed", "variable", "file"]),
        st.lists(
            st.sampled_from(
                [TABS, "```", "\n", "> ", "\r\n", " ", "Use spaces.", "é. ", "说。", "😀"]
            ),
            max_size=8,
        ).map("".join),
    ),
    min_size=1,
    max_size=4,
)


def assert_own_words(candidate: Candidate, within: Supplied) -> None:
    if candidate.basis == "file_line":
        assert candidate.kind == "observation"
        return
    quote = candidate.sources[0].quote
    assert quote is not None
    parts = within.exchanges[0].message.parts
    assert parts[quote.part].type == "typed"
    assert parts[quote.part].text[quote.start : quote.end] == candidate.text
    assert any(
        own.part == quote.part and own.start <= quote.start and quote.end <= own.end
        for own in own_spans(parts)
    )


@given(st.lists(ITEMS | VALUES, max_size=5), MESSAGES, st.data())
def test_whatever_is_claimed_a_candidate_is_an_exact_span_of_typed_own_words(
    items: list[Any], parts: list[Part], data: st.DataObject
) -> None:
    talk = supplied(exchange(UserBody("agent", tuple(parts)), agent("Use EUR.")))
    spans = own_spans(parts)
    if spans:
        span = data.draw(st.sampled_from(spans))
        start = data.draw(st.integers(span.start, span.end))
        end = data.draw(st.integers(start, span.end))
        text = parts[span.part].text[start:end]
        items = [item(text=text), *items[:3]]
    claims = quoted_claims(json.dumps({"candidates": items}))
    if isinstance(claims, str):
        return
    found = judge(claims, talk)
    assert len(found.candidates) + sum(found.reasons.values()) == len(items)
    for candidate in found.candidates:
        assert_own_words(candidate, talk)


@given(MESSAGES)
def test_whatever_was_typed_every_numbered_sentence_is_an_exact_span_of_own_words(
    parts: list[Part],
) -> None:
    talk = supplied(exchange(UserBody("agent", tuple(parts))))
    spans = numbered_spans(talk)
    for span in spans:
        claim = Claimed(span.text, (2,), "decision", span.text, (), False, 500, span.place)
        for candidate in judge([claim], talk).candidates:
            assert_own_words(candidate, talk)
        assert find_span(parts, span.text) is not None


@given(st.text() | st.binary().map(lambda data: data.decode("utf-8", "surrogateescape")))
def test_no_reply_breaks_the_reader(reply: str) -> None:
    assert isinstance(quoted_claims(reply), (str, list))
    assert isinstance(selected_claims(reply, ()), (str, list))


@given(
    st.recursive(VALUES, lambda inner: st.dictionaries(st.text(max_size=3), inner), max_leaves=4)
)
def test_no_json_breaks_the_reader(value: Any) -> None:
    spans = [NumberedSpan(1, TABS, Quote(2, 0, 9, 50))]
    for key in ("candidates", "picks"):
        reply = json.dumps({key: [value, value]})
        assert isinstance(quoted_claims(reply), (str, list))
        assert isinstance(selected_claims(reply, spans), (str, list))


def test_the_schemas_name_what_is_read() -> None:
    (candidates,) = SCHEMAS["quoting"]["properties"].values()  # type: ignore[union-attr]
    assert set(candidates["items"]["properties"]) == set(item())  # type: ignore[index,call-overload]
    (picks,) = SCHEMAS["selection"]["properties"].values()  # type: ignore[union-attr]
    assert set(picks["items"]["properties"]) == set(pick())  # type: ignore[index,call-overload]
