"""What is wrong with a question by its words, its answer and its passages; no model is asked."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bears.evaluation.answers.token_f1 import token_f1
from bears.files.intake.texts import blank
from bears.language import english
from bears.language.gates import GATES
from bears.language.normalisation import Normalisation, normalisation_of
from bears.language.profile import Language
from bears.language.text import Text
from bears.questions.settings import MadeSettings

OF_THE_LANGUAGE = ("script", "variant", "chatter")
"""The gates of translations that need no source."""
RESTATED = 10
"""From how many tokens on an answer can be the question said again."""
ITEM = r"[^,;.()]{1,40}?"
Fault = tuple[str, str]
"""The name of a filter, and what it says."""


@dataclass(frozen=True, slots=True)
class Written:
    """A question as it was written, with its answer."""

    question: str
    answer: str


@dataclass(frozen=True)
class Form:
    """The filters that look at words.

    Args:
        settings: thresholds, and which filters are off.
        tag: BCP 47 tag of the language.
        profile: of the language; None for English, which has none.
    """

    settings: MadeSettings
    tag: str
    profile: Language | None

    @property
    def rules(self) -> Normalisation:
        """How answers of the language are compared."""
        return normalisation_of(self.tag)

    def faults(self, draft: Written, texts: Sequence[str]) -> list[Fault]:
        """What is wrong, in the order of `FILTERS`; nothing of those that are off.

        Args:
            texts: the passages that it was written about.
        """
        said = ((name, look(draft, texts)) for name, look in self._looks())
        return [(name, message) for name, message in said if message]

    def tokens(self, text: str) -> list[str]:
        """As the answers of the language are compared."""
        return self.rules.tokens(self.rules.normal_form(text))

    def stands(self, part: str, text: str) -> bool:
        """Whether ``part`` stands in ``text`` as words do, or its tokens one after another."""
        if part and re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text):
            return True
        wanted = " ".join(self.tokens(part))
        return bool(wanted) and f" {wanted} " in f" {' '.join(self.tokens(text))} "

    def same_answer(self, answer: str, wanted: str) -> bool:
        """Whether an answer is the written one: that stands in it, or most of their tokens agree.

        A whole passage copied is no answer, whatever stands in it.
        """
        longest = len(self.tokens(wanted)) + self.settings.longest_answer
        held = len(self.tokens(answer)) <= longest and self.stands(wanted, answer)
        return held or token_f1(answer, wanted, self.rules) >= self.settings.reader_f1

    def _looks(self) -> Iterator[tuple[str, Callable[[Written, Sequence[str]], str]]]:
        looks = {
            "not_a_question": self._not_a_question,
            "language": self._language,
            "names_passage": self._names_passage,
            "leans": self._leans,
            "long_answer": self._long_answer,
            "answer_not_in_passage": self._not_there,
            "one_of_a_list": self._listed,
            "leaks_answer": self._leaks,
            "copies_passage": self._copies,
        }
        return (item for item in looks.items() if self.settings.severity(item[0]) != "off")

    def _not_a_question(self, draft: Written, _: Sequence[str]) -> str:
        asks = self.profile.mood.asks if self.profile else english.asks
        if not asks(draft.question):
            return "the question asks nothing"
        if len(re.findall(r"[?？]+", draft.question)) > 1:
            return "it asks more than one thing"
        return ""

    def _language(self, draft: Written, _: Sequence[str]) -> str:
        if self.profile is None:
            return ""
        text = Text("question", "", draft.question, self.tag, self.tag)
        said = (GATES[name](text, self.profile) for name in OF_THE_LANGUAGE)
        return next(filter(None, said), "")

    def names_passage(self, question: str) -> str:
        """Where a question speaks of the passage that it was written about; "" where nowhere."""
        own = self.profile.standalone.passage if self.profile else ()
        return _found((*english.NAMES_PASSAGE, *own), question, "it speaks of its passage")

    def _names_passage(self, draft: Written, _: Sequence[str]) -> str:
        return self.names_passage(draft.question)

    def _leans(self, draft: Written, _: Sequence[str]) -> str:
        own = self.profile.standalone.leans if self.profile else english.LEANS
        return _found(own, draft.question, "it cannot be understood alone")

    def _long_answer(self, draft: Written, _: Sequence[str]) -> str:
        count = len(self.tokens(draft.answer))
        return f"the answer has {count} tokens" if count > self.settings.longest_answer else ""

    def _not_there(self, draft: Written, texts: Sequence[str]) -> str:
        if blank(draft.answer) or not any(self.stands(draft.answer, text) for text in texts):
            return f"the answer {draft.answer!r:.60} does not stand in the passage"
        return ""

    def _listed(self, draft: Written, texts: Sequence[str]) -> str:
        joins = self.profile.standalone.joins if self.profile else english.JOINS
        holding = [text for text in texts if draft.answer in text]
        if holding and all(one_of_a_list(draft.answer, text, joins) for text in holding):
            return f"{draft.answer!r:.60} is one of a list"
        return ""

    def _leaks(self, draft: Written, _: Sequence[str]) -> str:
        if self.stands(draft.answer, draft.question):
            return f"the answer {draft.answer!r:.60} stands in the question"
        asked, told = ({*self.tokens(text)} for text in (draft.question, draft.answer))
        # Of fewer most may be the question's: which biotechnology? Industrial biotechnology.
        if len(told) < RESTATED or len(told & asked) <= self.settings.copied * len(told):
            return ""
        return f"the answer {draft.answer!r:.60} says what is asked again"

    def _copies(self, draft: Written, texts: Sequence[str]) -> str:
        asked = self.tokens(draft.question)
        longest = max((_run(asked, self.tokens(text)) for text in texts), default=0)
        if longest <= self.settings.copied * len(asked):
            return ""
        return f"{longest} of its {len(asked)} tokens stand in the passage in one piece"


def _run(one: Sequence[str], other: Sequence[str]) -> int:
    """How many tokens the longest piece has that stands in both."""
    best, before = 0, [0] * (len(other) + 1)
    for token in one:
        row = [0] * (len(other) + 1)
        for place, found in enumerate(other, start=1):
            if token == found:
                row[place] = before[place - 1] + 1
        best, before = max(best, *row), row
    return best


def _found(patterns: Sequence[str], text: str, message: str) -> str:
    found = (re.search(pattern, text, re.IGNORECASE) for pattern in patterns)
    match = next(filter(None, found), None)
    return f"{message}: {match.group().strip()!r:.60}" if match else ""


def one_of_a_list(answer: str, text: str, joins: Sequence[str]) -> bool:
    """Whether an answer stands in a text as one of a list, and nowhere else.

    Args:
        joins: what stands before the last of a list (" and "), or between any two ("、"). Where
            spaces stand around it, only what begins with a capital or a digit is of the list.
    """
    places = [match.span() for match in re.finditer(re.escape(answer), text)] if answer else []
    return bool(places) and all(
        any(_joined(text[:start], text[end:], join) for join in joins) for start, end in places
    )


def _joined(before: str, after: str, join: str) -> bool:
    if not join.startswith(" "):
        return before.endswith(join) or after.startswith(join)
    more = re.match(rf"((?:, {ITEM})*),?{join}(\S)", after)
    if more and all(map(_names, [*more[1].split(", ")[1:], more[2]])):
        return True
    last = re.search(rf"(\S+?),?{join}$", before)
    return bool(last and _names(last[1]))


def _names(item: str) -> bool:
    return item[:1].isupper() or item[:1].isdigit()
