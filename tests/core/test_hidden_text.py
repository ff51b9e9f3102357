"""Hidden, styled and look-alike characters: what is flagged, what every language needs."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.escaping import escape_html, escape_terminal
from memnb.core.hidden_text import hidden_spans
from memnb.core.screening import Clean, Findings, screen


def tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(character)) for character in text)


FLAGGED = {
    "NUL": ("a\0b", "control"),
    "escape sequence": ("x\x1b[31mred", "control"),
    "clipboard escape": ("\x1b]52;c;ZXZpbA==\x07", "control"),
    "C1 control": ("x\x9b31m", "control"),
    "backspace over text": ("evil\b\b\b\bgood", "control"),
    "return over text": ("evil command\rsafe line", "control"),
    "vertical tab": ("a\x0bb", "control"),
    "delete": ("a\x7fb", "control"),
    "zero-width space": ("su\u200bdo", "invisible"),
    "word joiner": ("a\u2060b", "invisible"),
    "byte order mark inside": ("ab\ufeffcd", "invisible"),
    "soft hyphen": ("pass\xadword", "invisible"),
    "hangul filler": ("a\u3164b", "invisible"),
    "invisible times": ("a\u2062b", "invisible"),
    "interlinear annotation": ("a\ufff9b\ufffa", "invisible"),
    "mongolian vowel separator": ("a\u180eb", "invisible"),
    "two Mongolian selectors": ("ᠠ\u180b\u180b", "invisible"),
    "grapheme joiner": ("a\u034fb", "invisible"),
    "joiner in a Latin word": ("pass\u200cword", "joiner"),
    "joiner between letters": ("a\u200db", "joiner"),
    "second joiner": ("می\u200c\u200cخواهم", "joiner"),
    "joiner after the last emoji": ("👩\u200d ok", "joiner"),
    "right-to-left override": ("abc\u202etxt", "bidirectional"),
    "isolate": ("a\u2066b\u2069", "bidirectional"),
    "embedding": ("a\u202bb\u202c", "bidirectional"),
    "mark in a Latin word": ("igno\u200ere", "bidirectional"),
    "pile of marks": ("a \u200e\u200f\u200e b", "bidirectional"),
    "tags": ("hi" + tags("ignore all"), "tag"),
    "tags after a black flag": ("\U0001f3f4" + tags("send keys to evil") + "\U000e007f", "tag"),
    "flag with more tags": ("\U0001f3f4" + tags("gbsct") + "\U000e007f" + tags("x"), "tag"),
    "bytes in variation selectors": ("ok\U000e0155\U000e0168", "variation"),
    "chain of variation selectors": ("ok\ufe01\ufe02\ufe03\ufe04", "variation"),
    "two selectors on one emoji": ("❤\ufe0f\ufe0f", "variation"),
    "line separator": ("a\u2028b", "separator"),
    "private use": ("a\ue000b", "private-use"),
    "surrogate": ("a\ud800b", "noncharacter"),
    "noncharacter": ("a\uffffb", "noncharacter"),
    "pile of combining marks": ("Z" + "\u0301" * 30, "stacked-marks"),
    "Cyrillic in a Latin word": ("p\u0430ypal", "look-alike"),
    "Latin in a Cyrillic word": ("При\u0076ет", "look-alike"),
    "Greek in a Latin word": ("g\u03bfogle", "look-alike"),
    "two Greek in a Latin word": ("g\u03bf\u03bfgle", "look-alike"),
    "Greek capital before Latin": ("use \u0391pa 7", "look-alike"),
    "Cyrillic after an accent": ("e\u0301\u0430t", "look-alike"),
    "Cherokee": ("S\u13a2RVER", "look-alike"),
    "Armenian": ("p\u0561yment", "look-alike"),
    "Cyrillic and Greek": ("а\u03bf", "look-alike"),
    "fullwidth": ("ｉｇｎｏｒｅ all", "styled-letters"),
    "bold": ("𝐢𝐠𝐧𝐨𝐫𝐞 all", "styled-letters"),
    "circled": ("ⓘⓖⓝⓞⓡⓔ", "styled-letters"),
}

PASSED = {
    "tab and line feed": "a\tb\nc",
    "Windows line ends": "a\r\nb\r\n",
    "byte order mark at the start": "\ufeff# Title",
    "no-break space": "10\xa0kg",
    "typographic": "l’été — déjà vu…",
    "code": "def f(x): return x  # ≥ 3 ✓",
    "decomposed accents": "e\u0301te\u0301",
    "decomposed Vietnamese": unicodedata.normalize("NFD", "Tiếng Việt"),
    "Russian": "Привет, мир",
    "Russian beside Latin": "IT-специалист в Google",
    "Ukrainian": "Слава Україні, ґанок",
    "Greek": "Καλημέρα κόσμε",
    "Armenian": "Բարեւ",
    "Hebrew beside Latin": "שלום world",
    "Hebrew with a mark": "C\u200e שלום",
    "Arabic": "أفضل TypeScript",
    "Arabic letter mark": "١٢\u061c٣",
    "right-to-left mark in Hebrew": "שלום\u200f, C++",
    "mark after a citation": "MIS Quarterly, 10, 1652.\u200f\nChen, I. J.",
    "mark beside digits": "ISBN-13 \u200f : \u200e 978-0979963729",
    "Persian joiner": "می\u200cخواهم",
    "Persian joiner before a comma": "کتاب\u200c، خانه",
    "Hindi joiner": "क्\u200dष",
    "Malayalam joiner at a word's end": "ന്\u200d",
    "Khmer word break": "ខ្ញុំ\u200bទៅ",
    "Mongolian selector": "ᠠ\u180bᠠ",
    "Japanese": "日本語 (にほんご) とカタカナ",
    "Japanese fullwidth": "ＵＳＢメモリとＰＣ",
    "Korean": "한국어 텍스트",
    "Thai": "สวัสดี",
    "emoji": "done ✅ 🎉",
    "emoji family": "👨\u200d👩\u200d👧",
    "emoji with gender": "🕵\ufe0f\u200d♂\ufe0f",
    "emoji with skin": "👩🏽\u200d🚀",
    "rainbow flag": "🏳\ufe0f\u200d🌈",
    "heart on fire": "❤\ufe0f\u200d🔥",
    "broken chain": "⛓\ufe0f\u200d💥",
    "emoji of a later Unicode": "\U0001faea \U0001fae9",
    "heart": "❤\ufe0f ok",
    "text style": "☎\ufe0e",
    "keycap": "1\ufe0f\u20e3 #\ufe0f\u20e3",
    "regional flag": "🇫🇷",
    "flag of Scotland": "\U0001f3f4" + tags("gbsct") + "\U000e007f",
    "flag of England": "go \U0001f3f4" + tags("gbeng") + "\U000e007f!",
    "flag that lost its black flag": "Edinburgh!" + tags("gbsct") + "\U000e007f",
    "mathematics": "α = 0.5, β-decay, ρV, dν, αx, 2πr, λmax, ρmax, sinθ, NABωsinα, kΩ",
    "units": "5 µm, 10 Å, ΔT, 3 μs, 4 kΩ, 2 MΩ",
    "subscripts": "ΔTmax and βcarotene",
    "one mathematical letter": "𝑓(𝑥) = 𝑑𝑥",
    "trademark": "Ⓐ and ™ and ©",
    "blood types": "🅰🅱",
}


def rules(text: str) -> set[str]:
    screened = screen(text)
    return {f.rule for f in screened.findings} if isinstance(screened, Findings) else set()


@pytest.mark.parametrize(("text", "rule"), FLAGGED.values(), ids=FLAGGED.keys())
def test_a_character_that_hides_or_poses_is_flagged(text: str, rule: str) -> None:
    assert rules(text) == {rule}


@pytest.mark.parametrize("text", PASSED.values(), ids=PASSED.keys())
def test_what_languages_emoji_and_mathematics_need_passes(text: str) -> None:
    assert screen(text) == Clean()


def test_neighbours_of_one_rule_make_one_finding() -> None:
    screened = screen("a" + tags("hello") + "b\x1b\x07")
    assert isinstance(screened, Findings)
    assert [(f.rule, f.start, f.end) for f in screened.findings] == [
        ("tag", 1, 6),
        ("control", 7, 9),
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [("to p\u0430ypal", (4, 5)), ("При\u0076ет", (3, 4))],
    ids=["Cyrillic", "Latin"],
)
def test_a_look_alike_is_placed_at_the_letters_of_the_rarer_script(
    text: str, place: tuple[int, int]
) -> None:
    screened = screen(text)
    assert isinstance(screened, Findings)
    assert [(f.start, f.end) for f in screened.findings] == [place]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x\x1b[31mred", "x\\x1b[31mred"),
        ("\x1b]52;c;ZXZpbA==\x07", "\\x1b]52;c;ZXZpbA==\\x07"),
        ("x\x9b31m", "x\\x9b31m"),
        ("evil\rsafe", "evil\\x0dsafe"),
        ("abc\u202etxt", "abc\\u202etxt"),
        ("a\U000e0041b", "a\\U000e0041b"),
        ("a\ud800b", "a\\ud800b"),
        ("a\0b", "a\\x00b"),
    ],
    ids=ascii,
)
def test_the_terminal_is_shown_the_name_of_a_hidden_character(text: str, shown: str) -> None:
    assert escape_terminal(text) == shown


@pytest.mark.parametrize("text", PASSED.values(), ids=PASSED.keys())
def test_the_terminal_is_shown_what_passes_as_it_is(text: str) -> None:
    assert escape_terminal(text) == text


def test_html_is_escaped_after_hidden_characters() -> None:
    assert escape_html("<b a=\"1\" c='2'>\x1b&") == (
        "&lt;b a=&quot;1&quot; c=&#x27;2&#x27;&gt;\\x1b&amp;"
    )


HIDDEN = "\n\r\t\0\x1b\xad\u200b\u200c\u200d\u200e\u200f\u061c\u202e\ufe0f\ufe0e\ufeff\u17b5\u180b"
NEIGHBOURS = "ab1. #مクक्❤👩🏽🚀🏴\u20e3ខᠠ\U000e0067\U000e0062\U000e007f\ue000\ud800"
TRICKY = st.text(
    st.one_of(st.sampled_from(HIDDEN), st.sampled_from(NEIGHBOURS), st.characters()), max_size=30
)


@given(TRICKY)
def test_escaped_text_holds_nothing_hidden_and_escaping_again_changes_nothing(text: str) -> None:
    escaped = escape_terminal(text)
    assert list(hidden_spans(escaped)) == []
    assert escape_terminal(escaped) == escaped


@given(TRICKY)
def test_escaping_changes_hidden_characters_only(text: str) -> None:
    hidden = {i for span in hidden_spans(text) for i in range(span.start, span.end)}
    kept = "".join(character for i, character in enumerate(text) if i not in hidden)
    shown = iter(escape_terminal(text))
    assert all(character in shown for character in kept)


@given(
    st.text(st.characters(categories=["Cc", "Co", "Cs", "Zl", "Zp"], exclude_characters="\r\n\t"))
)
def test_no_control_private_or_broken_character_is_ever_clean(text: str) -> None:
    assert sum(span.end - span.start for span in hidden_spans(f"a{text}b")) == len(text)


@pytest.mark.parametrize("unit", ["\u200b", "\u200d", "\u200e", "\r", "p\u0430 ", "\u0301"])
def test_long_text_of_one_worst_case_is_screened_to_its_end(unit: str) -> None:
    screened = screen(unit * 20_000)
    assert isinstance(screened, Findings)
    assert screened.findings[-1].end >= 20_000 - 1
