"""The items of two systems, or of one, that a command lets people label."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from bears.answers.judging.graded import VITAL
from bears.answers.judging.labelable import ItemPair, Labelable
from bears.answers.judging.pairs import Pair, judged_in
from bears.answers.judging.ruling import SCALES
from bears.answers.judging.tables import items_in
from bears.errors import FormatError
from bears.evaluation.answers.nuggets import OKAY
from bears.files.digest import digest_of
from bears.files.qrels import read_qrels
from bears.files.records import stream_documents
from bears.results.revision import VERDICTS, named
from bears.results.system import Judged
from bears.selection.configuration import composed, records_of, selected
from bears.selection.systems import chosen
from bears.types import Ranking

HIGHEST = 3
"""The best grade: the passage answers the question, and is about nothing else."""
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


What = Literal["answers", "documents", "nuggets", "citations"]
MEASURES = {
    "documents": "precision@10",
    "nuggets": "nugget_all",
    "citations": "citation_recall",
    "answers": "",
}
"""The measure of each that is compared if none is named."""
LINEAR = {
    "nuggets": ("nugget_all", "nugget_vital", "nugget_weighted"),
    "citations": ("citation_recall",),
}


def document_pair(
    ours: Mapping[str, Ranking],
    theirs: Mapping[str, Ranking],
    measure: LinearMeasure,
    grades: Grades,
    questions: Mapping[str, str],
    corpus: Path,
) -> ItemPair:
    """Return the documents whose ranks differ between two systems, for one measure.

    Args:
        ours, theirs: question_id to a system's ranking.
        grades: of a model.
        questions: question_id to text, of the whole benchmark.
        corpus: the file of the documents.
    """
    weights: defaultdict[tuple[str, str], float] = defaultdict(float)
    for sign, run in ((1, ours), (-1, theirs)):
        for question in questions:
            for rank, hit in enumerate(run.get(question, ())[: measure.k], start=1):
                weights[question, hit.doc_id] += sign * measure.weight(rank)
    both = (
        {q: [hit.doc_id for hit in run[q][: measure.k]] for q in sorted(run)}
        for run in (ours, theirs)
    )

    @cache
    def texts() -> Mapping[str, str]:
        wanted = {doc_id for _, doc_id in weights}
        documents = stream_documents(corpus)
        return {each.doc_id: each.content for each in documents if each.doc_id in wanted}

    return ItemPair(
        " ".join([*(digest_of(each)[:12] for each in both), measure.name]),
        ("question", "document"),
        {str(grade): grade for grade in range(HIGHEST + 1)},
        [measure.gain(grade) for grade in range(HIGHEST + 1)],
        {name: weights[name] for name in sorted(weights) if weights[name]},
        {(q, doc_id): grade for q, own in grades.items() for doc_id, grade in own.items()},
        list(questions),
        lambda question, doc_id: [questions[question], texts()[doc_id]],
    )


def answer_pair(
    what: Literal["nuggets", "citations"], measure: str, ours: Judged, theirs: Judged
) -> ItemPair:
    """Return the nuggets or the sentences of two systems' answers, or of one.

    Args:
        measure: ``nugget_all``, ``nugget_vital`` or ``nugget_weighted``; ``citation_recall``.
        ours, theirs: question_id to a row of judged answers, with its items.

    Raises:
        FormatError: there is no such measure.
    """
    if measure not in LINEAR[what]:
        raise FormatError(
            f"--measure is {measure!r:.80}; expected {' or '.join(LINEAR[what])}, which are sums "
            f"over {what}"
        )
    scale = SCALES[what]
    labels = {word: label for label, word in enumerate(scale.values)}
    weights, judged = dict[tuple[str, str], float](), dict[tuple[str, str], int]()
    cells, questions = dict[tuple[str, str], list[Any]](), set[str]()
    for side, sign, rows in (("1", 1, ours), ("2", -1, theirs)):
        for question, row in sorted(rows.items()):
            own = [each for each in items_in(row) if each["scale"] == what]
            parts = [_part(each, measure) for each in own]
            if any(parts):
                questions.add(question)
            for each, part in zip(own, parts, strict=True):
                texts = [{**row, **each}[text] for text in scale.texts]
                # Nothing supports a sentence without a citation, and no answer states nothing.
                if part and texts[-1].strip():
                    name = question, f"{side} {each['name']}"
                    weights[name], cells[name] = sign * part / sum(parts), texts
                    if each["verdict"] in labels:
                        judged[name] = labels[each["verdict"]]
    written = {" ".join(name): texts for name, texts in cells.items()}
    return ItemPair(
        f"{digest_of(written)[:12]} {measure}",
        scale.texts,
        labels,
        [*scale.values.values()],
        weights,
        judged,
        sorted(questions),
        lambda question, item: cells[question, item],
    )


def _part(item: Mapping[str, str], measure: str) -> float:
    """Return the weight of a nugget or a sentence among those of its answer."""
    if item["note"] == VITAL or measure in ("nugget_all", "citation_recall"):
        return 1.0
    return OKAY if measure == "nugget_weighted" else 0.0


def labelable(
    what: What, a: str, b: str, *, measure: str, grades: Path | None, benchmark: str
) -> Labelable:
    """Return the items in which two systems may differ, or those of one.

    Args:
        what: what people label.
        a, b: words that name the systems; b may be empty, but for answers.
        measure: of the items; empty: the one of `MEASURES`.
        grades: a file of the model's grades of documents.

    Raises:
        FormatError: there is nothing to label.
    """
    words, measure = [a, *filter(None, [b])], measure or MEASURES[what]
    if what == "answers":
        if not b:
            raise FormatError("answers are labeled in pairs; name a second system")
        both: Labelable = Pair(*map(_judged, words))
        if not both.names:
            raise FormatError(f"{a} and {b} have no question in common")
        return both
    if what == "documents":
        pair = _documents(words, measure, grades, benchmark)
    else:
        pair = answer_pair(what, measure, *map(_judged, words), *([{}] if not b else []))
    if not pair.names:
        raise FormatError(f"{' and '.join(words)}: nothing that changes {measure} can be labeled")
    return pair


def _documents(words: Sequence[str], measure: str, grades: Path | None, benchmark: str) -> ItemPair:
    linear, systems = LinearMeasure(measure), chosen(words, benchmark, least=1)
    records = records_of(selected(composed(benchmark)).benchmark.name)
    questions = {each.question_id: each.question for each in records.questions}
    ours, theirs = (*(system.rankings for system in systems), {})[:2]
    known = defaultdict[str, dict[str, int]](dict)
    for system in systems if grades is None else ():
        for question, row in system.judged.items():
            for each in items_in(row):
                if each["scale"] == "relevance" and each["verdict"].isdecimal():
                    known[question][each["name"]] = int(each["verdict"])
    found: Grades = read_qrels(grades, HIGHEST) if grades else known
    return document_pair(ours, theirs, linear, found, questions, records.corpus)


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
