"""The items of two systems that a command lets people label."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar, Literal

import numpy as np

from bears.answers.judging.labelable import Labelable
from bears.answers.judging.pairs import Pair, judged_in
from bears.config.ledger.entries import LabelDraw
from bears.errors import FormatError
from bears.evaluation.labeling import Items
from bears.files.qrels import read_qrels
from bears.files.records import digest_of, stream_documents
from bears.results.revision import VERDICTS, named
from bears.selection.configuration import composed, records_of, selected
from bears.selection.systems import chosen
from bears.types import Ranking

HIGHEST = 3
"""The best grade: the passage answers the question, and is about nothing else."""
UNKNOWN = HIGHEST + 1
"""The stratum of documents that the model did not grade."""
Grades = Mapping[str, Mapping[str, int]]
"""question_id to doc_id to grade, from 0."""


@dataclass(frozen=True, slots=True)
class LinearMeasure:
    """A measure that is a sum over documents of weight times gain.

    For ``precision@k`` the gain is 1 from grade 1 on, and the weight 1/k. For ``dcg@k`` the gain is
    the grade, and the weight 1/log2(rank + 1).
    """

    name: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"(precision|dcg)@[1-9][0-9]{0,5}", self.name):
            raise FormatError(
                f"--measure is {self.name!r:.80}; expected precision@K or dcg@K, which are sums "
                "over documents"
            )

    @property
    def k(self) -> int:
        """Return the cutoff."""
        return int(self.name.partition("@")[2])

    @property
    def best(self) -> int:
        """Return the largest gain."""
        return HIGHEST if self.name.startswith("dcg") else 1

    def weight(self, rank: int) -> float:
        """Return the weight of a gain at a rank, from 1."""
        return 1 / math.log2(rank + 1) if self.best == HIGHEST else 1 / self.k

    def gain(self, grade: int) -> float:
        """Return the gain of a grade."""
        return float(min(grade, self.best))


@dataclass(frozen=True)
class DocumentPair(Labelable):
    """The documents whose ranks differ between two systems, for one measure.

    Args:
        ours, theirs: question_id to a system's ranking.
        measure: what is compared.
        grades: the model's.
        questions: question_id to text, of the whole benchmark.
        corpus: the file of the documents.
    """

    ours: Mapping[str, Ranking]
    theirs: Mapping[str, Ranking]
    measure: LinearMeasure
    grades: Grades
    questions: Mapping[str, str]
    corpus: Path

    columns = ("question", "document")
    blanks = ("grade",)
    words: ClassVar = {str(grade): grade for grade in range(HIGHEST + 1)}

    @property
    def key(self) -> str:
        """Return digests of both rankings, and the measure."""
        both = (
            {q: [hit.doc_id for hit in run[q][: self.measure.k]] for q in sorted(run)}
            for run in (self.ours, self.theirs)
        )
        return " ".join([*(digest_of(each)[:12] for each in both), self.measure.name])

    @cached_property
    def _weights(self) -> Mapping[tuple[str, str], float]:
        weights: defaultdict[tuple[str, str], float] = defaultdict(float)
        for sign, run in ((1, self.ours), (-1, self.theirs)):
            for question in self.questions:
                hits = run.get(question, ())[: self.measure.k]
                for rank, hit in enumerate(hits, start=1):
                    weights[question, hit.doc_id] += sign * self.measure.weight(rank)
        return {name: weights[name] for name in sorted(weights) if weights[name]}

    @property
    def names(self) -> Sequence[tuple[str, str]]:
        """Return question_id and doc_id of the documents that count differently."""
        return list(self._weights)

    @cached_property
    def items(self) -> Items:
        """Return the documents; the stratum is the model's grade."""
        grades = [self.grades.get(q, {}).get(doc_id, UNKNOWN) for q, doc_id in self.names]
        number = {question: place for place, question in enumerate(self.questions)}
        best = self.measure.best
        return Items(
            np.array([*self._weights.values()]),
            np.array([0.0 if g == UNKNOWN else self.measure.gain(g) for g in grades]),
            np.array(grades, int),
            [(best / 2) ** 2] * (UNKNOWN + 1),
            np.array([number[question] for question, _ in self.names], int),
            len(number),
            0,
            best,
        )

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        wanted = {doc_id for _, doc_id in self.names}
        documents = stream_documents(self.corpus)
        return {each.doc_id: each.content for each in documents if each.doc_id in wanted}

    def row(self, draw: LabelDraw) -> list[Any]:
        """Return the question and the document."""
        return [self.questions[draw.question_id], self._texts[draw.item]]

    def value(self, draw: LabelDraw) -> float:
        """Return the gain of the grade."""
        return fmean(self.measure.gain(grade) for (grade,) in draw.labels.values())


What = Literal["answers", "documents"]


def labelable(
    what: What, a: str, b: str, *, measure: str, grades: Path | None, benchmark: str
) -> Labelable:
    """Return the items in which two systems may differ.

    Args:
        what: answers or documents.
        a, b: words that name the systems.
        measure: of documents.
        grades: a file of the model's grades of documents.

    Raises:
        FormatError: there is nothing to label.
    """
    if what == "answers":
        pair: Labelable = Pair(*(_judged(word) for word in (a, b)))
        if not pair.names:
            raise FormatError(f"{a} and {b} have no question in common")
        return pair
    linear = LinearMeasure(measure)
    ours, theirs = (system.rankings for system in chosen([a, b], benchmark))
    records = records_of(selected(composed(benchmark)).benchmark.name)
    questions = {each.question_id: each.question for each in records.questions}
    known: Grades = read_qrels(grades, HIGHEST) if grades else {}
    pair = DocumentPair(ours, theirs, linear, known, questions, records.corpus)
    if not pair.names:
        raise FormatError(f"{a} and {b} have the same documents in the same order: {measure}")
    return pair


def _judged(word: str) -> dict[str, dict[str, str]]:
    """Return question_id to a row of a system's judged answers."""
    path = Path(word)
    if not path.is_file():
        revision = named(word)
        found = revision and revision.output(VERDICTS)
        if not found:
            raise FormatError(
                f"{word!r:.80}: no file, and no revision or experiment with judged answers; run "
                "`dvc exp run -S generator=NAME -S judge=NAME`, or `bears answers judge FILE "
                "--questions FILE.questions.csv`"
            )
        path = found
    return judged_in(path, word)
