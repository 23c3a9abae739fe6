"""Values by question of one system, and what is known of them."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from bears.errors import FormatError
from bears.files.spreadsheet import read_cells

QUESTION, TYPE, SOURCE, VERDICT = "question_id", "question_type", "source_dataset", "verdict"
PASS_RATE = "pass_rate"
NOT_MEASURED = frozenset(
    {
        *("n_gold", "question", "gold_answers", "answer", "reason", "cause", "flags"),
        *("gold_shown", "gold_cut", "gold_not_retrieved", "cited_not_given"),
    }
)
"""Columns of the pipeline's own files that are no measures; a text may be a number."""
WORDS = {"true": 1.0, "false": 0.0, "pass": 1.0, "fail": 0.0, "unscored": math.nan, "": math.nan}
"""What a cell may be beside a number. Unscored is undefined: an error of a judge is no fail."""
LARGEST = 1e15
"""Beyond it sums of values lose whole units, and squares of them overflow before long."""


@dataclass(frozen=True)
class System:
    """What one system scored.

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


def read_values(
    path: Path, called: str = "", chosen: Collection[str] = (), unjudged: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read a CSV file of values by question.

    It has a column ``question_id`` and one for each measure, with a number or nothing in each
    cell; true and pass are 1, false and fail 0, unscored is nothing. A column without a single
    number is no measure. ``verdict`` is the measure ``pass_rate``.

    Args:
        path: the file.
        called: what messages call it; empty: its path.
        chosen: the measures to read, where other columns are texts that may look like numbers;
            none: all.
        unjudged: whether there may be no measure, as where nobody knows the gold.

    Returns:
        A row for each question: its values; and its ``question_type`` and ``source_dataset``.

    Raises:
        FormatError: naming the line and the column that is wrong; a question stands twice; or
            there is no question or no measure.
    """
    where = called or str(path)
    rows = read_cells(path)
    header = next(rows, (1, []))[1]
    if QUESTION not in header:
        raise FormatError(f"{where}: no column {QUESTION}; found {', '.join(header) or 'nothing'}")
    if {VERDICT, PASS_RATE} <= set(header):
        raise FormatError(f"{where}: {VERDICT} is the measure {PASS_RATE}; leave one of them out")
    found = list(rows)
    lines = [line for line, _ in found]
    cells = pd.DataFrame([row for _, row in found], columns=header, dtype=str)
    if twice := cells[QUESTION][cells[QUESTION].duplicated()].tolist():
        raise FormatError(f"{where}: the question {twice[0]!r:.80} stands twice")
    columns = {
        PASS_RATE if name == VERDICT else name: numbers
        for name in header
        if name not in {QUESTION, TYPE, SOURCE} | NOT_MEASURED
        and (not chosen or (PASS_RATE if name == VERDICT else name) in chosen)
        and (numbers := _numbers(cells[name], lines, where)) is not None
    }
    if not len(cells) or not (columns or unjudged):
        lacking = "measure: a column of numbers" if len(cells) else "question"
        raise FormatError(f"{where}: not a single {lacking}")
    ids = pd.Index(cells[QUESTION], dtype=object, name=QUESTION)
    kinds = cells[[name for name in (TYPE, SOURCE) if name in header]].set_axis(ids)
    return pd.DataFrame(columns, index=ids), kinds


def _numbers(cells: pd.Series, lines: Sequence[int], where: str) -> list[float] | None:
    """The numbers of a column; None where it has none, and so is a text."""
    read = [_number(cell) for cell in cells]
    if not any(value is not None and not math.isnan(value) for value in read):
        return None
    for line, cell, value in zip(lines, cells, read, strict=True):
        if value is None or abs(value) > LARGEST:
            wrong = "is no number" if value is None else f"is beyond {LARGEST:g}"
            raise FormatError(
                f"{where}, line {line}, {cells.name}: {cell!r:.80} {wrong}; a value that is "
                "undefined is an empty cell"
            )
    return [math.nan if value is None else value for value in read]


def _number(cell: str) -> float | None:
    word = cell.strip()
    if word.lower() in WORDS:
        return WORDS[word.lower()]
    try:
        value = float(word)
    except ValueError:
        return None
    # Python reads "0_1" and digits of other scripts as numbers; no other tool does.
    return value if math.isfinite(value) and word.isascii() and "_" not in word else None


def aligned(systems: Sequence[System]) -> list[System]:
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


def _sorted(system: System, order: list[str]) -> System:
    kinds = system.kinds if system.kinds.empty else system.kinds.loc[order]
    return replace(system, values=system.values.loc[order], kinds=kinds)


def _check_state(one: System, other: System) -> None:
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


def _check_questions(one: System, other: System) -> None:
    ours, theirs = one.values.index, other.values.index
    told = [
        f"only {system.name} has {len(ids)}, such as {ids[0]!r:.80}"
        for system, ids in ((one, ours.difference(theirs)), (other, theirs.difference(ours)))
        if len(ids)
    ]
    if told:
        raise FormatError(f"the questions differ: {'; '.join(told)}. Give values of the same ones")


def shared_measures(systems: Sequence[System], chosen: Sequence[str]) -> list[str]:
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
