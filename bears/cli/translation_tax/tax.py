"""The tax: what a retriever finds before and after translation, question by question."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from bears.cli.translation_tax.records import TextSide
from bears.config import Config
from bears.errors import FormatError
from bears.evaluation.bootstrap import RESAMPLES
from bears.evaluation.comparison.pairs import pairs_of
from bears.evaluation.comparison.result import plain
from bears.evaluation.evaluate import evaluate, gold_of
from bears.evaluation.measure import Measure
from bears.library.index import Index
from bears.results.system import frames_of

SIDES = ("original", "translated", "without_parentheses")
Values = Mapping[str, pd.DataFrame]
"""Each of `SIDES` to a row for each question and a column for each measure."""


def values_by_question(
    original: TextSide,
    translated: TextSide,
    languages: Mapping[str, str],
    configured: Callable[[str], Config],
    measures: Sequence[Measure],
) -> Values:
    """What every side of the translated questions scores.

    Questions of one language are asked of the documents of that language, on every side.

    Args:
        languages: source to the language of its original texts; of translated sources alone.
        configured: the configuration for texts of a language; of "": of the translated ones.

    Raises:
        BearsError: no question was translated, or a part of the configuration does not fit.
    """
    found: dict[str, list[pd.DataFrame]] = {side: [] for side in SIDES}
    for language in sorted(set(languages.values())):
        before, after = (side.of(languages, language) for side in (original, translated))
        if not before.questions:
            continue
        own, target = configured(language), configured("")
        found["original"].append(_values(before, own, measures))
        found["translated"].append(_values(after, target, measures))
        found["without_parentheses"].append(_values(after.bare(), target, measures))
    if not found["original"]:
        raise FormatError("no question was translated, so that there is nothing to compare")
    return {side: pd.concat(frames) for side, frames in found.items()}


def _values(records: TextSide, config: Config, measures: Sequence[Measure]) -> pd.DataFrame:
    run = Index(records.documents, config).run(records.questions)
    evaluation = evaluate(run, gold_of(records.questions), measures)
    return frames_of(evaluation, records.questions)[0]


def taxes(values: Values) -> dict[str, Any]:
    """Of each measure ``original``, ``translated``, ``difference``, ``low``, ``high``, ``n``.

    The difference is the translated side less the original one, its 95 % interval is paired. Under
    ``without_parentheses`` the same, of translated texts without them.
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
