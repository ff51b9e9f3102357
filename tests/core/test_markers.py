from __future__ import annotations

import pytest

from memnb.core.markers import doubt, is_temporary

TEMPORARY = {
    "this task": "Use spaces for this task.",
    "this time": "This time, leave the index out.",
    "for now": "Keep the old name for now.",
    "two blanks between": "Keep the old name for  now.",
    "just now": "I renamed it just now.",
    "today": "We report in USD today.",
    "capitals": "TODAY we report in USD.",
    "possessive": "Use today's rates.",
    "tonight": "Run the long job tonight.",
    "temporarily": "Skip the slow tests temporarily.",
    "until something": "Freeze main until Friday.",
    "wide letters": "Use USD ｔｏｄａｙ.",
    "Arabic: this task": "استخدم المسافات في هذه المهمة",
    "Arabic: this time, with a particle": "لهذه المرة نكتب بالدولار",
    "Arabic: today": "نكتب التقارير بالدولار اليوم",
    "Arabic: today, with a particle": "واليوم نكتب بالدولار",
    "Arabic: tonight": "شغل المهمة الليلة",
    "Arabic: now, with hamza": "نستخدم المسافات الآن",
    "Arabic: for now, with vowel signs": "نستخدم المسافات حَالِيًّا",
    "Arabic: temporarily": "أوقف الاختبارات مؤقتًا",
    "Arabic: until a day": "لا تغير الفرع حتى نهاية الأسبوع",
    "Arabic: until a date": "لا تغير الفرع حتى 5 مارس",
    "Arabic: until, with alef maksura": "انتظر إلى أن ننتهي من المراجعة",
}

LASTING = {
    "a plain rule": "We use tabs for indentation in this repo.",
    "inside a longer word": "Holidays and todays are one word here.",
    "inside a name": "The column is called today_utc.",
    "until with nothing after it": "The keyword is until.",
    "from now on": "From now on we report in EUR.",
    "now": "We now use Polars.",
    "Arabic: a plain rule": "نستخدم علامات الجدولة في هذا المستودع",
    "Arabic: daily": "التقارير اليومية بالعربية",
    "Arabic: from now on": "من الآن فصاعدًا نكتب بالعربية",
}


@pytest.mark.parametrize("text", TEMPORARY.values(), ids=TEMPORARY)
def test_what_ends_with_the_task_or_the_day_is_temporary(text: str) -> None:
    assert is_temporary(text)


@pytest.mark.parametrize("text", LASTING.values(), ids=LASTING)
def test_what_holds_on_is_not_temporary(text: str) -> None:
    assert not is_temporary(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Only use tabs in Makefiles.", "limited", id="only"),
        pytest.param("نستخدم المسافات فقط", "limited", id="only in Arabic"),
        pytest.param("نكتب حتى التعليقات بالعربية", "limited", id="hatta, which may mean even"),
        pytest.param("Correction: we use spaces.", "correcting", id="correction"),
        pytest.param("We no longer use pandas.", "correcting", id="no longer"),
        pytest.param("لم نعد نستخدم باندا", "correcting", id="no longer in Arabic"),
        pytest.param("Maybe we should use Polars.", "unsure", id="maybe"),
        pytest.param("ربما نستخدم بولارز", "unsure", id="maybe in Arabic"),
        pytest.param("Do we use tabs?", "asking", id="a question"),
        pytest.param("هل نستخدم المسافات؟", "asking", id="a question in Arabic"),
        pytest.param("Tabs, right？", "asking", id="a wide question mark"),
        pytest.param("Please rename df to prices.", "asking", id="a request"),
        pytest.param("Could you plot it?", "asking", id="a polite request"),
        pytest.param("Please always use tabs.", None, id="a request that lasts"),
        pytest.param("Please remember that we use tabs.", None, id="a request to remember"),
        pytest.param("Can you remember what we use?", "asking", id="a question of memory"),
        pytest.param("We use tabs for indentation.", None, id="a plain rule"),
        pytest.param("The commonly used name is df.", None, id="inside a longer word"),
    ],
)
def test_some_words_ask_for_a_persons_look(text: str, expected: str | None) -> None:
    assert doubt(text) == expected
