"""Find faults in a question from its words, its answer and its passage, without a model."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice

from bears.evaluation.answers.measures import token_f1
from bears.files.visible import blank
from bears.language import english
from bears.language.gates import GATES
from bears.language.normalization import Normalization, normalization_of
from bears.language.profile import Language
from bears.language.text import Text
from bears.questions.settings import MadeSettings

RESTATED = 10
"""The number of tokens from which on an answer may restate the question."""
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
        """Return the faults that the filters find, in the order of the checks.

        Args:
            passage: the text that it was written about.
        """
        found = (*self._of_question(draft.question), *self._of_answer(draft, passage))
        return [fault for fault in found if self.settings.severity(fault[0]) != "off"]

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

    def passage_in(self, question: str) -> str:
        """Return the fault of a question that mentions its passage, or an empty string."""
        own = self.profile.standalone.passage if self.profile else ()
        return _found((*english.NAMES_PASSAGE, *own), question, "it speaks of its passage")

    def _of_question(self, question: str) -> Iterator[Fault]:
        asks = self.profile.mood.asks if self.profile else english.asks
        if not asks(question):
            yield "not_a_question", "the question asks nothing"
        elif len(re.findall(r"[?？]+", question)) > 1:
            yield "not_a_question", "it asks more than one thing"
        if self.profile:
            text = Text("question", "", question, self.tag, self.tag)
            # The gates of translations that need no source.
            gates = (GATES["script"], GATES["variant"], GATES["chatter"])
            messages = filter(None, (gate(text, self.profile) for gate in gates))
            yield from (("language", message) for message in islice(messages, 1))
        if said := self.passage_in(question):
            yield "names_passage", said
        own = self.profile.standalone.leans if self.profile else english.LEANS
        if said := _found(own, question, "it cannot be understood alone"):
            yield "leans", said

    def _of_answer(self, draft: Written, passage: str) -> Iterator[Fault]:
        answer, shown = draft.answer, f"{draft.answer!r:.60}"
        asked, given, there = map(self.tokens, (draft.question, answer, passage))
        if len(given) > self.settings.longest_answer:
            yield "long_answer", f"the answer has {len(given)} tokens"
        if blank(answer) or not self.occurs(answer, passage):
            yield "answer_not_in_passage", f"the passage does not contain the answer {shown}"
        words, copied = {*given}, self.settings.copied
        if self.occurs(answer, draft.question):
            yield "leaks_answer", f"the question contains the answer {shown}"
        # A short answer may share most tokens: which biotechnology? Industrial biotechnology.
        elif len(words) >= RESTATED and len(words.intersection(asked)) > copied * len(words):
            yield "leaks_answer", f"the answer {shown} restates the question"
        longest = SequenceMatcher(None, asked, there, autojunk=False).find_longest_match().size
        if longest > copied * len(asked):
            message = f"the passage contains {longest} of its {len(asked)} tokens in one piece"
            yield "copies_passage", message


def _found(patterns: Sequence[str], text: str, message: str) -> str:
    found = (re.search(pattern, text, re.IGNORECASE) for pattern in patterns)
    match = next(filter(None, found), None)
    return f"{message}: {match.group().strip()!r:.60}" if match else ""
