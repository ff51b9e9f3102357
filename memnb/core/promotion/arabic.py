"""Arabic sentences that state a standing preference, as patterns of the whole sentence.

Written in common spelling; they are matched in the one spelling of `forms.spelled`, without vowel
signs. What is chosen must look technical, or stand in one of the closed lists here.

1. The imperative is read in its three forms (`استخدم`, `استخدمي`, `استخدموا`) and, like the
   English one, only with what makes it standing: `دائما`, `افتراضيا`, `من الآن فصاعدا`.
2. `أفضل` is a verb ("I prefer") and an elative ("best"): only what is chosen follows it, so
   "the best X for Y" and "X is better than Y" are read as nothing.
3. The plural present (`نستخدم`) states a habit; with `كان` it is past, with `قد`, `ربما`, `لعل` in
   doubt, with `إذا`, `لو`, `إن` a condition, with `هل` or `أ` a question: none of them fits.
4. Adverbs stand in the accusative with nunation, written with or without its sign and alef.
5. Negation of what is standing: `لا` with the jussive or the present (`لا تستخدم`, `لا نستخدم`) and
   `أبدا` or `مطلقا`; `تجنب … دائما`.

After Ryding, A Reference Grammar of Modern Standard Arabic (2005): chapters 10 (elative), 21 (verb
moods), 35 (imperative, prohibition), 37 (negation), 39 (conditions); Wright, A Grammar of the
Arabic Language, vol. II, on `قد` and `كان` with the imperfect; Brustad, The Syntax of Spoken Arabic
(2000), for `خلي` as an imperative of causing. Letters are folded after Larkey, Ballesteros and
Connell, "Improving stemming for Arabic information retrieval" (SIGIR 2002), without stemming.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from memnb.core.promotion.forms import spelled
from memnb.core.promotion.values import COMMAND, NAME, PATH, any_of

__all__ = [
    "CONCISE",
    "DETAILED",
    "LANGUAGES",
    "THINGS",
    "avoided",
    "chosen",
    "project_uses",
    "replies_in",
    "replies_kept",
    "run_by",
    "stored",
    "wanted",
]

_PLEASE: Final = "(?:(?:من فضلك|رجاء|رجاءا|الرجاء|لو سمحت),? )?"
_THE_PROJECT: Final = "(?:المشروع|هذا المشروع|مشروعنا|المستودع|هذا المستودع)"
_IN: Final = f"(?: في {_THE_PROJECT})?"
_BY: Final = "(?:باستخدام|بواسطة|عبر|عن طريق|بالأمر|ب) ?"
_ALWAYS: Final = "(?:دائما|دوما|افتراضيا|بشكل افتراضي|بشكل دائم|من الآن فصاعدا)"
_USE: Final = "(?:استخدم|استخدمي|استخدموا|استعمل|استعملي|استعملوا|اعتمد|اعتمدي|اعتمدوا)"
_WE_USE: Final = "(?:نستخدم|نستعمل|نعتمد)"
_I_USE: Final = "(?:أستخدم|أستعمل|أعتمد)"
_I_PREFER: Final = "(?:(?:أنا )?أفضل|(?:نحن )?نفضل)"


def _whole(*patterns: str) -> tuple[str, ...]:
    return tuple(spelled(f"{_PLEASE}{pattern}") for pattern in patterns)


def chosen(value: str) -> tuple[str, ...]:
    """Sentences by which `value` (a pattern) is what someone has chosen for good."""
    return _whole(
        f"{_I_PREFER} (?:استخدام |استعمال )?{value}(?: {_ALWAYS})?{_IN}",
        f"{_USE} {value} {_ALWAYS}{_IN}",
        f"{_ALWAYS} {_USE} {value}{_IN}",
        f"{_ALWAYS} {_WE_USE} {value}{_IN}",
        f"(?:{_WE_USE}|{_I_USE}) {value} {_ALWAYS}{_IN}",
        f"(?:تفضيلي|تفضيلنا|خياري المفضل|خيارنا المفضل)(?: هو)? {value}",
        f"(?:اجعل|اجعلي|اجعلوا|خلي|خل) {value} (?:هو )?(?:الافتراضي|الخيار الافتراضي)",
        f"{value} هو (?:الافتراضي|الخيار الافتراضي|الخيار المفضل)(?: لدينا| عندنا| لدي| عندي)?",
    )


def wanted(value: str) -> tuple[str, ...]:
    """As `chosen`, and that it is so here: only for what is nothing else but a choice of style."""
    return (*chosen(value), *_whole(f"{_WE_USE} {value}{_IN}"))


def avoided(value: str) -> tuple[str, ...]:
    """Sentences by which `value` is unwanted for good."""
    never = "(?:أبدا|مطلقا|إطلاقا|نهائيا)"
    return _whole(
        f"لا (?:تستخدم|تستخدمي|تستخدموا|تستعمل|تستعملي|تستعملوا) {value} {never}{_IN}",
        f"لا (?:نستخدم|نستعمل|أستخدم|أستعمل) {value}(?: {never})?{_IN}",
        f"{_ALWAYS} (?:تجنب|تجنبي|تجنبوا) (?:استخدام )?{value}{_IN}",
        f"(?:تجنب|تجنبي|تجنبوا) (?:استخدام )?{value} {_ALWAYS}{_IN}",
        f"{_I_PREFER} (?:عدم استخدام|تجنب) {value}{_IN}",
    )


CONCISE: Final = "(?:مختصرة|قصيرة|موجزة|مقتضبة)"
DETAILED: Final = "(?:مفصلة|تفصيلية|مطولة|طويلة)"
_REPLIES: Final = "(?:الردود|ردودك|الإجابات|إجاباتك|الأجوبة|أجوبتك|الشروحات|الشروح)"
_SOME_REPLIES: Final = "(?:ردودا|إجابات|أجوبة|شروحات)"
_KEEP: Final = "(?:خلي|خل|اجعل|اجعلي|اجعلوا|أبق|أبقي|اكتب|اكتبي|اكتبوا)"


def replies_kept(quality: str) -> tuple[str, ...]:
    """Sentences about how long replies are to be: all of them, or always."""
    return _whole(
        f"{_KEEP} {_REPLIES} {quality}(?: {_ALWAYS})?",
        f"{_ALWAYS} {_KEEP} {_REPLIES} {quality}",
        f"{_I_PREFER} {_REPLIES} ال{quality}",
        f"{_I_PREFER} {_SOME_REPLIES} {quality}",
        f"{_I_PREFER} أن تكون {_REPLIES} {quality}",
        f"(?:أريد|نريد) {_REPLIES} {quality} {_ALWAYS}",
    )


LANGUAGES: Final[Mapping[str, str]] = {
    spelled(name): language
    for name, language in {
        "العربية": "Arabic",
        "العربية الفصحى": "Modern Standard Arabic",
        "الإنجليزية": "English",
        "الفرنسية": "French",
        "الألمانية": "German",
        "الإسبانية": "Spanish",
        "الإيطالية": "Italian",
        "التركية": "Turkish",
        "الفارسية": "Persian",
        "الروسية": "Russian",
        "الصينية": "Chinese",
        "اليابانية": "Japanese",
        "العبرية": "Hebrew",
        "الأردية": "Urdu",
        "الهولندية": "Dutch",
    }.items()
}


def replies_in() -> tuple[str, ...]:
    """Sentences about the language of replies; the group `arabic` holds its name."""
    language = rf"ب(?:اللغة )?(?P<arabic>{any_of(LANGUAGES)})"
    reply = "(?:رد|ردي|ردوا|أجب|أجيبي|أجيبوا|جاوب|جاوبي|جاوبني)(?: علي)?"
    return _whole(
        f"{reply} {language} {_ALWAYS}",
        f"{_ALWAYS} {reply} {language}",
        f"{_KEEP} {_REPLIES} {language}(?: {_ALWAYS})?",
        f"{_ALWAYS} {_KEEP} {_REPLIES} {language}",
        f"{_I_PREFER} {_REPLIES} {language}",
        f"{_I_PREFER} أن تكون {_REPLIES} {language}",
    )


def run_by(command: str = COMMAND) -> tuple[str, ...]:
    """Sentences that say by which command the project's tests run."""
    tests = "(?:الاختبارات|اختبارات المشروع|اختباراتنا)"
    return _whole(
        f"(?:شغل|شغلي|شغلوا|نفذ|نفذي|نفذوا) {tests} {_BY}{command}",
        f"(?:نشغل|ننفذ) {tests} {_BY}{command}",
        f"تشغل {tests} {_BY}{command}",
        f"أمر الاختبارات هو {command}",
    )


def project_uses(name: str = NAME) -> tuple[str, ...]:
    """Sentences that say what the project is built with."""
    return _whole(
        f"{_THE_PROJECT} (?:يستخدم|يستعمل|يعتمد على) {name}",
        f"(?:يستخدم|يستعمل) {_THE_PROJECT} {name}",
        f"{_WE_USE} {name} في {_THE_PROJECT}",
        f"في {_THE_PROJECT},? {_WE_USE} {name}",
    )


THINGS: Final[Mapping[str, str]] = {
    spelled(name): thing
    for name, thing in {
        "البيانات": "data",
        "البيانات الخام": "raw data",
        "النماذج": "models",
        "النتائج": "results",
        "الملفات": "files",
        "السجلات": "logs",
        "الإعدادات": "settings",
        "الصور": "images",
        "الاختبارات": "tests",
        "التقارير": "reports",
        "الدفاتر": "notebooks",
    }.items()
}
"""What may be said to lie somewhere, as in the English form of the same sentence."""


def stored() -> tuple[str, ...]:
    """Sentences that say where something lies; the group `arabic` names it."""
    thing = f"(?P<arabic>{any_of(THINGS)})"
    where = f"(?:في|تحت|داخل|ضمن)(?: المجلد| مجلد| الملف)? (?P<path>{PATH})"
    return _whole(
        f"{thing} (?:محفوظة|مخزنة|موجودة) {where}",
        f"(?:تحفظ|تخزن) {thing} {where}",
        f"(?:نحفظ|نخزن) {thing} {where}",
    )
