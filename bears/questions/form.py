"""Find faults in a question from its words, its answer and its passage, without a model."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from bears.evaluation.answers.token_f1 import token_f1
from bears.files.visible import blank
from bears.language import english
from bears.language.gates import GATES
from bears.language.normalization import Normalization, normalization_of
from bears.language.profile import Language
from bears.language.text import Text
from bears.questions.settings import MadeSettings

RESTATED = 10
"""The number of tokens from which on an answer may restate the question."""
ITEM = r"[^,;.()]{1,40}?"
Fault = tuple[str, str]
"""The name of a filter, and its message."""


@dataclass(frozen=True, slots=True)
class Written:
    """A written question with its answer."""

    question: str
    answer: str


@dataclass(frozen=True)
class Form:
    """The filters that look at words.

    Args:
        settings: thresholds, and the severity of each filter.
        tag: BCP 47 tag of the language.
        profile: of the language; None for English.
    """

    settings: MadeSettings
    tag: str
    profile: Language | None

    @property
    def rules(self) -> Normalization:
        """Return the rules for comparing answers of the language."""
        return normalization_of(self.tag)

    def faults(self, draft: Written, passage: str) -> list[Fault]:
        """Return the faults that the filters find, in the order of `FILTERS`.

        Args:
            passage: the text that it was written about.
        """
        checks: dict[str, Callable[[Written, str], str]] = {
            "not_a_question": self._not_a_question,
            "language": self._language,
            "names_passage": lambda draft, _: self.passage_in(draft.question),
            "leans": self._leans,
            "long_answer": self._long_answer,
            "answer_not_in_passage": self._not_there,
            "one_of_a_list": self._listed,
            "leaks_answer": self._leaks,
            "copies_passage": self._copies,
        }
        on = (name for name in checks if self.settings.severity(name) != "off")
        return [(name, message) for name in on if (message := checks[name](draft, passage))]

    def tokens(self, text: str) -> list[str]:
        """Tokenize the text the way answers are compared."""
        return self.rules.tokens(self.rules.normal_form(text))

    def occurs(self, part: str, text: str) -> bool:
        """Return whether ``text`` contains ``part`` as words, or its tokens in sequence."""
        if part and re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text):
            return True
        wanted = " ".join(self.tokens(part))
        return bool(wanted) and f" {wanted} " in f" {' '.join(self.tokens(text))} "

    def same_answer(self, answer: str, wanted: str) -> bool:
        """Return whether an answer contains the written one, or most of their tokens agree.

        A copy of a whole passage does not count as an answer.
        """
        longest = len(self.tokens(wanted)) + self.settings.longest_answer
        held = len(self.tokens(answer)) <= longest and self.occurs(wanted, answer)
        return held or token_f1(answer, wanted, self.rules) >= self.settings.reader_f1

    def _not_a_question(self, draft: Written, _: str) -> str:
        asks = self.profile.mood.asks if self.profile else english.asks
        if not asks(draft.question):
            return "the question asks nothing"
        if len(re.findall(r"[?？]+", draft.question)) > 1:
            return "it asks more than one thing"
        return ""

    def _language(self, draft: Written, _: str) -> str:
        if self.profile is None:
            return ""
        text = Text("question", "", draft.question, self.tag, self.tag)
        # The gates of translations that need no source.
        gates = (GATES["script"], GATES["variant"], GATES["chatter"])
        messages = (gate(text, self.profile) for gate in gates)
        return next(filter(None, messages), "")

    def passage_in(self, question: str) -> str:
        """Return the fault of a question that mentions its passage, or an empty string."""
        own = self.profile.standalone.passage if self.profile else ()
        return _found((*english.NAMES_PASSAGE, *own), question, "it speaks of its passage")

    def _leans(self, draft: Written, _: str) -> str:
        own = self.profile.standalone.leans if self.profile else english.LEANS
        return _found(own, draft.question, "it cannot be understood alone")

    def _long_answer(self, draft: Written, _: str) -> str:
        count = len(self.tokens(draft.answer))
        return f"the answer has {count} tokens" if count > self.settings.longest_answer else ""

    def _not_there(self, draft: Written, passage: str) -> str:
        if blank(draft.answer) or not self.occurs(draft.answer, passage):
            return f"the passage does not contain the answer {draft.answer!r:.60}"
        return ""

    def _listed(self, draft: Written, passage: str) -> str:
        joins = self.profile.standalone.joins if self.profile else english.JOINS
        if one_of_a_list(draft.answer, passage, joins):
            return f"{draft.answer!r:.60} is one of a list"
        return ""

    def _leaks(self, draft: Written, _: str) -> str:
        if self.occurs(draft.answer, draft.question):
            return f"the question contains the answer {draft.answer!r:.60}"
        asked, given = ({*self.tokens(text)} for text in (draft.question, draft.answer))
        # A short answer may share most tokens: which biotechnology? Industrial biotechnology.
        if len(given) < RESTATED or len(given & asked) <= self.settings.copied * len(given):
            return ""
        return f"the answer {draft.answer!r:.60} restates the question"

    def _copies(self, draft: Written, passage: str) -> str:
        asked = self.tokens(draft.question)
        compared = SequenceMatcher(None, asked, self.tokens(passage), autojunk=False)
        longest = compared.find_longest_match().size
        if longest <= self.settings.copied * len(asked):
            return ""
        return f"the passage contains {longest} of its {len(asked)} tokens in one piece"


def _found(patterns: Sequence[str], text: str, message: str) -> str:
    found = (re.search(pattern, text, re.IGNORECASE) for pattern in patterns)
    match = next(filter(None, found), None)
    return f"{message}: {match.group().strip()!r:.60}" if match else ""


def one_of_a_list(answer: str, text: str, joins: Sequence[str]) -> bool:
    """Return whether an answer occurs in a text only as one item of a list.

    Args:
        joins: the word before the last item (" and "), or the separator of items ("、"). If it has
            spaces around it, only items that begin with a capital or a digit count.
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
