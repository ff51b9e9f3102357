"""The same marks in Arabic, as far as it has them: `span_marks.py` names what each means.

Written in the folded form: without vowel signs, with one form of alif, ya and ta marbuta. What is
here was chosen for statements about how to work; it is a small part of the language.
"""
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["ARABIC_MARKS"]

ARABIC_MARKS: Final[Mapping[str, str]] = {
    "always": r"دايما|في كل مره",
    "never": r"ابدا|بعد الان",
    "lasting": r"من الان فصاعدا|في المستقبل|نهاييا",
    "whenever": r"كلما|عندما",
    "remember": r"تذكر",
    "habit": r"عاده|غالبا",
    "now": r"هذه المره|اليوم|الان(?! فصاعدا)|موقتا|لاحقا",
    "exception": r"^لهذا",
    "past_time": r"الماضي|السابق|سابقا|\bقبل\b",
    "prefer": r"افضل(?! نسخه)",
    "dislike": r"اكره|لا احب",
    "avoid": r"اتجنب|ارفض",
    "aversion": r"حساسيه",
    "habit_not": r"\bلا (?:اشرب|اكل|اشاهد|استخدم|اريد|اقرا|البس)\b|ولا اكل",
    "habit_do": r"\bاميل\b|انا اعمل",
    "mental_not": r"لا (?:اعرف|افهم|اتذكر)",
    "identity": r"\bانا (?:نباتي|مصاب)",
    "like": r"\bاحب\b|اعجب",
    "want_all": r"اريد دايما",
    "my_setting": r"لا تنادني",
    "i": r"\bانا\b",
    "me": r"\bلي\b|اجبني|اسالني",
    "we_do": r"\b(?:نحن )?(?:نستخدم|نخزن|نكتب|نشغل|نحفظ|ندمج|ندعم|نعتمد|نسمي)\b",
    "we": r"نحن",
    "our": r"(?:سنتنا|قاعدتنا|فريقنا|مشروعنا|بياناتنا)",
    "project": r"هذا (?:المشروع|المستودع)",
    "order": r"^(?:من فضلك )?(?:لا ت\w+"
    r"|ا(?:جب|ستخدم|كتب|سال|رسم|عد|حذف|عرض|ضف)\w*|شغل|ترجم|لخص|صحح)\b",
    "order_not": r"^لا ت",
    "please": r"من فضلك",
    "generic": r"^(?:كل|جميع)\b",
    "for_all": r"لكل",
    "outputs": r"الرسوم|الاختبارات|التقارير|الملفات|التعليقات|ردودك",
    "rule_noun": r"القاعده",
    "modal": r"يجب ان",
    "decided": r"قررنا|قررت|اتفقنا|اخترنا|انتقلنا",
    "will_not": r"\bلن ن",
    "instead": r"\bبدل\b|وليس|\bعلي\b",
    "no_longer": r"بعد الان",
    "so": r"\bف(?:لا)\b",
    "asks": r"^(?:هل|ما|ماذا|لماذا|كيف|اين|متي|ايهما|من)\b(?! فضلك| الان)",
    "past": r"\b(?:استخدمنا|كنت|اشتريت|ظهر)\b",
    "used_to": r"\bلم ن",
    "planning": r"\bافكر\b",
    "hypothetical": r"ربما|\bلو\b|\bقد\b",
    "kin": r"زميلي|مديري|اختي|العميل|الفريق الاخر",
    "reported": r"\b(?:قال|تقول|كتب)\b",
    "language": r"ترجم",
    "result": r"خطا|يتوقف",
    "acks": r"شكرا|صباح",
    "this_thing": r"هذه? (?:الخطا|الرسم|الحلقه|الفقره)",
    "again": r"مره اخري",
}
