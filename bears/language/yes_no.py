"""Recognize a yes, a no or a refusal to answer, by one rule for gates, translation and scores."""

import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Literal

from bears.language.tags import primary

YesNo = Literal["yes", "no"]

WORDS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "de": (("ja", "jawohl"), ("nein",)),
    "en": (("yes",), ("no",)),
    "es": (("sí",), ("no",)),
    "fr": (("oui",), ("non",)),
    "it": (("sì",), ("no",)),
    "ja": (("はい", "ええ", "そうです", "是"), ("いいえ", "いえ", "違います", "否")),
    "ko": (("예", "네", "그렇다", "맞다"), ("아니요", "아니오", "아니다", "아뇨")),
    "nl": (("ja",), ("nee",)),
    "pt": (("sim",), ("não",)),
    "ru": (("да",), ("нет",)),
    "sl": (("da", "ja", "drži"), ("ne", "ni")),
    "zh": (("是", "是的", "對", "对"), ("否", "不", "不是", "不對", "不对")),
}
"""Words that are a whole answer, by primary subtag; other languages have none here."""

_BEGINNINGS = {
    "ja": ("はい|ええ|そうです", "いいえ|いえ|違"),
    "ko": (r"(?:예|네)\b|그렇|맞", "아니|아뇨"),
    "zh": ("[是對对有會会]|可以", "[否不沒没無无非]"),
}
"""Beginnings of longer answers in languages where one word can contain another."""
_PHRASES = {
    "de": r"(?:nicht|un)\W?beantwort|kann (?:die|diese|deine|ihre) frage nicht"
    r"|weiß (?:ich )?(?:es )?nicht|keine (?:angabe|information|antwort)",
    "en": r"(?:can(?:no|['’])t|unable to|not able to|could(?: not|n['’]t)) (?:be )?"
    r"(?:answer|determin|find|provid)|(?:do not|don['’]t) (?:know|have)|no (?:information|answer)"
    r"|(?:does not|doesn['’]t|do not|not) (?:\w+ ){0,2}?(?:mention|provid|contain|specif|state)"
    r"|not (?:enough|sufficient) information|insufficient information|not answerable",
    "ja": r"(?:答え|回答).{0,6}(?:できません|できない|られません|られない)"
    r"|[わ分]かりません|不明です|(?:記載|情報|言及).{0,4}(?:ありません|ない|されていません)",
    "ko": r"(?:답|대답|답변).{0,4}(?:할 수 없|수 없)|알 수 없|모르겠|모릅니다"
    r"|(?:정보|언급|내용).{0,6}(?:없|않)",
    "sl": r"(?:ni|ne) mo(?:goče|rem) (?:\w+ )?(?:odgovor|najti)|ne vem"
    r"|ni (?:podatk|informacij|naveden|omenjen)",
    "zh": r"(?:無法|无法|不能|沒法|没法).{0,6}(?:回答|得知|確定|确定|判斷|判断|找到)|不知道|不清楚"
    r"|(?:沒有|没有|未).{0,6}(?:提及|提到|說明|说明|相關|相关|資訊|资讯|信息|資料|资料)"
    r"|[無无][從从]得知",
}
_SENTENCE = re.compile(r"[.!?。！？\n]")


def yes_or_no(answer: str, language: str) -> YesNo | None:
    """Return whether ``answer`` is a yes or a no of its language (a BCP 47 tag) and nothing else.

    Case, full width and punctuation around it are ignored.
    """
    return means(answer, *WORDS.get(primary(language), ((), ())))


def means(answer: str, yes: Collection[str], no: Collection[str]) -> YesNo | None:
    """Return what `yes_or_no` returns, for the given words."""
    plain = _plain(answer)
    if plain in map(_plain, yes):
        return "yes"
    return "no" if plain in map(_plain, no) else None


def first_yes_or_no(answer: str, language: str) -> YesNo | None:
    """Return the meaning of the first word of yes or no in ``answer``.

    In scripts without spaces, and in Korean, the answer must begin with the word.
    """
    tag, plain = primary(language), _plain(answer)
    if tag in _BEGINNINGS:
        patterns = [re.compile(f"^(?:{pattern})") for pattern in _BEGINNINGS[tag]]
    elif tag in WORDS:
        patterns = [re.compile(rf"\b(?:{'|'.join(words)})\b") for words in WORDS[tag]]
    else:
        return None
    positive, negative = (pattern.search(plain) for pattern in patterns)
    if positive and (not negative or positive.start() < negative.start()):
        return "yes"
    return "no" if negative else None


def _plain(text: str) -> str:
    return re.sub(r"^\W+|(?<!\W)\W+$", "", unicodedata.normalize("NFKC", text).casefold())


LITERAL = "Unanswerable"
"""QASPER's word, which files of answers use in every language."""


def says_unanswerable(answer: str, form: str) -> bool:
    """Return whether ``answer`` is the language's ``form`` or the literal, and nothing else.

    Case, full width, white space and punctuation around it are ignored.
    """
    return means(answer, (form, LITERAL), ()) is not None


def refuses(answer: str, language: str) -> bool:
    """Return whether an answer begins with words that refuse it, or is QASPER's literal.

    Only its first sentence counts. It knows German, English, Japanese, Korean, Slovenian and
    Chinese; English is known beside each of them.

    Args:
        language: BCP 47 tag of the answer.
    """
    first = _SENTENCE.split(answer.strip(), maxsplit=1)[0].casefold()
    patterns = {_PHRASES["en"], _PHRASES.get(primary(language), _PHRASES["en"])}
    literal = LITERAL.casefold() in answer.casefold()
    return literal or any(re.search(pattern, first) for pattern in patterns)
