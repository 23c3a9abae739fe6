"""What a reader makes of the questions: with the gold, without, with a part, with other documents.

The requests are those of a generator's answers (`bears.answers`), and so are their keys: who reads,
and how, is one of conf/generator.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bears.answers.citations import cited
from bears.answers.prompts import AnswerPrompt
from bears.answers.shown import show
from bears.answers.task import AnswerRequest, Answers, AnswerTask
from bears.client.wire import ChatAnswer
from bears.language.unanswerable import says_unanswerable
from bears.memory.published import PublishedMemory
from bears.memory.use import CheckedReply, all_of
from bears.questioning.form import Draft, Fault, Form
from bears.questioning.pool import Pool
from bears.questioning.settings import EveryPrompt, MadeSettings
from bears.questioning.units import Unit
from bears.types import Document

EVERY = "every answer"
ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
"""What models put before the items of a list."""


@dataclass
class Readings(Answers):
    """What is needed, and what is known of each question whose answers are all there.

    Args:
        faults: question_id to what the reader's answers say against it.
        also: question_id to documents that answer it too.
        read: question_id to what was answered where.
    """

    faults: dict[str, list[Fault]] = field(default_factory=dict)
    also: dict[str, list[str]] = field(default_factory=dict)
    read: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class ReadingTask(AnswerTask):
    """Answering made questions to see what they are worth: a `bears.memory.use.Use`.

    What a reader cannot answer from its gold is asked no further, and so on.

    Args:
        every: what is said where every answer of the passages is asked for.
        made: thresholds, and which filters are off.
        form: how texts of the language are compared.
        pool: where other documents are.
        drafts: unit to the question to be read, of those that are asked at all.
    """

    every: EveryPrompt
    made: MadeSettings
    form: Form
    pool: Pool
    drafts: Mapping[Unit, Draft]

    advice = "publish without them, and count them as not answered: memory publish --give-up"

    @property
    def wanted(self) -> str:
        """What may be missing."""
        return f"readings of made questions by {self.settings.name}"

    def prompt_of(self, request: AnswerRequest) -> AnswerPrompt:
        """What is said first."""
        return self.every if request.field == EVERY else super().prompt_of(request)

    def check(self, request: AnswerRequest, answer: ChatAnswer) -> CheckedReply:
        """What is wrong with an answer. A list without end is as good as one with it."""
        endless = request.field == EVERY and answer.finish_reason == "length"
        whole = replace(answer, finish_reason="stop") if endless else answer
        return super().check(request, whole)

    def resolve(self, known: PublishedMemory) -> Readings:
        """Ask of each question what its earlier answers lead to."""
        found = Readings()
        for unit, draft in self.drafts.items():
            _Reading(self, unit, draft, known, found).resolve()
        return found

    def complete(self, known: PublishedMemory) -> Readings:
        """As `resolve`. Raises MemoryMiss where something was never asked."""
        return all_of(self.resolve(known), self.wanted)


@dataclass(frozen=True)
class _Reading:
    """One question's readings."""

    task: ReadingTask
    unit: Unit
    draft: Draft
    known: PublishedMemory
    found: Readings

    def resolve(self) -> None:
        """Step after step, each with its own fault, until one is found or unknown."""
        name = self.unit.question_id
        steps = self._with_gold, self._without, self._every, self._one_hop, self._elsewhere
        for step in steps:
            faults = step()
            if faults is None:
                return
            if faults:
                self.found.faults[name] = faults
                return
        self.found.faults[name] = []

    def _with_gold(self) -> list[Fault] | None:
        if self._off("unanswerable"):
            return []
        answer = self._answer("gold", self.unit.documents)
        if answer is None:
            self.found.waiting += [self._request("closed-book", ())]
            return None
        if self._right(answer):
            return []
        return self._fault("unanswerable", f"a reader of its passage answers {answer!r:.80}")

    def _without(self) -> list[Fault] | None:
        if self._off("closed_book"):
            return []
        answer = self._answer("closed-book", ())
        if answer is None:
            return None
        if self._right(answer):
            return self._fault("closed_book", f"answered without any passage: {answer!r:.80}")
        return []

    def _every(self) -> list[Fault] | None:
        """A question with another answer in its own passages means several things or too little."""
        if self._off("several_answers"):
            return []
        answer = self._answer(EVERY, self.unit.documents)
        if answer is None:
            return None
        listed = [ITEM.sub("", line) for line in answer.splitlines() if line.strip()]
        other = [
            line
            for line in listed
            if not self._right(line) and not self.task.form.stands(line, self.draft.answer)
        ]
        if listed and not other:
            return []
        said = f"its passage gives {other[0]!r:.80} too" if other else "a reader finds no answer"
        return self._fault("several_answers", said)

    def _one_hop(self) -> list[Fault] | None:
        if self.unit.question_type == "single-hop" or self._off("one_hop"):
            return []
        answers = [self._answer("one passage", (each,)) for each in self.unit.documents]
        if any(answer is not None and self._right(answer) for answer in answers):
            return self._fault("one_hop", "answered from one of its passages alone")
        return None if None in answers else []

    def _elsewhere(self) -> list[Fault] | None:
        others = (
            []
            if self._off("other_document")
            else self.task.pool.others(self.draft, self.unit.documents, self.task.made.others)
        )
        answers = [self._answer(f"other document {each.doc_id}", (each,)) for each in others]
        if None in answers:
            return None
        faults, also = list[Fault](), list[str]()
        for document, answer in zip(others, answers, strict=True):
            assert answer is not None
            holds = self.task.form.stands(self.draft.answer, document.content)
            if self._right(answer) and holds and self.unit.question_type == "single-hop":
                also.append(document.doc_id)
            elif self._right(answer):
                message = f"{document.doc_id} alone answers it too"
                faults += self._fault("other_document", message)
            elif self.task.form.stands(answer, document.content):
                message = f"{document.doc_id} answers it with {answer!r:.80}"
                faults += self._fault("other_answer", message)
        self.found.also[self.unit.question_id] = also
        return faults

    def _request(self, where: str, documents: Sequence[Document]) -> AnswerRequest:
        texts = show(documents, self.task.settings.tokens).texts
        kind = where.partition(" document ")[0]
        asked = self.draft.question
        if kind == EVERY:
            asked = self.task.every.question.format(question=asked)
        return AnswerRequest(self.unit.question_id, asked, (), texts, kind)

    def _answer(self, where: str, documents: Sequence[Document]) -> str | None:
        """What was read there, without markers; "" where it says that it cannot be answered."""
        request, task = self._request(where, documents), self.task
        entry = self.found.ask(lambda each: self.known.get(task.key(each), ""), request)
        if entry is None:
            return None
        answer = cited(entry, len(request.texts)).text
        answer = "" if says_unanswerable(answer, task.language.unanswerable) else answer
        self.found.read.setdefault(self.unit.question_id, {})[where] = answer
        return answer

    def _right(self, answer: str) -> bool:
        return self.task.form.same_answer(answer, self.draft.answer)

    def _off(self, name: str) -> bool:
        return self.task.made.severity(name) == "off"

    def _fault(self, name: str, message: str) -> list[Fault]:
        return [] if self._off(name) else [(name, message)]
