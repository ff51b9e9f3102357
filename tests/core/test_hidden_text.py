"""Hidden, styled and look-alike characters: what is flagged, what every language needs."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.core.escaping import escape_html, escape_line, escape_terminal
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
    "first plane that holds nothing": ("a\U00040000b", "unassigned"),
    "last plane that holds nothing": ("a\U000dfffdb", "unassigned"),
    "after the tags' plane": ("a\U000e1041b", "unassigned"),
    "byte in a selector on an emoji": ("😀\U000e0155", "variation"),
    "selector on an ideograph": ("葛\U000e0100", "variation"),
    "selector on a letter": ("a\ufe0f", "variation"),
    "flag of Texas": ("\U0001f3f4" + tags("ustx") + "\U000e007f", "tag"),
    "old hangul fillers": ("\u115f\u1160", "invisible"),
    "halfwidth hangul filler": ("a\uffa0b", "invisible"),
    "Khitan filler": ("a\U00016fe4b", "invisible"),
    "Khmer vowel that shows nothing": ("a\u17b4b", "invisible"),
    "shorthand control": ("a\U0001bca0b", "invisible"),
    "musical control": ("a\U0001d173b", "invisible"),
    "Arabic mark in a Latin word": ("ab\u061ccd", "bidirectional"),
    "paragraph separator": ("a\u2029b", "separator"),
    "private use of a later plane": ("a\U000f0041b\U00100041", "private-use"),
    "pile of combining marks": ("Z" + "\u0301" * 30, "stacked-marks"),
    "pile of marks by turns": ("Z" + "\u0301\u20dd\u0489" * 3, "stacked-marks"),
    "pile of Thai marks": ("ก" + "็" * 30, "stacked-marks"),
    "pile of Arabic marks": ("ب" + "\u064b\u0651" * 6, "stacked-marks"),
    "Lisu in a Latin word": ("P\ua4eeYPAL", "look-alike"),
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
    "Hebrew with accents": "בְּרֵאשִׁ֖ית בָּרָ֣א אֱלֹהִ֑ים",
    "Arabic with all vowels": "بِسْمِ اللَّهِ الرَّحْمَٰنِ الرَّحِيمِ",
    "Thai with tone and vowel": "ที่นี่ ก้าวแรก",
    "Arabic number signs": "\u0600٣ \u06dd١",
    "left-to-right mark after Hebrew": "שלום\u200e (C++)",
    "marks at the ends of a line": "\u200fשלום\u200f",
    "Urdu joiner": "دل\u200cچسپ",
    "Bengali joiner": "র\u200d্য",
    "Nepali joiner": "गर्\u200dयो",
    "Sinhala joiner": "ක්\u200dෂ",
    "Tamil non-joiner": "க்\u200cஷ",
    "Kannada joiner": "ರ\u200d್ಕ",
    "Telugu non-joiner": "క్\u200cష",
    "Mongolian vowel": "ᠬᠠᠷ\u180eᠠ",
    "Braille": "⠓⠑⠇⠇⠕⠀⠺⠕⠗⠇⠙",
    "drawing in Braille": "⠀⠀⠀⣀⣤⠀⠀\n⠀⠀⠀⠀⠀⠀⠀",
    "blanks that take room": "a\xa0b\u2003c\u3000d\u2800e",
    "box of a letter to come": "a\u0378b",
    "object of a document": "see \ufffc below",
    "emoji": "done ✅ 🎉",
    "emoji family": "👨\u200d👩\u200d👧",
    "emoji with gender": "🕵\ufe0f\u200d♂\ufe0f",
    "emoji with skin": "👩🏽\u200d🚀",
    "skin without a joiner": "👍🏿 👋🏻",
    "two with skins": "🧑🏻\u200d❤\ufe0f\u200d💋\u200d🧑🏿",
    "eye in a bubble": "👁\ufe0f\u200d🗨\ufe0f",
    "pirate flag": "🏴\u200d☠\ufe0f",
    "flag of Wales": "\U0001f3f4" + tags("gbwls") + "\U000e007f",
    "flags in a row": "🇩🇪🇫🇷🇯🇵",
    "keycap without selector": "1\u20e3",
    "signs with selectors": "©\ufe0f ™\ufe0f ↔\ufe0f ⚠\ufe0e",
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
    "units": "5 µm, 10 Å, ΔT, 3 μs, 4 kΩ, 2 MΩ, 7 \u2126, 1 \u212b, Δx/Δt",
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


SHOWN_FORMATS = {
    *range(0x600, 0x606),
    *(0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD),
}
"""Signs that Unicode counts among its formats although they are seen, such as before a number."""


def test_every_format_control_of_unicode_is_hidden_between_letters() -> None:
    formats = [n for n in range(0x110000) if unicodedata.category(chr(n)) == "Cf"]
    assert len(formats) > 150
    seen = {n for n in formats if not list(hidden_spans(f"a{chr(n)}b"))}
    assert seen == SHOWN_FORMATS & set(formats)


@pytest.mark.parametrize(
    ("first", "last", "rule"),
    [
        pytest.param(0x202A, 0x202E, "bidirectional", id="embeddings and overrides"),
        pytest.param(0x2066, 0x2069, "bidirectional", id="isolates"),
        pytest.param(0x200E, 0x200F, "bidirectional", id="direction marks"),
        pytest.param(0x200B, 0x200B, "invisible", id="zero-width space"),
        pytest.param(0x200C, 0x200D, "joiner", id="joiners"),
        pytest.param(0x2060, 0x2065, "invisible", id="word joiner and operators"),
        pytest.param(0xFE00, 0xFE0F, "variation", id="selectors 1 to 16"),
        pytest.param(0xE0100, 0xE01EF, "variation", id="selectors 17 to 256"),
        pytest.param(0xE0000, 0xE007F, "tag", id="tags"),
        pytest.param(0xFFF9, 0xFFFB, "invisible", id="annotations"),
        pytest.param(0x2028, 0x2029, "separator", id="separators"),
        pytest.param(0xE000, 0xF8FF, "private-use", id="private use"),
        pytest.param(0xD800, 0xDFFF, "noncharacter", id="surrogates"),
    ],
)
def test_a_whole_range_is_hidden_between_letters(first: int, last: int, rule: str) -> None:
    for n in range(first, last + 1):
        assert [span.rule for span in hidden_spans(f"a{chr(n)}b")] == [rule], hex(n)


def test_a_line_is_shown_on_one_line() -> None:
    assert escape_line("a\r\nb\tc\x1b\nd") == "a\\r\\nb\tc\\x1b\\nd"


@pytest.mark.parametrize("unit", ["\u200b", "\u200d", "\u200e", "\r", "p\u0430 ", "\u0301"])
def test_long_text_of_one_worst_case_is_screened_to_its_end(unit: str) -> None:
    screened = screen(unit * 20_000)
    assert isinstance(screened, Findings)
    assert screened.findings[-1].end >= 20_000 - 1
