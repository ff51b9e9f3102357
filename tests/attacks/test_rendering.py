"""Everything that is stored is shown escaped: on a page, on a terminal, in a note.

Every class of results is found and filled by its types, so a new one is tested from its first day.
That the checks can fail is tested too: each payload, shown unescaped, is caught by them.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import memnb
import memnb.api
import memnb.notebook
from attacks.payloads import IN_HTML, IN_MARKDOWN, IN_NOTE, IN_TERMINAL, PAYLOADS
from attacks.screens import acts_on_a_page, acts_on_a_terminal, makes_of_a_note, text_of
from memnb import errors
from memnb.agent.reply import Answer, ToolDone, ToolStarted, TurnEvent
from memnb.agent.tools import Change
from memnb.api.fact_results import Facts, Remembered
from memnb.api.rendering import Block, Grid, Line, Marked, Result, Table
from memnb.api.session_results import Visibility
from memnb.core.bodies import Cell, Part
from memnb.core.escaping import escape_line, escape_terminal
from memnb.core.messages import Notice, Text
from memnb.errors import HiddenText, InvalidText, MemnbError
from memnb.llm.scripted_model import ScriptedModel, ScriptedReply
from memnb.memory import noting
from memnb.notebook.approval import CellApproval
from memnb.notebook.footer import footer_lines
from memnb.notebook.live_display import FinalDisplay, KernelDisplay, TerminalDisplay
from memnb.notebook.markdown_view import to_html, to_plain
from memnb.notebook.plain_text import plain
from memnb.notebook.summaries import summary
from memnb.notebook.verbs import Done, Help
from memnb.runtime import Origin, Runtime

EACH = pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS.keys())

# --- every class of results ----------------------------------------------------------------------

_FIXED: dict[tuple[type, str], object] = {
    (Remembered, "outcome"): "replaced",
    (Visibility, "action"): "redo",
    (Facts, "offset"): 0,
    (Facts, "limit"): 20,
}
"""Words that choose between texts of our own, and pages that show something."""


def result_classes() -> list[type[Result]]:
    """Every class of memnb that shows itself as a result."""
    for package in (memnb.api, memnb.notebook):
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")

    def below(cls: type) -> Iterator[type]:
        for sub in cls.__subclasses__():
            yield sub
            yield from below(sub)

    # A dataclass with slots replaces its class; the first one lingers.
    found = [cls for cls in below(Result) if _is_of_memnb(cls)]
    return sorted((cls for cls in found if not inspect.isabstract(cls)), key=lambda c: c.__name__)


def _is_of_memnb(cls: type) -> bool:
    module = importlib.import_module(cls.__module__)
    return module.__name__.startswith("memnb.") and getattr(module, cls.__name__, None) is cls


def filled(kind: Any, text: str, flag: bool) -> Any:
    """A value of a type, with `text` wherever text may stand and `flag` for every yes or no."""
    if kind in (str, Any, object):
        return text
    if kind in (bool, int, float):
        return kind(flag * 7)
    if kind is bytes:
        return text.encode(errors="replace")
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        given = {
            field.name: _FIXED.get((kind, field.name), filled(hints[field.name], text, flag))
            for field in fields(kind)
        }
        return kind(**given)
    if isinstance(kind, type) and issubclass(kind, Result):
        return kind(text)
    return _filled_generic(kind, text, flag)


def _filled_generic(kind: Any, text: str, flag: bool) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return arguments[0 if flag else -1]
    if origin in (Union, types.UnionType):
        return filled(next(a for a in arguments if a is not type(None)), text, flag)
    if origin is tuple:
        return tuple(filled(a, text, flag) for a in arguments if a is not Ellipsis)
    if origin is not None and issubclass(origin, Mapping):
        return {filled(arguments[0], text, flag): filled(arguments[1], text, flag)}
    if origin is not None and issubclass(origin, Sequence):
        return (filled(arguments[0], text, flag),)
    raise TypeError(f"no value of {kind} is known; add how to make one")


CLASSES = result_classes()
NAMES = [cls.__name__ for cls in CLASSES]
VARIANTS = [
    pytest.param(cls, flag, id=f"{cls.__name__}-{flag}")
    for cls in CLASSES
    for flag in (True, False)
]
_SAYS_IDS_ONLY = frozenset({"Visibility"})


def result(cls: type[Result], text: str, flag: bool) -> Result:
    made: Result = filled(cls, text, flag)
    return made


def test_all_kinds_of_results_are_found() -> None:
    assert {"Facts", "FactHistory", "Hits", "Recalled", "Remembered", "ForgetReceipt"} <= {*NAMES}
    assert {"Reply", "Why", "WhyFact", "Sessions", "SessionView", "Excerpt"} <= {*NAMES}
    assert {"Status", "ProjectView"} <= {*NAMES}
    assert {"NoteView", "NoteList", "SettingsView", "Models", "Help", "Done"} <= {*NAMES}


@pytest.mark.parametrize(("cls", "flag"), VARIANTS)
def test_nothing_in_a_result_acts_on_a_page(cls: type[Result], flag: bool) -> None:
    for name, payload in PAYLOADS.items():
        page = result(cls, payload, flag)._repr_html_()
        assert acts_on_a_page(page) == [], name


@pytest.mark.parametrize(("cls", "flag"), VARIANTS)
def test_nothing_in_a_result_acts_on_a_terminal(cls: type[Result], flag: bool) -> None:
    for name, payload in PAYLOADS.items():
        shown = result(cls, payload, flag)
        assert acts_on_a_terminal(str(shown)) == [], name
        assert acts_on_a_terminal(repr(shown)) == [], name


@pytest.mark.parametrize("cls", CLASSES, ids=NAMES)
def test_a_result_shows_what_is_stored_spelled_out(cls: type[Result]) -> None:
    if cls.__name__ in _SAYS_IDS_ONLY:
        return
    for flag in (True, False):
        shown = result(cls, "a\x1b<b>", flag)
        assert "a\\x1b<b>" in str(shown)
        assert "a\\x1b<b>" in text_of(shown._repr_html_())


@pytest.mark.parametrize("cls", CLASSES, ids=NAMES)
def test_the_data_of_a_result_are_what_is_stored(cls: type[Result]) -> None:
    for name, payload in PAYLOADS.items():
        value = result(cls, payload, True).to_dict()
        texts = [text for text in _texts(value) if text != "redo"]
        assert texts or cls.__name__ in _SAYS_IDS_ONLY or cls in (Help, Done), name
        assert all(text == payload or _is_word(text) for text in texts), name
        if "half" not in name:
            assert json.loads(json.dumps(value)) == value


@pytest.mark.parametrize(
    "cls", [c for c in CLASSES if issubclass(c, Table)], ids=lambda c: c.__name__
)
def test_the_rows_of_a_table_are_what_is_stored(cls: type[Table]) -> None:
    for name, payload in PAYLOADS.items():
        table: Any = result(cls, payload, True)
        assert payload in [value for row in table.records() for value in row.values()], name


def test_a_line_stays_one_line_and_a_cell_drops_nothing() -> None:
    class Forged(Result):
        def blocks(self) -> list[Block]:
            return [Line("churn\r\nremembered F-7k2m9q"), Grid(("a\x85b",), (("c\n\x1cd",),))]

    lines = ["churn\\r\\nremembered F-7k2m9q", "a\\x85b", "c \\x1cd"]
    assert str(Forged()).splitlines() == lines
    assert "churn\\r\\nremembered F-7k2m9q" in Forged()._repr_html_()


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _is_word(text: str) -> bool:
    """Whether it is a word of our own, such as a kind or a status."""
    return text.replace("_", "").replace(" ", "").isalpha() and len(text) < 20


# --- a turn as it is shown -----------------------------------------------------------------------


def answer(text: str) -> Answer:
    made: Answer = filled(Answer, text, True)
    return replace(made, end="complete")


def events(text: str, size: int) -> list[TurnEvent]:
    pieces = [Text(text[at : at + size]) for at in range(0, len(text), size)]
    return [
        Notice(text),
        *pieces,
        ToolStarted(text),
        ToolDone(text, True, text),
        *pieces,
        Notice(text),
    ]


def paints(text: str, size: int) -> list[Mapping[str, str]]:
    """Everything that a front end is sent for a turn that holds `text` wherever it may."""
    shown: list[Mapping[str, str]] = []
    now = iter(range(10**6))
    for end in ("finish", "abandon", "discard"):
        live = KernelDisplay(lambda data, _: shown.append(data), lambda: float(next(now)))
        for event in events(text, size):
            live.observe(event)
        if end == "finish":
            live.finish(answer(text))
        else:
            live.abandon(discard=end == "discard")
    FinalDisplay(lambda data, _: shown.append(data)).finish(answer(text))
    return shown


def written(text: str, size: int) -> str:
    """What a terminal is sent for such a turn."""
    pieces: list[str] = []
    terminal = TerminalDisplay(pieces.append)
    for event in events(text, size):
        terminal.observe(event)
    terminal.finish(answer(text))
    terminal.abandon(discard=True)
    return "".join(pieces)


@EACH
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_nothing_in_a_streamed_answer_acts_on_a_page_or_terminal(payload: str, size: int) -> None:
    for data in paints(payload, size):
        assert acts_on_a_page(data["text/html"]) == []
        assert acts_on_a_terminal(data["text/plain"]) == []
    assert acts_on_a_terminal(written(payload, size)) == []


@EACH
def test_a_footer_is_lines_of_its_own(payload: str) -> None:
    lines = footer_lines(answer(payload))
    assert len(lines) == 2
    assert all(line.startswith("▸ ") for line in lines)
    assert not any("\n" in line for line in lines)


@EACH
def test_a_change_is_shown_to_a_person_as_it_would_be_made(payload: str) -> None:
    shown: list[str] = []
    config = Config()
    config.HistoryManager.enabled = False
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=config)
    try:
        ask = CellApproval(shell, read=lambda _: "n", write=shown.append)
        assert ask(Change("run_python", "run Python", payload)) is False
    finally:
        InteractiveShell.clear_instance()
    (text,) = shown
    assert acts_on_a_terminal(text) == []
    head, *lines = text.removesuffix("\n").split("\n")
    assert head == "▸ run Python:"
    set_off = [line for line in lines if not line.startswith("▸ careful")]
    assert all(line.startswith("  │ ") for line in set_off)
    assert "\n".join(line.removeprefix("  │ ") for line in set_off) == escape_terminal(payload)


# --- lines of errors -----------------------------------------------------------------------------


def error_classes() -> list[type[MemnbError]]:
    return [getattr(errors, name) for name in errors.__all__ if name != "MemnbError"]


def error(cls: type[MemnbError], text: str) -> MemnbError:
    more = {"SourceNotValid": {"status": "stale"}}.get(cls.__name__, {})
    return cls(text, **more)


@EACH
def test_an_error_is_one_line_that_does_nothing(payload: str) -> None:
    for cls in error_classes():
        raised = error(cls, f"{payload} can't be read; check it.")
        (line,) = raised._render_traceback_()
        for shown in (str(raised), line):
            assert acts_on_a_terminal(shown) == []
            assert len(shown.splitlines()) == 1


def test_an_error_says_what_it_holds_spelled_out() -> None:
    raised = errors.StoreBusy("a\x1b[31m\nb\u202e é 🎉 has held the store.", holder="x")
    assert str(raised) == "a\\x1b[31m\\nb\\u202e é 🎉 has held the store."
    assert raised._render_traceback_() == [f"StoreBusy: {raised}"]


# --- what a model is shown of values -------------------------------------------------------------


class Odd:
    """Shows itself as it likes."""

    def __init__(self, text: str, *, fails: bool) -> None:
        self._text, self._fails = text, fails

    def __repr__(self) -> str:
        if self._fails:
            raise RuntimeError(self._text)
        return self._text


def values(text: str) -> list[object]:
    import pandas

    name = type("".join(c for c in text if c != "\0" and not 0xD800 <= ord(c) < 0xE000), (), {})
    return [
        text,
        text.encode(errors="replace"),
        [text],
        {text: [text]},
        (text, {text}),
        Odd(text, fails=False),
        Odd(text, fails=True),
        name(),
        pandas.DataFrame({text: [text, text]}),
        pandas.Series([text], name=text),
    ]


@EACH
def test_nothing_in_the_summary_of_a_value_acts_on_a_terminal(payload: str) -> None:
    for value in values(payload):
        assert acts_on_a_terminal(summary(value)) == [], type(value)
    assert acts_on_a_terminal(plain(payload)) == []


# --- facts in notes ------------------------------------------------------------------------------


def visible(text: str) -> str:
    """A text as it may stand in a file: no half characters, no NUL, breaks that Markdown knows."""
    text = text.translate({0: "", 0x2028: " ", 0x2029: " ", 0x85: " "})
    return "".join(c for c in text if not 0xD800 <= ord(c) < 0xE000).strip()


@EACH
def test_a_fact_in_a_note_is_one_line_of_plain_words(payload: str) -> None:
    fact = visible(payload)
    assert makes_of_a_note(noting.fact_line(fact), fact) == []


# --- the whole, with everything stored through its own door --------------------------------------


def folder_name(payload: str) -> str:
    """A folder's name that holds as much of the payload as a file system takes."""
    name = whole(payload).replace("/", "\u2215").replace("\0", "")
    return name.encode()[:200].decode(errors="ignore").strip(".") or "x"


def toml_text(payload: str) -> str:
    plain_ones = (c if c.isalnum() and c.isascii() else f"\\U{ord(c):08x}" for c in payload)
    return '"' + "".join(c for c in plain_ones if c != "\\U0000d800") + '"'


def whole(text: str) -> str:
    """A name as front ends and providers can have it: without half characters."""
    return text.replace("\ud800", "")


LAST = [*PAYLOADS][-1]


class World:
    """A project in which every payload was stored wherever it can be."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self._folder = folder
        self.checkout = folder / "project"
        self.checkout.mkdir()
        self.memory = self.open(self.checkout)
        self.fact_ids: dict[str, list[str]] = {}
        self.refused: dict[str, MemnbError] = {}
        self.replies: dict[str, memnb.Reply] = {}

    def open(self, path: Path, **environ: str) -> memnb.Memory:
        places = {
            "HOME": str(self._folder / "user"),
            "MEMNB_HOME": str(self.home),
            "MEMNB_STATE": str(self._folder / "state"),
        }
        return memnb.Memory(Runtime(Origin(environ={**places, **environ}, cwd=path), path=path))

    def store(self, name: str, payload: str) -> None:
        memory = self.memory
        try:
            kept = memory.remember(payload)
            corrected = memory.remember(f"Rule {len(self.fact_ids)}: to be corrected.").fact_id
            memory.correct(corrected, f"Rule of {len(self.fact_ids)}: {payload}", revision=1)
        except (HiddenText, InvalidText) as error:
            self.refused[name] = error
        else:
            self.fact_ids[name] = [kept.fact_id, corrected]
        note = memory.project.folder / "notes" / f"n{len(self.replies)}.md"
        note.parent.mkdir(exist_ok=True)
        note.write_text(payload, encoding="utf-8", errors="replace")  # as an editor would

        def lookup(what: str) -> str:
            """Look something up."""
            return payload + what

        replies = [ScriptedReply(payload, calls=(("lookup", {"what": ""}),)), payload]
        model = ScriptedModel(replies, name=whole(payload), context_tokens=None)
        parts = (Part("typed", payload), Part("variable", payload, expr="x"))
        cell = Cell(notebook=whole(payload), cell_id="4f0c", count=3)
        self.replies[name] = memory.ask(
            parts,
            model=model,
            tools=(lookup,),
            approve=lambda _: True,
            cell=cell,
            memory=name == LAST,  # each turn with memory costs ten without
        )

    def shown(self) -> Iterator[Result]:
        """Whatever can be asked to be shown."""
        memory = self.memory
        yield memory.status()
        yield memory.facts(limit=1000)
        yield memory.facts(all=True, limit=1000)
        for fact_id in (fact_id for ids in self.fact_ids.values() for fact_id in ids):
            yield memory.fact(fact_id)
            yield memory.recall(fact_id)
        for word in ("evil", "pwned", "x", "<", "rule"):
            yield memory.search(word)
            yield memory.search(word, how="literal")
        yield memory.search("<[^>]*>|\\$[^$]*\\$|[^\\x20-\\x7e]", how="regex")
        yield memory.sessions()
        (session,) = memory.sessions().rows
        yield memory.session(session.session_id)
        for start in range(1, session.n_records, 20):
            yield memory.read(session.session_id, start, start + 19, limit=8192)
            yield memory.around(session.session_id, start, n=20)
        for turn in (None, 1, len(self.replies)):
            yield memory.why(turn)
        yield memory.notes.names()
        for at in range(len(self.replies)):
            yield memory.notes.read(f"n{at}")
            yield memory.notes.show(f"n{at}")
        yield memory.config()
        yield memory.models()
        yield memory.where()
        yield from self.replies.values()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = World(tmp_path_factory.mktemp("world"))
    for name, payload in PAYLOADS.items():
        world.store(name, payload)
    yield world
    world.memory.close()


def test_whatever_was_stored_is_shown_inert_by_every_verb(world: World) -> None:
    n_shown = 0
    for shown in world.shown():
        assert acts_on_a_page(shown._repr_html_()) == [], type(shown)
        assert acts_on_a_terminal(str(shown)) == [], type(shown)
        n_shown += 1
    assert n_shown > 2 * len(PAYLOADS)


def test_what_was_stored_was_stored_as_it_is(world: World) -> None:
    session_id = world.memory.sessions().rows[0].session_id
    history = world.memory.runtime.memory.histories.of(session_id)
    records = history.reader.records(range(1, history.reader.last_seq + 1)).values()
    stored = json.dumps([record.body for record in records if record], ensure_ascii=False)
    for name, payload in PAYLOADS.items():
        if "\ud800" not in payload:
            assert json.dumps(payload, ensure_ascii=False)[1:-1] in stored, name


def test_a_fact_that_hides_something_or_has_lines_is_refused_in_an_inert_line(world: World) -> None:
    assert {*IN_TERMINAL} <= {*world.refused}
    for name, refused in world.refused.items():
        assert acts_on_a_terminal("".join(refused._render_traceback_())) == [], name
        assert PAYLOADS[name][:8] not in str(refused), name


def test_what_a_fact_may_hold_is_kept_as_a_fact_and_shown_with_its_evidence(world: World) -> None:
    assert {"script", "image that tells", "address in Markdown", "emphasis"} <= {*world.fact_ids}
    for name, (fact_id, corrected) in world.fact_ids.items():
        payload = PAYLOADS[name].strip()
        assert payload in text_of(world.memory.fact(fact_id)._repr_html_()), name
        assert payload in str(world.memory.fact(corrected)), name


@EACH
def test_the_name_of_a_folder_or_notebook_is_shown_inert(
    world: World, tmp_path: Path, payload: str
) -> None:
    folder = tmp_path / folder_name(payload)
    folder.mkdir()
    notebook = folder / (folder_name(payload)[:40] + ".ipynb")
    notebook.write_text("{}")
    (folder / "pyproject.toml").write_text(
        f"[tool.memnb]\n{toml_text(payload)} = 1\nagent.model = {toml_text(payload)}\n"
    )
    with world.open(notebook, MEMNB_AGENT_MODEL=folder_name(payload)) as memory:
        lines = [memory.headline(), *memory.notices()]
        assert acts_on_a_terminal("\n".join(map(escape_line, lines))) == []
        assert len(memory.headline().splitlines()) == 1
        for shown in (memory.status(), memory.where(), memory.config(), memory.models()):
            assert acts_on_a_page(shown._repr_html_()) == []
            assert acts_on_a_terminal(str(shown)) == []


TYPED = {
    "verb": lambda memory, text: memory.config(text),
    "value": lambda memory, text: memory.config("agent.mode", text),
    "model": lambda memory, text: memory.config("agent.model", text),
    "fact": lambda memory, text: memory.fact(text),
    "session": lambda memory, text: memory.session(text),
    "note": lambda memory, text: memory.notes.read(text),
    "kind": lambda memory, text: memory.facts(kind=text),
    "folder": lambda memory, text: memory.move_to(text.replace("\0", "").lstrip("~")),
    "slug": lambda memory, text: memory.attach(text),
    "asked model": lambda memory, text: memory.ask("Hello", model=text),
    "asked provider": lambda memory, text: memory.ask("Hello", model=f"local/{text}"),
    "failing model": lambda memory, text: memory.ask(
        "Hello", model=ScriptedModel([ScriptedReply()], name=text)
    ),
}


def typed_texts(what: str) -> list[tuple[str, str]]:
    """All payloads; fewer where each costs a recorded turn."""
    if what not in {"asked model", "asked provider", "failing model"}:
        return [*PAYLOADS.items()]
    # A slash would name a provider and load all of litellm.
    return [(name, text) for name, text in IN_TERMINAL.items() if "/" not in text][::3]


@pytest.mark.parametrize("what", TYPED)
def test_what_was_typed_wrong_makes_an_inert_line(world: World, what: str) -> None:
    n_errors = 0
    for name, payload in typed_texts(what):
        try:
            TYPED[what](world.memory, payload)
        except MemnbError as error:
            (line,) = error._render_traceback_()
            assert acts_on_a_terminal(line) == [], name
            assert len(line.splitlines()) == 1, name
            n_errors += 1
    world.memory.config("agent.model", "")
    assert n_errors > (0 if what == "model" else len(typed_texts(what)) // 2)


def test_what_nobody_asked_to_see_is_not_in_the_output(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    world = World(tmp_path / "inner")
    secretly, corrected = "The launch is on the ninth.", "The launch is on the tenth."
    model = ScriptedModel([ScriptedReply(calls=(("memory_list", {}),)), "Fine."])
    with world.memory as memory:
        kept = memory.remember(secretly)
        saved = [
            kept,
            memory.ask("Hello", model=model),
            memory.correct(kept.fact_id, corrected, revision=1),
            memory.status(),
            memory.where(),
            memory.sessions(),
            memory.notes.names(),
            memory.config(),
            memory.models(),
            memory.undo(),
            memory.redo(),
            memory.forget(kept.fact_id),
        ]
        texts = "".join(str(shown) + shown._repr_html_() for shown in saved)
        texts += "".join(footer_lines(saved[1].answer))  # type: ignore[attr-defined]
    assert "launch" not in texts


# --- in IPython without a front end --------------------------------------------------------------


def test_magics_in_a_terminal_write_nothing_that_acts_on_it(
    shell: InteractiveShell, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    shell.run_line_magic("load_ext", "memnb")
    try:
        for payload in PAYLOADS.values():
            shell.user_ns["model"] = ScriptedModel([payload], name=whole(payload))
            shell.run_cell_magic("agent", "-m model --no-memory", "Say it.")
            for line in (payload, f"remember {payload}", f"search {payload}"):
                shell.run_cell(f"get_ipython().run_line_magic('memory', {line!r})")
    finally:
        shell.run_line_magic("unload_ext", "memnb")
    out, err = capsys.readouterr()
    assert acts_on_a_terminal(out) == []
    assert acts_on_a_terminal(err) == []
    assert "pwned" in out


# --- whatever text -------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        *"<>&;\"'/=:#!?[](){}|*_`~$\\-+. \n\t\r\0\x1b\x07\x9b\x85é",
        *"\u202e\u2028\ud800\u200d\ufeff\ufe0f",
        *(
            "script",
            "img",
            "src",
            "on",
            "style=",
            "href=",
            "http://e.x",
            "\\href",
            "\U000e0041",
            "👩",
        ),
        *("&lt;", "&#60;", "&#x3c;", "&amp", "</", "<!--", "]]>"),
    ]
)
STORED = st.one_of(
    st.lists(PIECES, max_size=20).map("".join),
    st.text(max_size=40),
    st.lists(st.sampled_from([*PAYLOADS.values()]), min_size=2, max_size=3).map("".join),
)


@settings(max_examples=60)
@given(STORED, st.booleans())
def test_whatever_is_stored_every_result_shows_it_inert(text: str, flag: bool) -> None:
    for cls in CLASSES:
        shown = result(cls, text, flag)
        assert acts_on_a_page(shown._repr_html_()) == []
        assert acts_on_a_terminal(str(shown)) == []


@settings(max_examples=60)
@given(STORED, st.integers(1, 5))
def test_whatever_is_said_a_turn_shows_it_inert(text: str, size: int) -> None:
    for data in paints(text, size):
        assert acts_on_a_page(data["text/html"]) == []
        assert acts_on_a_terminal(data["text/plain"]) == []
    assert acts_on_a_terminal(written(text, size)) == []


@given(STORED)
def test_whatever_an_error_tells_it_is_one_inert_line(text: str) -> None:
    (line,) = errors.StoreError(text)._render_traceback_()
    assert acts_on_a_terminal(line) == []
    assert len(line.splitlines()) == 1


@given(STORED)
def test_whatever_a_fact_says_its_line_in_a_note_is_plain(text: str) -> None:
    fact = visible(text)
    if fact:
        assert makes_of_a_note(noting.fact_line(fact), fact) == []


# --- the checks can fail -------------------------------------------------------------------------


class Careless(Result):
    """A result that escapes nothing."""

    def __init__(self, text: str) -> None:
        self.text = text

    def blocks(self) -> list[Block]:
        return [Line(self.text)]

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<div class="memnb mathjax_ignore">{self.text}</div>'


class Careful(Careless):
    """The same text, shown as results are shown."""

    def __str__(self) -> str:
        return Result.__str__(self)

    def _repr_html_(self) -> str:
        return Result._repr_html_(self)


@pytest.mark.parametrize("payload", IN_HTML.values(), ids=IN_HTML.keys())
def test_a_result_that_escapes_nothing_is_caught_on_a_page(payload: str) -> None:
    assert acts_on_a_page(Careless(payload)._repr_html_()) != []
    assert acts_on_a_page(Careful(payload)._repr_html_()) == []


@pytest.mark.parametrize("payload", IN_TERMINAL.values(), ids=IN_TERMINAL.keys())
def test_a_result_that_escapes_nothing_is_caught_on_a_terminal(payload: str) -> None:
    assert acts_on_a_terminal(str(Careless(payload))) != []
    assert acts_on_a_terminal(str(Careful(payload))) == []


@pytest.mark.parametrize("payload", IN_MARKDOWN.values(), ids=IN_MARKDOWN.keys())
def test_markdown_that_is_not_held_back_is_caught(payload: str) -> None:
    from markdown_it import MarkdownIt

    formula = f'<span class="mathjax_process tex2jax_process">{payload}</span>'
    held_by_nobody = MarkdownIt("commonmark", {"html": True}).enable("table").render(payload)
    assert acts_on_a_page(held_by_nobody) + acts_on_a_page(formula) != []
    assert acts_on_a_page(to_html(payload)) == []


@pytest.mark.parametrize("payload", IN_NOTE.values(), ids=IN_NOTE.keys())
def test_a_fact_that_is_written_into_a_note_as_it_is_is_caught(payload: str) -> None:
    assert makes_of_a_note(f"- {payload}", payload) != []
    assert makes_of_a_note(noting.fact_line(payload), payload) == []


@pytest.mark.parametrize(
    "page",
    [
        "<div onclick=x>",
        '<div class="other">x</div>',
        '<p style="position:fixed">x</p>',
        "<a>x</a>",
        "<div>x",
        "x</div>",
        "a < b",
        "a &copy b",
        '<span class="mathjax_process tex2jax_process">$\\href{x}{y}$</span>',
        "<div>\x1b[31m</div>",
        "<p><!-- x --></p>",
    ],
)
def test_each_thing_that_acts_on_a_page_is_caught(page: str) -> None:
    assert acts_on_a_page(page) != []


def test_plain_text_and_marks_of_our_own_are_not_caught() -> None:
    shown = [
        Result._repr_html_(Careful("We use polars 👩\u200d🚀, a < b & c.")),
        to_html("# A\n\n1. **b** `c`\n\n| d |\n|--:|\n| $x_1$ |\n\n---"),
    ]
    assert [acts_on_a_page(page) for page in shown] == [[], []]
    assert acts_on_a_terminal(to_plain("a\tb\r\nc 👩\u200d🚀\n")) == []
    assert isinstance(Careful("x").blocks()[0], (Line, Marked))
