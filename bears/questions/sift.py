"""Decide about each written question: keep it, leave it to a person, or throw it away, and why."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from bears.config.ledger.entries import Review
from bears.errors import ConfigurationError
from bears.questions.document_pool import DocumentPool, Unit, likeness
from bears.questions.form import Fault, Form, Written
from bears.questions.readings import CheckedQuestions

Outcome = Literal["kept", "waiting", "thrown"]


@dataclass(frozen=True, slots=True)
class Sifted:
    """One question and its outcome.

    Args:
        faults: all faults; the first one is the reason.
        difficulty: easy or hard for BM25; empty if nothing was written.
        gold: further documents that answer it.
        decided: whether a person accepted it.
    """

    unit: Unit
    draft: Written | None
    outcome: Outcome
    faults: tuple[Fault, ...] = ()
    difficulty: str = ""
    gold: tuple[str, ...] = ()
    decided: bool = False


@dataclass(frozen=True)
class Sieve:
    """The filters, with people's decisions.

    Args:
        form: the filters that look at words, with the settings of all.
        reviews: (question_id, field) to a person's review.
        replaced: ids of questions that a person replaced.
    """

    form: Form
    pool: DocumentPool
    reviews: Mapping[tuple[str, str], Review]
    replaced: Set[str]

    def to_read(
        self, units: Sequence[Unit], written: Mapping[str, Written | None]
    ) -> dict[Unit, Written]:
        """Return the questions for the reader: those without faults in their words."""
        drafts = ((unit, written.get(unit.question_id)) for unit in units)
        return {
            unit: draft
            for unit, draft in drafts
            if draft
            and not self._accepted(unit)
            and unit.question_id not in self.replaced
            and not self.form.faults(draft, unit.passage.content)
        }

    def sifted(
        self,
        units: Sequence[Unit],
        written: Mapping[str, Written | None],
        readings: CheckedQuestions,
    ) -> Iterator[Sifted]:
        """Yield every question, in order; of similar questions, keep the first."""
        kept: list[Written] = []
        for unit in units:
            found = self._alone(unit, written[unit.question_id], readings)
            if found.draft and found.outcome != "thrown" and not found.decided:
                found = self._among(found, found.draft, kept)
            if found.outcome == "kept" and found.draft:
                kept.append(found.draft)
            yield found

    def _accepted(self, unit: Unit) -> bool:
        """Return whether a person accepted the question, as it is or corrected."""
        reviews = (
            self.reviews.get((unit.question_id, name)) for name in ("question", "gold_answer")
        )
        decisions = {review.decision for review in reviews if review}
        return bool(decisions) and "retranslate" not in decisions

    def _corrected(self, unit: Unit, draft: Written) -> Written:
        """Apply corrections. Raises ConfigurationError if the passage lacks the answer."""
        reviews = (
            (name, self.reviews.get((unit.question_id, field)))
            for name, field in (("question", "question"), ("answer", "gold_answer"))
        )
        texts = {name: r.text for name, r in reviews if r and r.decision == "correct"}
        draft = replace(draft, **texts)
        if texts and not self.form.occurs(draft.answer, unit.passage.content):
            raise ConfigurationError(
                f"ledger: the passage of {unit.question_id} does not contain the corrected answer "
                f"{draft.answer!r:.80}; copy the answer from the passage"
            )
        return draft

    def _alone(self, unit: Unit, draft: Written | None, readings: CheckedQuestions) -> Sifted:
        if draft is None:
            return Sifted(unit, None, "thrown", (("nothing_written", "no question was written"),))
        if unit.question_id in self.replaced:
            return Sifted(unit, draft, "thrown", (("replaced", "a person replaced it"),))
        accepted = self._accepted(unit)
        faults = [] if accepted else self.form.faults(draft, unit.passage.content)
        faults = faults or readings.faults.get(unit.question_id, [])
        draft = self._corrected(unit, draft) if accepted else draft
        also = tuple(readings.also.get(unit.question_id, ()))
        easy = self.pool.ranking(draft.question, self.form.settings.easy_rank)
        difficulty = "easy" if unit.passage.doc_id in easy else "hard"
        found = Sifted(unit, draft, "kept", (), difficulty, also, decided=accepted)
        return self._with(found, faults)

    def _among(self, found: Sifted, draft: Written, kept: Sequence[Written]) -> Sifted:
        """Compare a question with those before it."""
        if found.faults or self.form.settings.severity("near_duplicate") == "off":
            return found
        own = self.form.tokens(draft.question)
        for other in kept:
            if likeness(own, self.form.tokens(other.question)) >= self.form.settings.alike:
                message = f"asks what {other.question!r:.80} asks"
                return self._with(found, [("near_duplicate", message)])
        return found

    def _with(self, found: Sifted, faults: Sequence[Fault]) -> Sifted:
        thrown = [fault for fault in faults if self.form.settings.severity(fault[0]) == "throw"]
        outcome: Outcome = "thrown" if thrown else "waiting" if faults else "kept"
        first = thrown[:1]
        others = (fault for fault in faults if fault not in first)
        return replace(found, outcome=outcome, faults=(*first, *others))
