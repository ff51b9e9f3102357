"""A message's own sentences that say something for good, each with its canonical form.

1. Only typed words count, outside code fences and block quotes, and at most the first eight
   sentences of a message. A long message, or one with hidden characters, says nothing: it was
   most likely pasted.
2. Who works on a text (translates, rewrites, summarises), plays a part, or tells somebody else what
   to do doesn't speak for themselves: nothing in such a message counts.
3. A sentence is taken only when it stands by itself. It does not after a line that leads in to what
   follows (`Bob's rules:`), below a heading, indented as code is, beside an inserted value, on from
   a line without an end, or next to a sentence that limits it or takes it back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memnb.core.bodies import Part
from memnb.core.hidden_text import hidden_spans
from memnb.core.markers import is_temporary
from memnb.core.promotion.forms import Form, spelled
from memnb.core.promotion.recognising import canonical
from memnb.core.words import Span, own_spans

__all__ = ["MAX_MESSAGE_BYTES", "MAX_SENTENCES", "Sentence", "said"]

MAX_SENTENCES: Final = 8
"""So many sentences of a message are looked at."""

MAX_MESSAGE_BYTES: Final = 4096
"""A message with more than this in typed words says nothing."""

_STOP: Final = re.compile(r"(?<=[.!?؟۔…])\s+")  # noqa: RUF001
_ENDED: Final = re.compile(r"[.!?؟۔…]\Z")  # noqa: RUF001
_ITEM: Final = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+•]|\d{1,3}[.)])[ \t]+")
_CODE: Final = re.compile(r" {4}|\t| {1,3}\t")
_HEADING: Final = re.compile(r"[ \t]*(?:#{1,6}[ \t]|(?:=|-){3,}[ \t]*\Z|\|)")
_LEADS_IN: Final = re.compile(r"[:;,،؛–—-]\s*\Z")  # noqa: RUF001
_GOES_ON: Final = re.compile(r"\s*[A-Z\u0621-\u064a]")


def _arabic_words(words: str) -> re.Pattern[str]:
    """Arabic words as whole ones, of which one may begin with `and` or `so`."""
    return re.compile(f"(?<![\u0600-\u06ff])[وف]?(?:{spelled(words)})(?![\u0600-\u06ff])")


_OTHERS_WORDS: Final = re.compile(
    r"\b(?:translat\w*|summari[sz]\w*|rewrit\w*|rephras\w*|paraphras\w*|proofread\w*|reword\w*"
    r"|role-?play\w*|pretend\w*|imagin\w*|suppos\w*|hypothetical\w*|act as|acting as"
    r"|you are an?|the following|as follows|for example|for instance|e\.g\.|example sentence"
    r"|(?:this|that|these|those|the) (?:sentences?|phrases?|statements?|texts?|paragraphs?|wording)"
    r"|(?:grammar|spelling|correct english)\w*|quot(?:ing|ed|ation\w*)|transcri\w+|dictat\w+"
    r"|(?:fix|correct) (?:the|my) grammar"
    r"|(?:write|draft|compose|send|forward) (?:me |us |him |her |them |up )?"
    r"(?:an? |the |this |my )?(?:\w+ ){0,3}"
    r"(?:e-?mail|letter|message|reply to|post|tweet|story|dialog\w*|readme|rules?|prompt|comment)"
    r"|(?:tell|ask|remind|inform|let|convince) (?:him|her|them|everyone|everybody|people|bob|alice"
    r"|john|my \w+|the \w+|our \w+|[a-z]+ (?:to|that|know))"
    r"|(?:says?|said|wrote|writes|claims?|claimed|told|asked|suggest\w*|recommend\w*) "
    r"(?:that|to|me|us|we|i|always|never|:)"
    r"|according to|if i (?:say|said|wrote)|what if|let's say|say that)\b",
    re.IGNORECASE | re.ASCII,
)
_OTHERS_WORDS_IN_ARABIC: Final = _arabic_words(
    "ترجم|ترجمي|لخص|لخصي|تلخيص|أعد صياغة|إعادة صياغة|صحح|صححي|دقق|تخيل|تخيلي|افترض|لنفترض|تظاهر"
    "|مثلا|على سبيل المثال|النص التالي|الجملة التالية|ما يلي|أخبر|أخبري|قل ل[^ ]+|أرسل|ذكر|اقترح"
    "|اكتب (?:رسالة|بريدا|إيميل|قصة|مقالا|تعليقا|قاعدة)|يقول|تقول|يقولون|قال|قالت|قالوا|كتب|كتبت"
    "|أوصى|حسب|وفقا"
)
_LIMITS: Final = re.compile(
    r"\b(?:for this|just this|only (?:for|in|this|today|when|if)|tomorrow|till|unless|except|but"
    r"|however|although|though|otherwise"
    r"|kidding|joking|joke|not really|or not|or maybe|maybe|perhaps|i guess|i think|not sure"
    r"|never ?mind|scratch that|forget (?:it|that)|ignore (?:it|that)|wait|no longer|not any ?more"
    r"|used to|right now|at the moment|once|sarcas\w*|lol|haha)\b",
    re.IGNORECASE | re.ASCII,
)
_LIMITS_IN_ARABIC: Final = _arabic_words(
    "لهذه المهمة|فقط|حتى|إلا|لكن|ربما|لعل|أمزح|أظن|أعتقد"
    "|لست متأكدا|لا أعرف|إذا|لو|سابقا|كنت|كنا|انس"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a person: where it stands, and what it says."""

    span: Span
    form: Form


@dataclass(slots=True)
class _Line:
    """One line of typed text, as far as it matters to its neighbours."""

    span: Span
    text: str
    is_own: bool
    is_cut: bool  # an inserted value stands in it
    is_apart: bool = False  # a blank line stands before it

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()

    @property
    def is_item(self) -> bool:
        return _ITEM.match(self.text) is not None


def said(parts: Sequence[Part]) -> tuple[Sentence, ...]:
    """What the person says in a message for good, and where it stands."""
    typed = "\n".join(part.text for part in parts if part.type == "typed")
    if len(typed.encode(errors="replace")) > MAX_MESSAGE_BYTES or any(hidden_spans(typed)):
        return ()
    if _OTHERS_WORDS.search(typed) or _OTHERS_WORDS_IN_ARABIC.search(spelled(typed)):
        return ()
    sentences = list(_sentences(parts))
    found = []
    for at, (span, text, stands_alone) in enumerate(sentences[:MAX_SENTENCES]):
        form = canonical(text) if stands_alone else None
        beside = [other for _, other, _ in sentences[max(at - 1, 0) : at + 2]]
        if form is not None and not any(map(_is_limited, beside)):
            found.append(Sentence(span, form))
    return tuple(found)


def _is_limited(sentence: str) -> bool:
    found = _LIMITS.search(sentence) or _LIMITS_IN_ARABIC.search(spelled(sentence))
    return found is not None or is_temporary(sentence)


def _sentences(parts: Sequence[Part]) -> Iterator[tuple[Span, str, bool]]:
    """The sentences of the person's own lines, and whether each stands by itself."""
    is_led = is_document = False  # an own line leads in to what follows; a heading stands above
    for before, line, after in _neighbours(_lines(parts)):
        is_document = is_document or _HEADING.match(line.text) is not None
        is_beside = before is not None and not line.is_apart
        follows = _follows_well(line, before if is_beside else None)
        if before is not None and _LEADS_IN.search(before.text):
            is_led = True
        elif line.is_apart and not line.is_item:
            is_led = False
        is_led = is_led or (line.is_item and not follows)
        cut = list(_cut(line))
        for n, (span, text) in enumerate(cut):
            stands = not (is_led or is_document or line.is_cut or _CODE.match(line.text))
            stands = stands and (n > 0 or follows)
            stands = stands and (n < len(cut) - 1 or _ends_well(line, after))
            yield span, text, stands


def _neighbours(lines: Iterable[_Line]) -> Iterator[tuple[_Line | None, _Line, _Line | None]]:
    """Each own line with the own line before it, and the one that follows at once.

    Blank lines set a line apart from the one before; a fence or a quote ends everything.
    """
    before: _Line | None = None
    line: _Line | None = None
    is_apart = False
    for following in [*lines, None]:
        if following is not None and following.is_blank:
            is_apart = True
            continue
        is_own = following is not None and following.is_own
        if following is not None:
            following.is_apart, is_apart = is_apart or not is_own, False
        if line is not None:
            is_next = following is not None and is_own and not following.is_apart
            yield before, line, following if is_next else None
        before = line if is_own else None
        line = following if is_own else None


def _follows_well(line: _Line, before: _Line | None) -> bool:
    """Whether a line begins a sentence of its own."""
    if before is None or _ENDED.search(before.text.rstrip()):
        return True
    if before.is_item and line.is_item:
        return _indent(before) == _indent(line)
    return not line.is_item and _says(before)


def _ends_well(line: _Line, after: _Line | None) -> bool:
    """Whether the sentence at a line's end doesn't go on in the next."""
    if after is None or _ENDED.search(line.text.rstrip()):
        return True
    if after.is_item:
        return line.is_item and _indent(after) == _indent(line)
    return _says(after) or _GOES_ON.match(after.text) is not None


def _says(line: _Line) -> bool:
    cut = [canonical(text) for _, text in _cut(line)]
    return bool(cut) and None not in cut


def _indent(line: _Line) -> str:
    found = _ITEM.match(line.text)
    return found["indent"] if found else ""


def _cut(line: _Line) -> Iterator[tuple[Span, str]]:
    """The sentences of one line; not cut at a colon, which often leads in to another's words."""
    marker = _ITEM.match(line.text)
    start = marker.end() if marker else 0
    ends = [stop.end() for stop in _STOP.finditer(line.text, start)]
    for end in (*ends, len(line.text)):
        text = line.text[start:end]
        first = start + len(text) - len(text.lstrip())
        text = text.strip()
        if any(map(str.isalnum, text)):
            offset = line.span.start + first
            yield Span(line.span.part, offset, offset + len(text)), text
        start = end


def _lines(parts: Sequence[Part]) -> Iterator[_Line]:
    own = {(span.part, span.start) for span in own_spans(parts)}
    for number, part in enumerate(parts):
        if part.type != "typed":
            continue
        before = parts[number - 1] if number else None
        after = parts[number + 1] if number + 1 < len(parts) else None
        position = 0
        lines = part.text.splitlines(keepends=True)
        for n, line in enumerate(lines):
            start, position = position, position + len(line)
            text = line.rstrip("\r\n")
            touches = (n == 0 and _is_inline(before)) or (
                text == line and n == len(lines) - 1 and _is_inline(after)
            )
            span = Span(number, start, start + len(text))
            yield _Line(span, text, (number, start) in own, touches)


def _is_inline(part: Part | None) -> bool:
    return part is not None and part.type == "variable"
