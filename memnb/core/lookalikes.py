"""Letters that pose as others: words of mixed scripts, and Latin letters in a styled disguise.

1. A word that joins Latin, Greek, Cyrillic, Armenian, Cherokee, Coptic or Lisu letters is a
   look-alike.
2. Greek letters without a Latin twin never are. The others pass where mathematics puts them: in
   words of at most four letters, before a label (`max`), after the name of a function (`sin`).
   Omicron and capitals with a twin are not mathematics.
3. Three or more mathematical, circled or squared Latin letters in a row, or two or more fullwidth
   ones that touch no Chinese, Japanese or Korean text, are styled.

A word in one foreign script throughout passes, whatever it resembles.
"""

from __future__ import annotations

from collections.abc import Iterator

from memnb.core.hidden_text import HiddenSpan
from memnb.core.patterns import compiled

__all__ = ["lookalikes"]

_LATIN = r"A-Za-z\xc0-\xd6\xd8-\xf6\xf8-\u024f\u1e00-\u1eff"
_PLAIN_GREEK = (
    r"\u0393\u0394\u0398\u039b\u039e\u03a0\u03a3\u03a6\u03a8\u03a9\u03b2-\u03b6\u03b8\u03bb\u03bc"
    r"\u03be\u03c0\u03c2\u03c6\u03c8"
)
_TWINNED_SMALL_GREEK = r"\u03b1\u03b7\u03b9\u03ba\u03bd\u03c1\u03c3\u03c4\u03c5\u03c7\u03c9"
_OTHER_GREEK = (
    r"\u0370-\u0377\u037a-\u037d\u037f\u0386-\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f"
    r"\u03a1\u03a4\u03a5\u03a7\u03aa-\u03b0\u03bf\u03ca-\u03ff\u1f00-\u1fff"
)
_TWINNED_GREEK = _TWINNED_SMALL_GREEK + _OTHER_GREEK
_CYRILLIC = r"\u0400-\u0482\u048a-\u052f\u1c80-\u1c8f\ua640-\ua66e\ua680-\ua69d"
_RARE = r"\u0531-\u0556\u0561-\u0587\u13a0-\u13ff\uab70-\uabbf\u2c80-\u2cff\ua4d0-\ua4f7"
_FOREIGN = _TWINNED_GREEK + _CYRILLIC + _RARE
_MARKS = r"\u0300-\u036f"

_ANY_FOREIGN = f"[{_FOREIGN}]"
_BETWEEN = f"[{_PLAIN_GREEK}{_MARKS}]{{0,3}}+"
_GREEK = _PLAIN_GREEK + _TWINNED_GREEK
_MIXED = (
    f"[{_LATIN}]{_BETWEEN}[{_FOREIGN}]|[{_FOREIGN}]{_BETWEEN}[{_LATIN}]"
    f"|[{_GREEK}][{_MARKS}]{{0,3}}[{_CYRILLIC}{_RARE}]"
    f"|[{_CYRILLIC}{_RARE}][{_MARKS}]{{0,3}}[{_GREEK}]"
    f"|[{_CYRILLIC}][{_RARE}]|[{_RARE}][{_CYRILLIC}]"
)
_LETTER = f"[{_LATIN}{_GREEK}{_CYRILLIC}{_RARE}{_MARKS}]"
_WORD = f"{_LETTER}+"
_LATIN_RUN = f"[{_LATIN}]+"
_FOREIGN_RUN = f"[{_FOREIGN}]+"

_MATH = f"[{_PLAIN_GREEK}{_TWINNED_SMALL_GREEK}]"
_FUNCTION = "(?:sin|cos|tan|cot|log|ln|exp|arg)"
_FORMULA = (
    rf"(?=.{{2,4}}\Z)(?:[A-Za-z]?{_MATH}{{1,2}})+[A-Za-z]{{0,2}}"
    rf"|{_MATH}{{1,2}}(?:max|min|eff|tot|ref|avg|opt|obs|crit)"
    rf"|[A-Z]{{0,4}}{_MATH}?{_FUNCTION}{_MATH}{{1,2}}"
)

_EAST_ASIAN = r"\u1100-\u11ff\u2e80-\u30ff\u3130-\u318f\u31f0-\u9fff\uac00-\ud7af\uff66-\uff9f"
_FULLWIDTH = r"\uff21-\uff3a\uff41-\uff5a"
_STYLED = (
    r"[\u210e\U0001d400-\U0001d6a5]{3,}"
    r"|[\u249c-\u24e9\U0001f110-\U0001f12b\U0001f130-\U0001f149\U0001f150-\U0001f189]{3,}"
    rf"|(?<![{_EAST_ASIAN}{_FULLWIDTH}])[{_FULLWIDTH}]{{2,}}+(?![{_EAST_ASIAN}])"
)


def lookalikes(text: str) -> Iterator[HiddenSpan]:
    """The letters in `text` that pose as others: per mixed word those of the rarer script."""
    if text.isascii():
        return
    for styled in compiled(_STYLED).finditer(text):
        yield HiddenSpan("styled-letters", styled.start(), styled.end())
    if compiled(_ANY_FOREIGN).search(text):
        yield from _mixed_words(text)


def _mixed_words(text: str) -> Iterator[HiddenSpan]:
    word_end = 0
    for seam in compiled(_MIXED).finditer(text):
        if seam.start() < word_end:
            continue
        start = seam.start()
        while start > word_end and compiled(_LETTER).match(text, start - 1):
            start -= 1
        word = compiled(_WORD).match(text, start)
        word_end = word.end() if word else seam.end()
        if not compiled(_FORMULA).fullmatch(text[start:word_end]):
            yield _odd_letters(text, start, word_end)


def _odd_letters(text: str, start: int, end: int) -> HiddenSpan:
    word = text[start:end]
    n_foreign = len("".join(compiled(_FOREIGN_RUN).findall(word)))
    n_latin = len("".join(compiled(_LATIN_RUN).findall(word)))
    odd_run = _LATIN_RUN if 0 < n_latin < n_foreign else _FOREIGN_RUN
    odd = compiled(odd_run).search(text, start, end)
    return HiddenSpan("look-alike", *(odd.span() if odd else (start, end)))
