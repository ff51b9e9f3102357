"""What the pages say is what the code has: every verb, option, setting, variable and error."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import memnb
from memnb import errors
from memnb.api.memory import Memory
from memnb.api.notes import Notes
from memnb.core import ranking
from memnb.core.permissions import ChangeKind, decide
from memnb.core.settings import SETTINGS, SettingSpec, environment_name, format_value
from memnb.notebook.commands import AGENT, VERBS, Command, Option, usage

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
README = REPOSITORY / "README.md"
PAGES = [README, *sorted(DOCS.rglob("*.md"))]
NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*.ipynb"))
FORMS = [form for command in VERBS for form in (command, *command.subcommands)]

_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!`)!?\[[^\]]*\]\(([^()\s]+)\)")
_VARIABLE = re.compile(r"\bMEMNB_[A-Z]+(?:_[A-Z]+)*\b")
_VERB = re.compile(r"%mem(?:ory)? ([a-z]+)")


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def ids(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


def bullets(page: str) -> list[str]:
    """The list items of a page, each on one line."""
    return [" ".join(item.split()) for item in re.split(r"\n(?=- |\n|#)", page) if item[:2] == "- "]


def rows(page: str, head: str) -> list[list[str]]:
    """The cells of the table whose first column is headed `head`, without that line."""
    lines = page[page.index(f"| {head} |") :].split("\n\n", 1)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def sections(page: str) -> dict[str, str]:
    """The text below each `##` heading, by the heading's first word."""
    parts = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    return {re.split(r"\W", part, maxsplit=1)[0]: part for part in parts}


def typed(option: Option) -> str:
    """An option as a usage line has it."""
    return " ".join(["/".join(reversed(option.spellings)), *(v.label for v in option.values)])


# --- verbs, options, modes -----------------------------------------------------------------------


def test_every_verb_stands_on_its_page_as_it_is_typed() -> None:
    found = re.findall(r"^- `(%memory [^`]+)`: \S", read(DOCS / "magics.md"), re.MULTILINE)
    assert found == [usage(form) for form in FORMS]


def test_every_option_of_the_agent_stands_on_the_page() -> None:
    page = read(DOCS / "magics.md")
    assert f"`{usage(AGENT)}`" in page
    assert [row[0] for row in rows(page, "option")] == [f"`{typed(o)}`" for o in AGENT.options]


CHANGES: dict[str, ChangeKind] = {
    "remember a sentence of yours, word for word": "remember_quote",
    "correct a fact to a sentence of yours": "correct_quote",
    "remember a part of a sentence, or a question": "remember_part",
    "correct a fact to a part of a sentence, or a question": "correct_part",
    "write the scratchpad, a daily or a named note": "write_note",
    "write `MEMORY.md`": "write_trusted_note",
    "forget a fact": "forget",
    "run Python in the kernel": "run_python",
    "run a tool of yours (`@memnb.tool`)": "own_tool",
}
COLUMNS = [("readonly", False), ("ask", False), ("auto", False), ("auto", True)]


def test_the_table_of_modes_is_the_one_that_decides() -> None:
    said = {what: cells for what, *cells in rows(read(DOCS / "magics.md"), "what the agent wants")}
    words = {"allow": "yes", "ask": "asks", "deny": "no"}
    for what, kind in CHANGES.items():
        verdicts = [
            decide(kind, mode, write_approval=False, tainted=tainted) for mode, tainted in COLUMNS
        ]
        assert said.pop(what) == [words[verdict] for verdict in verdicts], what
    assert all(cells == ["yes"] * 4 for cells in said.values())  # reading


def test_every_tool_of_the_agent_stands_on_the_page(tmp_path: Path) -> None:
    model = memnb.ScriptedModel(["ok"])
    with memnb.open(tmp_path, model=model) as memory:
        memory.ask("Hi")
    page = read(DOCS / "magics.md")
    names = [spec.name for spec in model.requests[0].tools] + ["inspect_variable", "run_python"]
    assert [name for name in names if f"`{name}`" not in page] == []


def mentions(text: str) -> Iterator[tuple[str, str]]:
    """Each line from a `%memory verb` or `%agent` on, and the verb."""
    for line in text.splitlines():
        for piece in re.split(r"(?=%%?(?:mem|agent))", line):
            found = _VERB.match(piece)
            if found:
                yield found[1], piece
            elif re.match(r"%?%agent\b", piece):
                yield "%agent", piece


def unknown(verb: str, piece: str) -> list[str]:
    """What of a line isn't there: the verb, or options of it."""
    command: Command | None = next((c for c in (*VERBS, AGENT) if c.name == verb), None)
    if command is None:
        return [verb]
    forms = (command, *command.subcommands)
    known = {option.flag for form in forms for option in form.options}
    line = re.split(r"[`→]", piece)[0]
    return [flag for flag in re.findall(r"(?<=\s)--[a-z][a-z-]*", line) if flag not in known]


def sources(path: Path) -> str:
    """A page, or the cells of a notebook but those that show a mistake."""
    if path.suffix == ".md":
        return read(path)
    cells = json.loads(read(path))["cells"]
    shown = [c for c in cells if "raises-exception" not in c["metadata"].get("tags", ())]
    return "\n".join("".join(cell["source"]) for cell in shown)


@pytest.mark.parametrize("path", [*PAGES, *NOTEBOOKS], ids=ids)
def test_no_page_or_notebook_uses_a_verb_or_option_that_does_not_exist(path: Path) -> None:
    found = [(piece, unknown(verb, piece)) for verb, piece in mentions(sources(path))]
    assert [(piece, bad) for piece, bad in found if bad] == []


def test_the_notebook_of_every_verb_shows_every_verb() -> None:
    text = sources(REPOSITORY / "notebooks" / "every_verb.ipynb")
    shown = set(re.findall(r"(?:%memory |\bmemory\(f?\")(\w+)", text)) | {"status"}
    assert [command.name for command in VERBS if command.name not in shown] == []


def test_every_part_of_a_score_is_explained() -> None:
    parts = re.findall(r"^    (\w+)  +\w", ranking.__doc__ or "", re.MULTILINE)
    explained = [row[0].strip("`") for row in rows(read(DOCS / "recall.md"), "part")]
    assert sorted(explained) == sorted(parts)


# --- settings and variables ----------------------------------------------------------------------


@pytest.mark.parametrize("spec", SETTINGS, ids=lambda spec: spec.key)
def test_every_setting_stands_on_its_page_as_it_is(spec: SettingSpec) -> None:
    section = sections(read(DOCS / "settings.md"))[spec.section]
    head = f"- `{spec.key}` (`{environment_name(spec.key)}`): "
    (item,) = [item for item in bullets(section) if item.startswith(head)]
    assert f"Values: {spec.allowed}; default `{format_value(spec.default)}`." in item
    assert f"A project may {spec.project_may}." in item


def test_no_page_names_a_setting_that_does_not_exist() -> None:
    named = set(re.findall(r"^- `([a-z_]+\.[a-z_]+)`", read(DOCS / "settings.md"), re.MULTILINE))
    assert named == {spec.key for spec in SETTINGS}


def test_the_variables_of_the_pages_are_those_of_the_code() -> None:
    code = "\n".join(read(path) for path in (REPOSITORY / "memnb").rglob("*.py"))
    exist = {*_VARIABLE.findall(code), *(environment_name(spec.key) for spec in SETTINGS)}
    page = set(_VARIABLE.findall(read(DOCS / "settings.md")))
    assert exist - page == set()
    assert {name for path in PAGES for name in _VARIABLE.findall(read(path))} - exist == set()


# --- errors --------------------------------------------------------------------------------------

ERRORS = [getattr(errors, name) for name in errors.__all__]
GROUPS = [error for error in ERRORS if error.__base__ is errors.MemnbError]


def test_errors_stand_below_the_heading_of_who_must_act() -> None:
    found = sections(read(DOCS / "errors.md"))
    assert set(found) == {group.__name__ for group in GROUPS}
    for group in GROUPS:
        listed = [item for item in bullets(found[group.__name__]) if "→" in item]
        names = [re.match(r"- `(\w+)`:", item)[1] for item in listed]  # type: ignore[index]
        assert sorted(names) == sorted(e.__name__ for e in ERRORS if e.__base__ is group)


# --- Python --------------------------------------------------------------------------------------


def public(owner: type) -> list[str]:
    return [name for name in vars(owner) if not name.startswith("_")]


def test_every_method_stands_on_its_page() -> None:
    page = read(DOCS / "python.md")
    missing = [name for name in public(Memory) if f"`{name}" not in page]
    missing += [name for name in public(Notes) if not re.search(rf"[`.]{name}\b", page)]
    assert missing == []


def test_methods_are_shown_with_parameters_that_they_have() -> None:
    table = "\n".join(row[0] for row in rows(read(DOCS / "python.md"), "method"))
    for name, parameters in re.findall(r"`(\w+)\(([^`]*)\)`", table):
        known = inspect.signature(getattr(Memory, name)).parameters
        shown = [p.split("=")[0].strip() for p in parameters.split(",")]
        assert [p for p in shown if p not in ("", "*", "…") and p not in known] == [], name
        if "…" not in shown:
            assert [p for p in shown if p not in ("", "*")] == list(known)[1:]


@pytest.mark.parametrize(
    ("heading", "function"), [("## Open", memnb.open), ("## Ask", Memory.ask)], ids=["open", "ask"]
)
def test_every_argument_is_explained(heading: str, function: Callable[..., object]) -> None:
    page = read(DOCS / "python.md")
    first = [row[0] for row in rows(page[page.index(heading) :], "argument")]
    named = [name for cell in first for name in re.findall(r"`(\w+)`", cell)]
    assert named == [name for name in inspect.signature(function).parameters if name != "self"]


# --- links and words -----------------------------------------------------------------------------


def targets(page: Path) -> list[str]:
    return _LINK.findall(_FENCED.sub("", read(page)))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", _FENCED.sub("", read(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_link_leads_somewhere(page: Path) -> None:
    dead = []
    for target in targets(page):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        place = (page.parent / file).resolve() if file else page
        if not place.exists() or (anchor and anchor not in anchors(place)):
            dead.append(target)
    assert dead == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), [README]
    while waiting:
        page = waiting.pop()
        if page.exists() and page not in reached:
            reached.add(page)
            files = (target.partition("#")[0] for target in targets(page))
            waiting += [(page.parent / file).resolve() for file in files if file.endswith(".md")]
    assert [ids(page) for page in PAGES if page not in reached] == []


_ABSOLUTE = re.compile(r"(?<![\w~.$:/>…<}\]])/(?!data/memnb\b)[A-Za-z][\w.-]*")
"""A path from a machine's root; `/data/memnb` is the made-up one of a message."""
_FOREIGN = re.compile(
    r"\b(?:(?:session|issue) #?[0-9]++(?!, line|\.[0-9])|pypi\.org)\b", re.IGNORECASE
)
"""What means nothing to a reader of the project.

IPython's history counts sessions and lines, and a score has a part for its session.
"""


@pytest.mark.parametrize("path", [*PAGES, *NOTEBOOKS], ids=ids)
def test_pages_speak_of_the_project_only(path: Path) -> None:
    lines = read(path).splitlines()
    found = [line for line in lines if _ABSOLUTE.search(line) or _FOREIGN.search(line)]
    assert found == []
