"""What a reader's answers say against one made question."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bears.evaluation.answers.token_f1 import token_f1
from bears.questions.form import Fault, Form, Written
from bears.questions.pool import DocumentPool
from bears.questions.settings import MadeSettings
from bears.questions.units import Unit
from bears.types import Document

Asked = Literal[
    "gold",
    "closed-book",
    "every answer",
    "question again",
    "one passage",
    "other document",
    "question of other document",
    "every answer beside others",
]
"""What a reader is asked: in most of them the question, with what the word names."""
ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
"""What models put before the items of a list."""


@dataclass(frozen=True)
class Reading:
    """One question before a reader: with the gold, without, with a part, with other documents.

    Args:
        made: thresholds, and which filters are off.
        form: how texts of the language are compared.
        pool: where other documents are.
        read: what is said, given what is asked of which documents; "" where there is no answer,
            None where it was never asked.
        also: filled with the doc_ids of documents that answer it too.
    """

    made: MadeSettings
    form: Form
    pool: DocumentPool
    unit: Unit
    draft: Written
    read: Callable[[Asked, Sequence[Document]], str | None]
    also: list[str] = field(default_factory=list)

    def faults(self) -> list[Fault] | None:
        """What the first step says that finds anything; None where an answer is still missing."""
        steps = {
            "unanswerable": self._with_gold,
            "closed_book": self._without,
            "several_answers": self._every,
            "other_question": self._again,
            "one_hop": self._one_hop,
            "other_document": self._elsewhere,
        }
        for name, step in steps.items():
            if not self._off(name) and ((found := step()) is None or found):
                return found
        return []

    def _with_gold(self) -> list[Fault] | None:
        answer = self.read("gold", self.unit.documents)
        if answer is None:
            # So that both are asked for at once.
            self.read("closed-book", ())
            return None
        if self._right(answer):
            return []
        return [("unanswerable", f"a reader of its passage answers {answer!r:.80}")]

    def _without(self) -> list[Fault] | None:
        answer = self.read("closed-book", ())
        if answer is None:
            return None
        if self._right(answer):
            return [("closed_book", f"answered without any passage: {answer!r:.80}")]
        return []

    def _every(self) -> list[Fault] | None:
        """A question with another answer in its own passages means several things or too little."""
        listed = self._listed("every answer", self.unit.documents)
        if listed is None:
            return None
        other = self._not_written(listed)
        if listed and not other:
            return []
        said = f"its passage gives {other[0]!r:.80} too" if other else "a reader finds no answer"
        return [("several_answers", said)]

    def _again(self) -> list[Fault] | None:
        """Whoever knows the answer asks for it alike, and names neither it nor the passage.

        Of a pair the reader asks for what one passage says.
        """
        if self.unit.question_type != "single-hop":
            return []
        wanted = self.read("question again", self.unit.documents)
        if wanted is None:
            return None
        if self._same_question(wanted):
            return []
        return [("other_question", f"what its answer answers is {wanted!r:.120}")]

    def _same_question(self, wanted: str) -> bool:
        alike = token_f1(wanted, self.draft.question, self.form.rules) >= self.made.again_f1
        bound = self.form.stands(self.draft.answer, wanted) or self.form.names_passage(wanted)
        return alike and not bound

    def _one_hop(self) -> list[Fault] | None:
        if self.unit.question_type == "single-hop":
            return []
        answers = [self.read("one passage", (each,)) for each in self.unit.documents]
        if any(answer is not None and self._right(answer) for answer in answers):
            return [("one_hop", "answered from one of its passages alone")]
        return None if None in answers else []

    def _elsewhere(self) -> list[Fault] | None:
        others = self.pool.others(self.draft, self.unit.documents, self.made.others)
        said = {each: self.read("other document", (each,)) for each in others}
        if None in said.values():
            return None
        found = {each: answer for each, answer in said.items() if answer is not None}
        right = [each for each, answer in found.items() if self._right(answer)]
        single, stands = self.unit.question_type == "single-hop", self.form.stands
        holding = [each for each in right if single and stands(self.draft.answer, each.content)]
        also = self._of_the_same_question(holding)
        otherwise = (each for each in found if each not in right)
        more = self._otherwise({d: found[d] for d in otherwise if stands(found[d], d.content)})
        if also is None or more is None:
            return None
        self.also.extend(also)
        alone = (f"{each.doc_id} alone answers it too" for each in right if each not in holding)
        return [*(("other_document", each) for each in alone), *more]

    def _of_the_same_question(self, documents: Sequence[Document]) -> list[str] | None:
        """A reader answers from whatever holds the answer; of gold it asks the question as well."""
        if self._off("other_question"):
            return [each.doc_id for each in documents]
        asked = {
            each.doc_id: self.read("question of other document", (each,)) for each in documents
        }
        if None in asked.values():
            return None
        return [doc_id for doc_id, wanted in asked.items() if self._same_question(wanted or "")]

    def _otherwise(self, said: dict[Document, str]) -> list[Fault] | None:
        """A reader finds an answer anywhere; beside the gold it sees that it was none."""
        if not said or self._off("other_answer"):
            return []
        listed = self._listed("every answer beside others", (*self.unit.documents, *said))
        if listed is None or (listed and not self._not_written(listed)):
            return None if listed is None else []
        messages = (f"{each.doc_id} answers it with {text!r:.80}" for each, text in said.items())
        return [("other_answer", message) for message in messages]

    def _listed(self, asked: Asked, documents: Sequence[Document]) -> list[str] | None:
        said = self.read(asked, documents)
        if said is None:
            return None
        return [ITEM.sub("", line) for line in said.splitlines() if line.strip()]

    def _not_written(self, listed: Sequence[str]) -> list[str]:
        """The answers that are neither the written one nor a part of it."""
        stands = self.form.stands
        return [a for a in listed if not self._right(a) and not stands(a, self.draft.answer)]

    def _right(self, answer: str) -> bool:
        return self.form.same_answer(answer, self.draft.answer)

    def _off(self, name: str) -> bool:
        return self.made.severity(name) == "off"
