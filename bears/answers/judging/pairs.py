"""Two systems' judged answers to the same questions, and people's labels of some."""

from collections.abc import Mapping
from hashlib import sha256
from operator import sub
from pathlib import Path

import numpy as np

from bears.answers.judging.labelable import Labelable
from bears.answers.judging.labels import WORDS
from bears.config.ledger.entries import LabelDraw
from bears.errors import FormatError
from bears.evaluation.labeling import Items
from bears.files.records import digest_of
from bears.files.spreadsheet import read_named

JUDGED = ("question_id", "question", "gold_answers", "answer", "verdict")
GUESSES = (0.6, 0.3, 0.1, 0.6, 0.3)
"""The squared difference of labels to expect where the judge passes the second system alone, none,
both, or the first alone, or does not know."""


def judged_in(path: Path, called: str) -> dict[str, dict[str, str]]:
    """Return question_id to a row of a system's judged answers.

    Args:
        path: a .questions.csv, as `bears.answers.judging.tables.write_judged` writes it.
        called: its name in messages.

    Raises:
        FormatError: a column is missing.
    """
    header, rows = read_named(path)
    if missing := [name for name in JUDGED if name not in header]:
        raise FormatError(
            f"{called}: no column {', '.join(missing)}; name a .questions.csv of judged answers"
        )
    # Of repeats the first counts.
    return {row["question_id"]: row for _, row in reversed([*rows])}


def verdict_pair(
    ours: Mapping[str, Mapping[str, str]], theirs: Mapping[str, Mapping[str, str]]
) -> Labelable:
    """Return the questions that two systems answered; people see both answers, in random order.

    Args:
        ours, theirs: question_id to a row of `JUDGED`.
    """
    both, questions = (ours, theirs), sorted(ours.keys() & theirs.keys())
    answers = [{q: rows[q]["answer"] for q in questions} for rows in both]
    key = " ".join(digest_of(each)[:12] for each in answers)
    verdicts = ((ours[q]["verdict"], theirs[q]["verdict"]) for q in questions)
    known = {("fail", "pass"): 0, ("fail", "fail"): 1, ("pass", "pass"): 2, ("pass", "fail"): 3}
    n, strata = len(questions), np.array([known.get(each, 4) for each in verdicts], int)

    def swapped(draw: LabelDraw) -> bool:
        return bool(sha256(f"{key} {draw.draw}".encode()).digest()[0] % 2)

    def row(draw: LabelDraw) -> dict[str, str]:
        question = draw.question_id
        first, second = (of[question] for of in (reversed(answers) if swapped(draw) else answers))
        asked = {name: ours[question][name] for name in ("question", "gold_answers")}
        return {**asked, "answer_1": first, "answer_2": second}

    return Labelable(
        key,
        "answers",
        ("question", "gold_answers", "answer_1", "answer_2"),
        {word: int(label) for word, label in WORDS.items() if label is not None},
        [(question, "") for question in questions],
        # A label is the difference of both answers' labels.
        Items(np.ones(n), np.zeros(n), strata, GUESSES, np.arange(n), n, -1, 1),
        row,
        sub,
        ("label_1", "label_2"),
        swapped,
        ("pass", "fail"),
    )
