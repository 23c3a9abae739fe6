"""Recognize by its words an answer that says that it cannot answer."""

import re

from bears.language.tags import primary
from bears.language.yes_no import LITERAL

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
