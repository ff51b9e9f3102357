"""What must survive of a conversation, found by rules: no model is needed for it.

1. Only whole sentences and lines are kept, as they were said: rules, decisions, open tasks, errors,
   and what names a path, a number with its unit, an identifier, a date or a person.
2. What is said anew with another value takes the place of what was said before.
3. What was kept once is a candidate like any other the next time, and is not worn down by it.
4. They are data about the conversation: never evidence, never mined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

__all__ = ["Essential", "Kind", "Said", "find", "merged", "parse", "written"]

Kind = Literal["rules", "open", "errors", "facts"]
"""`rules`: what was demanded, preferred or decided; `open`: what is yet to be done."""

Role = Literal["user", "assistant", "tool"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

MAX_ITEM_BYTES: Final = 320
_MAX_KEPT: Final = 2_000
"""Most candidates that are carried along while a long conversation is read."""

_ENOUGH: Final = 3.0
"""Less weight than that isn't kept even where there is room."""

_BASE: Final[dict[str, float]] = {"user": 2.0, "assistant": 0.5, "tool": 0.0}
_LABEL: Final = re.compile(r"^(?:[A-Z][A-Z_/-]*[A-Z]\b ?){1,3}: ")
_RULE: Final = re.compile(
    r"\b(?:never|always|must|mustn't|shall|do not|don't|cannot|can't|may not|not allowed|only"
    r"|without (?:explicit|approval|consent|asking)|forbidden|avoid|refuse|escalate|keep .{1,40}"
    r"(?:under|below|within)|at most|at least|no (?:more|less|longer|external)|instead of"
    r"|require[sd]?|prefer\w*|(?:would )?rather|wants?|please|stick to|make sure|ensure"
    r"|from now on|convention|policy|rule|constraint|budget|cap|ceiling|limit|deadline"
    r"|decided|decision|agreed|approv\w+|we (?:use|report|call|chose|went with)"
    r"|use \S+ (?:for|as|in))\b",
    re.IGNORECASE,
)
_CHANGE: Final = re.compile(
    r"\b(?:now|changed|changes|moved|switched|renamed|replaced|rotated|updated?|no longer"
    r"|as of|belongs to|is called|are calling)\b",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(
    r"\b(?:to-?do|next(?: step| up)?|still (?:open|missing|failing|to)|open question|awaiting"
    r"|pending|blocked|remain\w*|unfinished|not yet|in progress|goal|task|plan to|need(?:s|ed)? to"
    r"|have to|fix (?:them|it|the)|failing|unpushed|branch|phase \d|steps? \d)\b",
    re.IGNORECASE,
)
_ERROR: Final = re.compile(
    r"(?:^|\b)(?:[A-Z]\w*(?:Error|Exception|Warning)\b|error:|traceback|exit code [1-9]|failed\b"
    r"|fatal:|segmentation fault|permission denied|no such file|timed out)",
)
_NOISE: Final = re.compile(
    r"^(?:ok(?:ay)?|thanks?|thank you|noted|acknowledged|got it|sure|done|great|yes|no|continuing"
    r"|understood|hello|hi|sounds good)\b[^a-z]*(?:and recorded|continuing with the plan"
    r"|for (?:that|this))?[^a-z]*$",
    re.IGNORECASE,
)

_URL: Final = r"https?://\S+"
_PATH: Final = (
    r"(?<![\w/])(?:~|\.{1,2})?/?(?:[\w.-]+/)+[\w.-]+"
    r"|\b[\w-]+\.(?:py|ipynb|csv|parquet|md|toml|json|ya?ml|sql|txt|sh|db|sqlite3?|pkl|png)\b"
)
_DATE: Final = (
    r"\b\d{4}-\d{2}-\d{2}\b|\b\d{2}-\d{2}\b|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
    r"[a-z]* \d{1,2}\b|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
)
_CODE: Final = r"`[^`\n]+`|\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”"
_ID: Final = (
    r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*\b|\b[A-Za-z]+_\w+\b"
    r"|\b[A-Z]{3,}\b(?!:)|\b[a-z]+[A-Z]\w+\b"
)
_NUMBER: Final = r"[$€£]\s?\d[\d.,]*|\b\d[\d.,]*(?:\s?(?:%|[A-Za-zµ°]{1,4}\b))?"
_NAME: Final = r"(?<=[a-z,;] )[A-Z][\w-]*[a-z]\w*(?: [A-Z][\w-]*[a-z]\w*)*"
_WORDED: Final = (
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|fifty)"
    r"(?: (?:hundred|thousand|million))?\b"
)
_CONCRETE: Final = tuple(map(re.compile, (_URL, _PATH, _DATE, _CODE, _ID, _NUMBER, _NAME)))
_VALUE: Final = re.compile("|".join((_DATE, _ID, _NUMBER, _NAME, _WORDED)))
"""What is said anew with another one of these replaces what was said. Another path is another
thing."""

_NUMBERED: Final = re.compile(
    r"\b(column|row|line|cell|page|step|figure|fig|table|chapter|section|part|item|issue|ticket|bug"
    r"|case|question|sample|experiment|group|phase|task|sheet|fold|layer) (\d+)\b",
    re.IGNORECASE,
)
"""What a number behind it names: column 5 is another thing than column 6, no newer value."""

_SPELLED: Final = str.maketrans("0123456789", "abcdefghij")

_THING: Final = re.compile("|".join((_URL, _PATH, _CODE)))
_ARTICLE: Final = re.compile(r"(?<![`\"“\w])(?:the|a|an) (?=\w)", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]+(?:'\w+)?")
_STOP_WORDS: Final = """the a an is are was were be been of to in on at for and or it its this
that with as by we our i you your"""
_STOP: Final = frozenset(_STOP_WORDS.split())
_SPLIT: Final = re.compile(r"(?<=[.!?…؟۔])[\"'”’)]*\s+(?=\S)|(?<=[。！？।])\s*|\n+")  # noqa: RUF001
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|no|fig)|\b[A-Z])\.$", re.IGNORECASE
)
_MIN_SUBJECT: Final = 2
"""A sentence with fewer words besides its values doesn't say what they are of."""

_LEAD: Final = re.compile(r"^\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|>+\s*)?")


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of the conversation: who said it, and what."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Essential:
    """A sentence or line that must survive; `weight` says how much."""

    kind: Kind
    text: str
    weight: float


def find(said: Iterable[Said]) -> Iterator[Essential]:
    """What must survive of these, in the order in which it was said."""
    for piece in said:
        for line in _sentences(piece.text):
            found = _judged(line, piece.role)
            if found is not None:
                yield found


def merged(before: Iterable[Essential], later: Iterable[Essential]) -> list[Essential]:
    """Both, in order, without repetitions, and without what was said anew with another value."""
    kept: dict[object, Essential] = {}
    for one in (*before, *later):
        key = _key(one.text)
        old = kept.pop(key, None)  # what is said anew goes to the end
        weight = max(one.weight, old.weight) if old else one.weight
        kept[key] = replace(one, weight=weight)
    items = list(kept.values())
    if len(items) > _MAX_KEPT:
        least = sorted(item.weight for item in items)[len(items) - _MAX_KEPT]
        items = [item for item in items if item.weight >= least]
    return items


def written(essentials: Sequence[Essential], max_bytes: int) -> str:
    """The weightiest of them as lines under headings, in at most so many bytes.

    Articles are left out when not all fit with them. A whole line is in, or it isn't.
    """
    whole = _lines(essentials)
    if len(whole.encode()) <= max_bytes:
        return whole
    terse = [replace(one, text=_terse(one.text)) for one in essentials]
    room = max_bytes - sum(len(kind) + 2 for kind in KINDS)
    chosen: set[int] = set()
    # Of two that weigh the same the later one: it is what the conversation is about now.
    for at in sorted(range(len(terse)), key=lambda n: (-terse[n].weight, -n)):
        size = len(terse[at].text.encode()) + 3
        if size <= room:
            room -= size
            chosen.add(at)
    return _lines([terse[at] for at in sorted(chosen)])


def parse(text: str) -> list[Essential]:
    """What `written` wrote, with the weights it has now."""
    found: list[Essential] = []
    kind: Kind | None = None
    for line in text.splitlines():
        heading = next((one for one in KINDS if line == f"{one}:"), None)
        if heading is not None:
            kind = heading
        elif kind is not None and line.startswith("- "):
            judged = _judged(line[2:], "user")
            weight = max(judged.weight if judged else 0.0, _ENOUGH)
            found.append(Essential(kind, line[2:], weight + (1.0 if kind == "rules" else 0.0)))
    return found


def _lines(essentials: Sequence[Essential]) -> str:
    lines: list[str] = []
    for kind in KINDS:
        texts = [f"- {one.text}" for one in essentials if one.kind == kind]
        lines += [f"{kind}:", *texts] if texts else []
    return "\n".join(lines)


def _sentences(text: str) -> Iterator[str]:
    pending = ""
    for piece in _SPLIT.split(text):
        pending = f"{pending} {piece}".strip() if pending else piece
        if _ABBREVIATION.search(pending):
            continue
        yield from _tidy(pending)
        pending = ""
    yield from _tidy(pending)


def _tidy(sentence: str) -> Iterator[str]:
    line = " ".join(_LEAD.sub("", sentence, count=1).split())
    if not any(character.isalnum() for character in line):
        return
    data = line.encode(errors="replace")
    if len(data) > MAX_ITEM_BYTES:
        line = data[: MAX_ITEM_BYTES - 4].decode(errors="ignore") + "…"
    yield line


def _judged(line: str, role: Role) -> Essential | None:
    if _NOISE.match(line):
        return None
    label = _LABEL.match(line)
    bare = line[label.end() :] if label else line
    rule, opened = len(_RULE.findall(line)), len(_OPEN.findall(line))
    is_error = _ERROR.search(line) is not None
    if role == "tool" and not is_error:
        return None
    n_concrete = sum(1 for pattern in _CONCRETE if pattern.search(bare))
    weight = _BASE[role] + 0.8 * min(n_concrete, 3)
    weight += 2.0 if label else 0.0
    weight += min(rule, 3) * 1.2 + min(opened, 2) * 1.2
    weight += 2.5 if is_error else 0.0
    weight += 1.0 if _CHANGE.search(line) else 0.0
    weight -= 1.0 if bare.endswith("?") else 0.0
    # Of two that say as much the shorter one: more of them fit.
    weight -= len(bare) / 400
    if weight < _ENOUGH:
        return None
    text = bare.removesuffix(".").strip()
    return Essential(_kind(line, rule, opened, is_error=is_error), text, round(weight, 2))


def _kind(line: str, rule: int, opened: int, *, is_error: bool) -> Kind:
    if is_error:
        return "errors"
    if re.match(r"(?:goal|todo|task|open)\b", line, re.IGNORECASE) or opened > rule:
        return "open"
    return "rules" if rule else "facts"


def _key(text: str) -> object:
    """What a sentence is about: its words without the values. Too few words: the sentence."""
    text = _NUMBERED.sub(lambda label: label[1] + label[2].translate(_SPELLED), text)
    folded = _terse(text).casefold()
    if _THING.search(text) or not _VALUE.search(text):
        return folded
    words = [w for w in _WORD.findall(_VALUE.sub(" ", text).casefold()) if w not in _STOP]
    return tuple(words) if len(words) >= _MIN_SUBJECT else folded


def _terse(text: str) -> str:
    return text if "`" in text else _ARTICLE.sub("", text)
