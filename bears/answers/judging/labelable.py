"""What people label, of two systems: items with a weight, and the table in which they do it."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import numpy as np

from bears.answers.judging.graded import LONGEST
from bears.answers.judging.labels import WORDS
from bears.answers.judging.ruling import RELEVANT, SCALES, VITAL
from bears.answers.judging.tables import items_in
from bears.config.ledger.entries import LabelDraw
from bears.config.ledger.sheet import WHOLE, Row, Sheet
from bears.errors import FormatError
from bears.evaluation.answers.nuggets import OKAY
from bears.evaluation.labeling import Draw, Items, drawn, estimated, narrower
from bears.files.records import digest_of, stream_documents
from bears.identity import path_of
from bears.types import Ranking

FEWEST = 20
"""How many labels an interval needs."""
Rows = Mapping[str, Mapping[str, Any]]
"""question_id to a row of judged answers."""
JUDGED = {"question", "gold_answers", "answer", "verdict"}


@dataclass(frozen=True)
class Labelable:
    """The items in which two systems may differ, or those of one, and what people are asked.

    Args:
        key: what the ledger calls the pair of systems, with what is compared.
        scale: one of `SCALES`.
        texts: the columns of what people read.
        gains: what each label counts; the ledger has their places.
        names: the question_id of each item, and what it is beside that; empty for a question.
        items: in the order of ``names``.
        row: returns the cells of ``texts``, and what `Sheet` shows beside them.
        choices: what people may write now; default: the words of the scale.
        blanks: the columns of labels; of two the difference counts.
        swapped: whether a draw shows the second system before the first.
        synonyms: what people may have written in earlier versions, to a label.
    """

    key: str
    scale: str
    texts: Sequence[str]
    gains: Mapping[str, float]
    names: Sequence[tuple[str, str]]
    items: Items
    row: Callable[[LabelDraw], Mapping[str, Any]]
    choices: Sequence[str] = ()
    blanks: tuple[str, ...] = ("grade",)
    swapped: Callable[[LabelDraw], bool] = lambda _: False
    synonyms: Mapping[str, str] = field(default_factory=dict)

    @property
    def sheet(self) -> Sheet:
        """Return what people are asked."""
        return Sheet(
            ("draw",),
            self.texts,
            (*self.blanks, "reason"),
            decisive=self.blanks,
            about=self.key,
            choices=self.choices or [*SCALES[self.scale].values],
            beside=("file",) if self.scale == "relevance" else (),
            document="" if self.scale == "answers" else self.texts[-1],
            scale=self.scale,
            earlier=[*(self.synonyms or self.gains)],
        )

    def shown(self, draw: LabelDraw) -> dict[str, Any]:
        """Return the row of a draw, without labels."""
        return {"draw": draw.draw, **self.row(draw)}

    def read(self, path: Path, draws: Iterable[LabelDraw], author: str) -> list[LabelDraw]:
        """Return the draws that a person labeled in a file. Raises BearsError."""
        places = {word: place for place, word in enumerate(self.gains)}
        known = {str(draw.draw): draw for draw in draws}
        shown = {number: self.shown(draw) for number, draw in known.items()}

        def entry(_: str, row: Row) -> LabelDraw:
            draw = known[row["draw"]]
            labels = [places[self.synonyms.get(row[name], row[name])] for name in self.blanks]
            given = labels[::-1] if self.swapped(draw) else labels
            reasons = {author: row["reason"]} if row["reason"] else {}
            return replace(draw, labels={author: tuple(given)}, reasons=reasons)

        return self.sheet.read(path, lambda row: shown.get(row["draw"]), entry)

    def value(self, draw: LabelDraw) -> float:
        """Return the label of a draw on the scale of the items, the mean over people."""
        gains = [*self.gains.values()]
        counts = ([gains[label] for label in labels] for labels in draw.labels.values())
        return fmean(first - sum(second) for first, *second in counts)

    def draws(self, labels: Iterable[LabelDraw]) -> list[LabelDraw]:
        """Return the draws of this pair, in their order."""
        return sorted((d for d in labels if d.pair == self.key), key=lambda draw: draw.draw)

    def more(self, draws: Sequence[LabelDraw], count: int) -> list[LabelDraw]:
        """Draw further items, after those of this pair that were drawn before."""
        labels = [self.value(draw) for draw in labeled_of(draws)]
        before = [draw.item for draw in self.drawn(draws)]
        found = drawn(self.items, before, labels, count, Random(f"{self.key} {len(draws)}"))
        return [
            LabelDraw(self.key, number, question, each.weight, each.largest, item=item)
            for number, each in enumerate(found, start=len(draws) + 1)
            for question, item in [self.names[each.item]]
        ]

    def drawn(self, draws: Iterable[LabelDraw]) -> list[Draw]:
        """Return draws of the ledger by the places of their items."""
        place = {name: at for at, name in enumerate(self.names)}
        return [Draw(place[each.name], each.weight, each.largest) for each in draws]

    def estimates(
        self, draws: Iterable[LabelDraw], level: float = 0.95
    ) -> dict[str, dict[str, float]]:
        """Return what is compared, as the labels correct the judge; empty with few labels.

        Args:
            draws: of this pair, in their order; those from the first without a label are left out.
            level: of the intervals.

        Returns:
            For ``these`` questions, and for ``such`` ones: ``value``; ``low`` and ``high`` of the
            interval; ``after_100``, the part of its width that it keeps after a hundred labels
            more; and ``worth``, how many labels without the judge are worth one with it, 0 if that
            is unknown.
        """
        items, labeled = self.items, labeled_of(draws)
        if len(labeled) < min(FEWEST, len(items.weights)):
            return {}
        places, labels = self.drawn(labeled), [self.value(each) for each in labeled]
        found, after = {}, narrower(items, places, 100)
        alone = replace(items, judge=np.zeros(len(items.judge)))
        for whose, such in (("these", False), ("such", True)):
            if one := estimated(items, places, labels, such, level):
                without = estimated(alone, places, labels, such) or one
                known = one.error and items.judge.any()
                worth = (without.error / one.error) ** 2 if known else 0.0
                ends = {"value": one.value, "low": one.low, "high": one.high}
                found[whose] = {**ends, "after_100": after, "worth": worth}
        return found


def labeled_of(draws: Iterable[LabelDraw]) -> list[LabelDraw]:
    """Return the draws before the first one without a label."""
    return list(takewhile(lambda each: each.labels, draws))


Weighed = Mapping[tuple[str, str], tuple[float, str]]
"""question_id and name of each item to its weight, which is not 0, and to the judge's label, if it
gave one."""


def _items(gains: Mapping[str, float], weighed: Weighed, questions: Iterable[str]) -> Items:
    """Return items that one person grades at a time; the stratum is the judge's label.

    Args:
        gains: each label to what it counts.
        questions: the ids of all questions.
    """
    unknown, best = len(gains), max(gains.values())
    places = {word: place for place, word in enumerate(gains)}
    number = {question: place for place, question in enumerate(questions)}
    return Items(
        np.array([weight for weight, _ in weighed.values()]),
        np.array([gains.get(word, 0.0) for _, word in weighed.values()]),
        np.array([places.get(word, unknown) for _, word in weighed.values()], int),
        [(best / 2) ** 2] * (unknown + 1),
        np.array([number[question] for question, _ in weighed], int),
        len(number),
        0,
        best,
    )


GUESSES = (0.6, 0.3, 0.1, 0.6, 0.3)
"""The squared difference of labels to expect where the judge passes the second system alone, none,
both, or the first alone, or does not know."""


def verdict_pair(ours: Rows, theirs: Rows) -> Labelable:
    """Return the questions that two systems answered; people see both answers, in random order.

    Args:
        ours, theirs: question_id to a row of judged answers.

    Raises:
        FormatError: the rows are not those of judged answers.
    """
    both, questions = (ours, theirs), sorted(ours.keys() & theirs.keys())
    if not all(row.keys() >= JUDGED for rows in both for row in rows.values()):
        raise FormatError("the answers of a system are not judged; name a .questions.csv that is")
    answers = [{q: rows[q]["answer"] for q in questions} for rows in both]
    key = " ".join(digest_of(each)[:12] for each in answers)
    verdicts = ((ours[q]["verdict"], theirs[q]["verdict"]) for q in questions)
    known = {("fail", "pass"): 0, ("fail", "fail"): 1, ("pass", "pass"): 2, ("pass", "fail"): 3}
    n, strata = len(questions), np.array([known.get(each, 4) for each in verdicts], int)

    def swapped(draw: LabelDraw) -> bool:
        return bool(sha256(f"{key} {draw.draw}".encode()).digest()[0] % 2)

    def row(draw: LabelDraw) -> dict[str, Any]:
        question = draw.question_id
        first, second = (of[question] for of in (reversed(answers) if swapped(draw) else answers))
        asked = {name: ours[question][name] for name in ("question", "gold_answers")}
        return {**asked, "answer_1": first, "answer_2": second}

    return Labelable(
        key,
        "answers",
        ("question", "gold_answers", "answer_1", "answer_2"),
        SCALES["answers"].values,
        [(question, "") for question in questions],
        # A label is the difference of both answers' labels.
        Items(np.ones(n), np.zeros(n), strata, GUESSES, np.arange(n), n, -1, 1),
        row,
        ("pass", "fail"),
        ("label_1", "label_2"),
        swapped,
        {word: "pass" if label else "fail" for word, label in WORDS.items() if label is not None},
    )


HIGHEST = 4
"""The best grade that TREC has (its RAG track of 2025); UMBRELA's is 3."""
Grades = Mapping[str, Mapping[str, int]]
"""question_id to doc_id to grade, from 0."""


def linear(measure: str) -> tuple[list[float], list[float]]:
    """Return the weight of each rank and the gain of each grade, of which a measure is the sum.

    For ``precision@k`` the gain is 1 from grade `RELEVANT` on, and the weight 1/k. For ``dcg@k``
    the gain is the grade, and the weight 1/log2(rank + 1).

    Raises:
        FormatError: it is another measure.
    """
    found = re.fullmatch(r"(precision|dcg)@([1-9][0-9]{0,5})", measure)
    if not found:
        raise FormatError(
            f"--measure is {measure!r:.80}; expected precision@K or dcg@K, which are sums over "
            "documents"
        )
    k, grades = int(found[2]), range(HIGHEST + 1)
    if found[1] == "dcg":
        return [1 / math.log2(rank + 1) for rank in range(1, k + 1)], [*map(float, grades)]
    return [1 / k] * k, [float(grade >= RELEVANT) for grade in grades]


def document_pair(
    ours: Mapping[str, Ranking],
    theirs: Mapping[str, Ranking],
    measure: str,
    grades: Grades,
    questions: Mapping[str, str],
    corpus: Path,
) -> Labelable:
    """Return the documents whose ranks differ between two systems, for one measure.

    Args:
        ours, theirs: question_id to a system's ranking.
        grades: of a model.
        questions: question_id to text, of the whole benchmark.
        corpus: the file of the documents.
    """
    ranks, gains = linear(measure)
    weights: defaultdict[tuple[str, str], float] = defaultdict(float)
    for sign, run in ((1, ours), (-1, theirs)):
        for question in questions:
            for weight, hit in zip(ranks, run.get(question, ()), strict=False):
                weights[question, hit.doc_id] += sign * weight
    both = (
        {q: [hit.doc_id for hit in run[q][: len(ranks)]] for q in sorted(run)}
        for run in (ours, theirs)
    )

    @cache
    def texts() -> Mapping[str, str]:
        wanted = {doc_id for _, doc_id in weights}
        documents = stream_documents(corpus)
        return {each.doc_id: each.content for each in documents if each.doc_id in wanted}

    def row(draw: LabelDraw) -> dict[str, str]:
        whole = texts()[draw.item]
        # A spreadsheet cuts longer cells itself.
        cells = {"question": questions[draw.question_id], "document": whole[:LONGEST]}
        return {**cells, "file": path_of(draw.item), WHOLE: whole}

    words = {str(grade): gain for grade, gain in enumerate(gains)}
    known = {(q, i): str(grade) for q, own in grades.items() for i, grade in own.items()}
    weighed = {at: (weights[at], known.get(at, "")) for at in sorted(weights) if weights[at]}
    key = " ".join([*(digest_of(each)[:12] for each in both), measure])
    items = _items(words, weighed, questions)
    # A judge gives grades to 3; TREC's may go to 4.
    choices = [*words] if str(HIGHEST) in known.values() else ()
    columns = ("question", "document")
    return Labelable(key, "relevance", columns, words, [*weighed], items, row, choices)


LINEAR = {
    "nuggets": {"nugget_all": 1.0, "nugget_vital": 0.0, "nugget_weighted": OKAY},
    "citations": {"citation_recall": 1.0},
}
"""The measures of each, to the weight of an item among those of its answer that is not vital."""


def answer_pair(what: str, measure: str, ours: Rows, theirs: Rows) -> Labelable:
    """Return the nuggets or the sentences of two systems' answers, or of one.

    Args:
        what: a key of `LINEAR`.
        measure: one of its values.
        ours, theirs: question_id to a row of judged answers, with its items.
    """
    scale, weighed = SCALES[what], dict[tuple[str, str], tuple[float, str]]()
    cells, questions = dict[tuple[str, str], dict[str, str]](), set[str]()
    for side, sign, rows in (("1", 1, ours), ("2", -1, theirs)):
        for question, row in sorted(rows.items()):
            own = [each for each in items_in(row) if each["scale"] == what]
            parts = [1.0 if each["note"] == VITAL else LINEAR[what][measure] for each in own]
            if any(parts):
                questions.add(question)
            for each, part in zip(own, parts, strict=True):
                texts = {text: {**row, **each}[text] for text in scale.texts}
                # Nothing supports a sentence without a citation, and no answer states nothing.
                if part and texts[scale.texts[-1]].strip():
                    name = question, f"{side} {each['name']}"
                    weighed[name] = sign * part / sum(parts), each["verdict"]
                    cells[name] = texts
    written = {" ".join(name): [*texts.values()] for name, texts in cells.items()}
    return Labelable(
        f"{digest_of(written)[:12]} {measure}",
        what,
        scale.texts,
        scale.values,
        [*weighed],
        _items(scale.values, weighed, sorted(questions)),
        lambda draw: cells[draw.name],
    )


def grades_in(rows: Rows) -> dict[str, dict[str, int]]:
    """Return question_id to doc_id to grade of the documents that a judge graded."""
    found: dict[str, dict[str, int]] = {}
    for question, row in rows.items():
        own = [each for each in items_in(row) if each["scale"] == "relevance" and each["name"]]
        known = {each["name"]: each["verdict"] for each in own if each["verdict"].isdecimal()}
        found[question] = {name: int(grade) for name, grade in known.items()}
    return found
