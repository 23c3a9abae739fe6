"""The translation tax: what a retriever finds before and after translation, by question."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bears.config import Config
from bears.errors import FormatError
from bears.evaluation.bootstrap import RESAMPLES
from bears.evaluation.comparison.pairs import pairs_of
from bears.evaluation.comparison.result import plain
from bears.evaluation.evaluate import evaluate, gold_of
from bears.evaluation.measure import Measure
from bears.files.records import read_documents, read_questions
from bears.library.index import Index
from bears.results.system import frames_of
from bears.types import Document, Question

SIDES = ("original", "translated", "without_parentheses")
Values = Mapping[str, pd.DataFrame]
"""Each of `SIDES` to a row for each question and a column for each measure."""


@dataclass(frozen=True)
class TextSide:
    """Questions with their documents, before or after translation."""

    questions: Sequence[Question]
    documents: Sequence[Document]

    def of(self, sources: set[str]) -> "TextSide":
        """Return the questions and documents of some sources."""
        return TextSide(
            [q for q in self.questions if q.source_dataset in sources],
            [d for d in self.documents if d.original_source in sources],
        )

    def bare(self) -> "TextSide":
        """Return the same texts without parentheses."""
        return TextSide(
            [replace(q, question=without_parentheses(q.question)) for q in self.questions],
            [replace(d, content=without_parentheses(d.content)) for d in self.documents],
        )

    @property
    def sources(self) -> set[str]:
        """Return the names of all sources."""
        names = {question.source_dataset for question in self.questions}
        return names | {document.original_source for document in self.documents}


def without_parentheses(text: str) -> str:
    """Remove parentheses and their content; one without a partner stays.

    Translators put the original's words there.
    """
    shorter = re.sub(r"[(（][^()（）]*[)）]", "", text)
    return shorter if shorter == text else without_parentheses(shorter)


def read_sides(original: Path, translated: Path) -> tuple[TextSide, TextSide]:
    """Read both sides of a benchmark from the folders of its records.

    Raises:
        FormatError: a file is absent or malformed, or the two sides have different records.
    """
    before, after = (
        TextSide(
            read_questions(folder / f"queries{ending}"), read_documents(folder / f"corpus{ending}")
        )
        for folder, ending in ((original, "_raw.json"), (translated, ".json"))
    )
    keys = [
        {(q.question_id, q.source_dataset, q.gold_doc_ids) for q in side.questions}
        | {(d.doc_id, d.original_source) for d in side.documents}
        for side in (before, after)
    ]
    if differ := keys[0] ^ keys[1]:
        raise FormatError(
            f"{original} and {translated} have different records: {len(differ)} are on one side "
            f"only or have another source or gold, such as {min(differ)[0]!r:.80}; if the pipeline "
            "made them, run `dvc repro`"
        )
    return before, after


def values_by_question(
    original: TextSide,
    translated: TextSide,
    languages: Mapping[str, str],
    configured: Callable[[str], Config],
    measures: Sequence[Measure],
) -> Values:
    """Return the scores of the translated questions on every side.

    On every side, the questions of one language are searched in the documents of that language.

    Args:
        languages: source to the language of its original texts, for translated sources only.
        configured: return the configuration for texts of a language; for "", of the translated
            texts.

    Raises:
        BearsError: no question was translated, or a part of the configuration does not fit.
    """
    found: dict[str, list[pd.DataFrame]] = {side: [] for side in SIDES}
    for language in sorted(set(languages.values())):
        sources = {source for source, tag in languages.items() if tag == language}
        before, after = original.of(sources), translated.of(sources)
        if not before.questions:
            continue
        sides = ((before, language), (after, ""), (after.bare(), ""))
        for name, (side, tag) in zip(SIDES, sides, strict=True):
            run = Index(side.documents, configured(tag)).run(side.questions)
            evaluation = evaluate(run, gold_of(side.questions), measures)
            found[name].append(frames_of(evaluation, side.questions)[0])
    if not found["original"]:
        raise FormatError("no question was translated, so there is nothing to compare")
    return {side: pd.concat(frames) for side, frames in found.items()}


def taxes(values: Values) -> dict[str, Any]:
    """Return ``original``, ``translated``, ``difference``, ``low``, ``high``, ``n`` by measure.

    The difference is translated minus original, with its paired 95 % interval. The same under
    ``without_parentheses`` is for the translated texts without them.
    """
    tax = dict(_differences(values["original"], values["translated"]))
    bare = dict(_differences(values["original"], values["without_parentheses"]))
    return {**tax, "without_parentheses": bare}


def _differences(
    original: pd.DataFrame, translated: pd.DataFrame
) -> Iterator[tuple[str, dict[str, Any]]]:
    columns = {
        str(measure): np.column_stack([translated[measure], original[measure]])
        for measure in original
    }
    for row in pairs_of(columns, ("translated", "original"), RESAMPLES).to_dict("records"):
        named = {"original": row["mean_b"], "translated": row["mean_a"]}
        named |= {str(key): row[key] for key in ("difference", "low", "high", "n")}
        yield str(row["measure"]), {key: plain(value) for key, value in named.items()}
