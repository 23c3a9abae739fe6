"""What becomes of each question that was written: kept, left for a person, thrown away, and why."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from bears.config.ledger.entries import Review
from bears.errors import ConfigurationError
from bears.questions.form import Fault, Form, Written
from bears.questions.pool import DocumentPool, likeness
from bears.questions.readings import CheckedQuestions
from bears.questions.settings import MadeQuota, MadeSettings
from bears.questions.units import Unit

Outcome = Literal["kept", "waiting", "thrown"]


@dataclass(frozen=True, slots=True)
class Sifted:
    """One question and its outcome.

    Args:
        faults: what was found, the first being why.
        difficulty: easy or hard for BM25; empty where nothing was written.
        gold: documents beside those that it was written about that answer it too.
        decided: whether a person said so.
    """

    unit: Unit
    draft: Written | None
    outcome: Outcome
    faults: tuple[Fault, ...] = ()
    difficulty: str = ""
    gold: tuple[str, ...] = ()
    decided: bool = False


@dataclass(frozen=True)
class Decided:
    """What persons decided.

    Args:
        reviews: (question_id, field) to the review.
        replaced: questions that others are to stand in for.
    """

    reviews: Mapping[tuple[str, str], Review]
    replaced: Set[str]

    def accepted(self, unit: Unit) -> bool:
        """Whether a person took the question, as it is or corrected."""
        found = (self.reviews.get((unit.question_id, name)) for name in ("question", "gold_answer"))
        decisions = {review.decision for review in found if review}
        return bool(decisions) and "retranslate" not in decisions

    def corrected(self, unit: Unit, draft: Written, form: Form) -> Written:
        """The question with what a person wrote.

        Raises:
            ConfigurationError: the answer stands in no passage then.
        """
        texts = {name: review.text for (key, name), review in self.reviews.items()
                 if key == unit.question_id and review.decision == "correct"}  # fmt: skip
        draft = Written(
            texts.get("question", draft.question), texts.get("gold_answer", draft.answer)
        )
        if texts and not any(form.stands(draft.answer, text) for text in unit.texts):
            raise ConfigurationError(
                f"ledger: the corrected answer {draft.answer!r:.80} of {unit.question_id} stands "
                "in no passage of it; copy it from there"
            )
        return draft


@dataclass(frozen=True)
class Sieve:
    """All that a decision needs.

    Args:
        settings: thresholds, quota, and which filters throw.
    """

    settings: MadeSettings
    form: Form
    pool: DocumentPool
    decided: Decided

    def to_read(
        self, units: Sequence[Unit], written: Mapping[str, Written | None]
    ) -> dict[Unit, Written]:
        """The questions that a reader is asked: nothing is wrong with their words."""
        drafts = ((unit, written.get(unit.question_id)) for unit in units)
        return {
            unit: draft
            for unit, draft in drafts
            if draft
            and not self.decided.accepted(unit)
            and unit.question_id not in self.decided.replaced
            and not self.form.faults(draft, unit.texts)
        }

    def sifted(
        self,
        units: Sequence[Unit],
        written: Mapping[str, Written | None],
        readings: CheckedQuestions,
    ) -> Iterator[Sifted]:
        """Every unit's question, in order; of two alike and of too many the first are kept."""
        kept: list[Written] = []
        counts = Counter[int]()
        for unit in units:
            found = self._alone(unit, written[unit.question_id], readings)
            if found.draft and found.outcome != "thrown" and not found.decided:
                found = self._among(found, kept)
            if found.outcome == "kept":
                found = self._counted(found, counts)
            if found.outcome == "kept" and found.draft:
                kept.append(found.draft)
            yield found

    def _alone(self, unit: Unit, draft: Written | None, readings: CheckedQuestions) -> Sifted:
        if draft is None:
            return Sifted(unit, None, "thrown", (("nothing_written", "no question was written"),))
        if unit.question_id in self.decided.replaced:
            return Sifted(unit, draft, "thrown", (("replaced", "a person replaced it"),))
        accepted = self.decided.accepted(unit)
        faults = [] if accepted else self.form.faults(draft, unit.texts)
        faults = faults or readings.faults.get(unit.question_id, [])
        draft = self.decided.corrected(unit, draft, self.form) if accepted else draft
        also = tuple(readings.also.get(unit.question_id, ()))
        found = Sifted(unit, draft, "kept", gold=also, decided=accepted)
        return replace(self._with(found, faults), difficulty=self._difficulty(found))

    def _among(self, found: Sifted, kept: Sequence[Written]) -> Sifted:
        """Against the questions before it."""
        assert found.draft is not None
        if found.faults or self.settings.severity("near_duplicate") == "off":
            return found
        own = self.form.tokens(found.draft.question)
        for other in kept:
            if likeness(own, self.form.tokens(other.question)) >= self.settings.alike:
                message = f"asks what {other.question!r:.80} asks"
                return self._with(found, [("near_duplicate", message)])
        return found

    def _counted(self, found: Sifted, counts: Counter[int]) -> Sifted:
        """Within the quota of its kind; what a person took is counted and never left out."""
        wanted = self.settings.quota
        mine = [n for n, quota in enumerate(wanted) if _is_of(found, quota)]
        free = [n for n in mine if found.decided or counts[n] < wanted[n].questions]
        if free:
            counts[free[0]] += 1
        elif wanted and not found.decided:
            kind = f"{found.difficulty} {found.unit.question_type}"
            return self._with(found, [("quota", f"no more {kind} questions are wanted")])
        return found

    def _with(self, found: Sifted, faults: Sequence[Fault]) -> Sifted:
        severities = {self.settings.severity(name) for name, _ in faults}
        outcome: Outcome = "kept"
        if severities:
            outcome = "thrown" if "throw" in severities else "waiting"
        thrown = [fault for fault in faults if self.settings.severity(fault[0]) == "throw"]
        first = thrown[:1]
        return replace(
            found, outcome=outcome, faults=(*first, *(each for each in faults if each not in first))
        )

    def _difficulty(self, found: Sifted) -> str:
        assert found.draft is not None
        gold = {document.doc_id for document in found.unit.documents}
        depth = self.settings.easy_rank + len(gold) - 1
        return "easy" if gold <= {*self.pool.ranking(found.draft.question, depth)} else "hard"


def _is_of(found: Sifted, quota: MadeQuota) -> bool:
    kinds = ("any", found.difficulty)
    return quota.question_type == found.unit.question_type and quota.difficulty in kinds
