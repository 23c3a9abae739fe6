"""One system's values by question, and what is known about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd

from bears.errors import FormatError, RecordsDiffer
from bears.evaluation.clusters import Clusters
from bears.evaluation.evaluate import our_name

TYPE, SOURCE, CLUSTER = "question_type", "source_dataset", "cluster"
TURN, WEIGHT = "turn", "weight"


@dataclass(frozen=True)
class Measured:
    """The part of a system's results that the statistics need.

    Args:
        name: what the comparison calls the system.
        what: a description in a few words.
        values: a row for each question, by its id; a column for each measure, NaN if undefined.
        kinds: for the same rows, ``question_type``, ``source_dataset``, ``cluster``, ``turn`` and
            ``weight``, as far as they are known.
        benchmark: as in metrics/retrieval.json: ``name``, ``state``, ``queries``, ``corpus``, and
            ``decisions`` if people made any; empty if the benchmark is unknown.
        tie_range: measure to the lowest and the highest mean over the orders of tied documents.
        run, queries: files of its rankings and of the benchmark's questions, if they are here.
    """

    name: str
    what: str
    values: pd.DataFrame
    kinds: pd.DataFrame = field(default_factory=pd.DataFrame)
    benchmark: Mapping[str, object] = field(default_factory=dict)
    tie_range: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    run: Path | None = None
    queries: Path | None = None

    def only(self, questions: list[str]) -> Self:
        """Return the system with these questions, in this order."""
        kinds = self.kinds if self.kinds.empty else self.kinds.loc[questions]
        return replace(self, values=self.values.loc[questions], kinds=kinds)


def kinds_of(systems: Sequence[Measured]) -> pd.DataFrame:
    """Return the kinds of the questions, from the system that knows most about their clusters.

    A run file knows those that follow from the questions, and a revision those of their source too.
    """

    def clusters(kinds: pd.DataFrame) -> int:
        return kinds[CLUSTER].nunique() if CLUSTER in kinds else len(kinds) + 1

    known = (system.kinds for system in systems if not system.kinds.empty)
    return min(known, key=clusters, default=pd.DataFrame())


def clusters_in(kinds: pd.DataFrame) -> Clusters | None:
    """Return the cluster of each row, if it is known; independent draws have none."""
    if CLUSTER not in kinds or WEIGHT in kinds:
        return None
    return np.unique(kinds[CLUSTER].to_numpy(str), return_inverse=True)[1].astype(np.int64)


def aligned(systems: Sequence[Measured]) -> list[Measured]:
    """Return the systems with their questions in one order, sorted by id.

    A question is there as often as it was drawn.

    Raises:
        RecordsDiffer: the systems are not of the same benchmark; the message says what differs.
    """
    first = systems[0]
    stated = next((system for system in systems if system.benchmark), first)
    for system in systems[1:]:
        _check_state(stated, system)
        _check_questions(first, system)
    order, kinds = sorted(first.values.index), kinds_of(systems)
    if WEIGHT in kinds:
        order = [name for name in order for _ in range(int(kinds[WEIGHT][name]))]
    return [system.only(order) for system in systems]


def _check_state(one: Measured, other: Measured) -> None:
    ours, theirs = one.benchmark, other.benchmark
    if not ours or not theirs or ours.get("state") == theirs.get("state"):
        return
    parts = {"queries": "questions with their gold", "corpus": "documents"}
    differ = [text for key, text in parts.items() if ours.get(key) != theirs.get(key)]
    raise RecordsDiffer(
        f"{one.name} is of {_state(ours)}, {other.name} of {_state(theirs)}: "
        f"{' and '.join(differ) or 'the decisions of people'} differ. Only values of the same "
        "records can be compared; measure one of them again on the other's benchmark"
    )


def _state(benchmark: Mapping[str, object]) -> str:
    return f"{benchmark.get('name')} in state {benchmark.get('state')}"


def _check_questions(one: Measured, other: Measured) -> None:
    ours, theirs = one.values.index, other.values.index
    differ = [
        f"only {system.name} has {len(ids)}, such as {ids[0]!r:.80}"
        for system, ids in ((one, ours.difference(theirs)), (other, theirs.difference(ours)))
        if len(ids)
    ]
    if differ:
        raise RecordsDiffer(
            f"the questions differ: {'; '.join(differ)}. Give values of the same ones"
        )


def shared_measures(systems: Sequence[Measured], chosen: Sequence[str]) -> list[str]:
    """Return the measures that all systems have and that are defined somewhere.

    Args:
        chosen: the requested measures; empty for all, in the first system's order.

    Raises:
        FormatError: a requested measure is missing, or the systems share none.
    """

    def known(name: str) -> bool:
        return all(name in s.values and s.values[name].notna().any() for s in systems)

    names = [name for name in map(str, systems[0].values.columns) if known(name)]
    chosen = [name if name in names else our_name(name) for name in chosen]
    if missing := [name for name in chosen if name not in names]:
        raise FormatError(
            f"no measure {missing[0]!r:.80}; all systems have {', '.join(names) or '–'}"
        )
    if not names:
        raise FormatError(
            "the systems share no measure that is defined: "
            + "; ".join(f"{s.name} has {', '.join(map(str, s.values.columns))}" for s in systems)
        )
    return list(dict.fromkeys(chosen)) or names
