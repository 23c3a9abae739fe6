"""Values by question of one system, and what is known of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from bears.errors import FormatError

TYPE, SOURCE = "question_type", "source_dataset"


@dataclass(frozen=True)
class Measured:
    """What the statistics need of what one system scored.

    Args:
        name: what the comparison calls it.
        what: what it is, in a few words.
        values: a row for each question, by its id; a column for each measure, NaN where undefined.
        kinds: of the same rows, ``question_type`` and ``source_dataset`` where they are known.
        benchmark: as metrics/retrieval.json has it: ``name``, ``state``, ``queries``, ``corpus``;
            empty where nobody says which benchmark it is of.
        tie_range: measure to the lowest and highest mean that tied documents leave open.
        run, queries: files of its rankings and of the benchmark's questions, where they are here.
    """

    name: str
    what: str
    values: pd.DataFrame
    kinds: pd.DataFrame = field(default_factory=pd.DataFrame)
    benchmark: Mapping[str, object] = field(default_factory=dict)
    tie_range: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    run: Path | None = None
    queries: Path | None = None


def aligned(systems: Sequence[Measured]) -> list[Measured]:
    """The systems with their questions in one order, that of the ids.

    Raises:
        FormatError: they are not of the same benchmark; saying what differs.
    """
    first = systems[0]
    stated = next((system for system in systems if system.benchmark), first)
    for system in systems[1:]:
        _check_state(stated, system)
        _check_questions(first, system)
    order = sorted(first.values.index)
    return [_sorted(system, order) for system in systems]


def _sorted(system: Measured, order: list[str]) -> Measured:
    kinds = system.kinds if system.kinds.empty else system.kinds.loc[order]
    return replace(system, values=system.values.loc[order], kinds=kinds)


def _check_state(one: Measured, other: Measured) -> None:
    ours, theirs = one.benchmark, other.benchmark
    if not ours or not theirs or ours.get("state") == theirs.get("state"):
        return
    parts = {"queries": "questions with their gold", "corpus": "documents"}
    differ = [text for key, text in parts.items() if ours.get(key) != theirs.get(key)]
    said = f"{' and '.join(differ)} differ" if differ else "their records differ"
    raise FormatError(
        f"{one.name} is of {_state(ours)}, {other.name} of {_state(theirs)}: {said}. Values can be "
        "compared on the same records alone; make one of them again on the other's benchmark"
    )


def _state(benchmark: Mapping[str, object]) -> str:
    return f"{benchmark.get('name')} in state {benchmark.get('state')}"


def _check_questions(one: Measured, other: Measured) -> None:
    ours, theirs = one.values.index, other.values.index
    told = [
        f"only {system.name} has {len(ids)}, such as {ids[0]!r:.80}"
        for system, ids in ((one, ours.difference(theirs)), (other, theirs.difference(ours)))
        if len(ids)
    ]
    if told:
        raise FormatError(f"the questions differ: {'; '.join(told)}. Give values of the same ones")


def shared_measures(systems: Sequence[Measured], chosen: Sequence[str]) -> list[str]:
    """The measures that all systems have and that are defined somewhere, in the first one's order.

    Args:
        chosen: the ones that are asked for; none: all.

    Raises:
        FormatError: one that is asked for is lacking, or they share none.
    """

    def known(name: str) -> bool:
        return all(name in s.values and s.values[name].notna().any() for s in systems)

    names = [name for name in map(str, systems[0].values.columns) if known(name)]
    if lacking := [name for name in chosen if name not in names]:
        raise FormatError(
            f"no measure {lacking[0]!r:.80}; all systems have {', '.join(names) or '–'}"
        )
    if not names:
        raise FormatError(
            "the systems share no measure that is defined: "
            + "; ".join(f"{s.name} has {', '.join(map(str, s.values.columns))}" for s in systems)
        )
    return list(dict.fromkeys(chosen)) or names
