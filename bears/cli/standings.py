"""Where the rows of the leaderboard stand: intervals, groups, what tells a row from the next."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import pandas as pd

from bears.cli.compared_systems import kept_values, revisions
from bears.cli.selection import composed, main_of
from bears.errors import BearsError, FormatError
from bears.evaluation.comparison.revision import (
    METRICS,
    Revision,
    configuration_at,
    selection_at,
    system_at,
)
from bears.evaluation.comparison.standings import Standing, standings
from bears.evaluation.comparison.values import read_values
from bears.files.intake.json_text import json_value
from bears.files.shown import one_line
from bears.publishing.leaderboard.board import state_of
from bears.publishing.leaderboard.experiments import State, decided, entry_of
from bears.publishing.leaderboard.row import MAIN, MEASURES, LeaderboardRow

ANSWERED = "metrics/answers.json"
TOLERANCE = 2e-6
"""A mean on the leaderboard has six decimals."""
MOST = 6
"""Settings that are told of a row."""


def states() -> dict[Revision, State]:
    """What HEAD, the experiments of every commit and the workspace hold."""
    return {revision: state_at(revision) for revision in revisions(all_commits=True)}


def state_at(revision: Revision) -> State:
    """What a revision holds; nothing where its files were changed by hand."""
    try:
        selected, config = selection_at(revision), configuration_at(revision)
    except FormatError:
        selected, config = {}, {}
    return State(selected, config, _metrics(revision, METRICS), _metrics(revision, ANSWERED))


def _metrics(revision: Revision, path: str) -> Mapping[str, Any]:
    try:
        found = json_value(revision.text(path).encode(), path)
    except FormatError:
        return {}
    return found if isinstance(found, dict) else {}


def placed(
    rows: Sequence[LeaderboardRow], there: Mapping[Revision, State] | None = None
) -> list[LeaderboardRow]:
    """The rows with their standing under the measure that orders their benchmark.

    Those of other states of a benchmark are nobody's neighbours. What is known by question is read
    from the experiments that are still here and from submissions that were scored here.

    Args:
        rows: of the whole leaderboard.
        there: as of `states`; None: they are read.
    """
    known = _known_results(states() if there is None else there)
    found = []
    for _, group in groupby(sorted(rows, key=state_of), key=state_of):
        state = list(group)
        configs = [known[key][1] if (key := _ranking(row)) in known else {} for row in state]
        told = differing([row.system for row in state], configs)
        explained = [
            replace(row, differs=differs) if config else row
            for row, config, differs in zip(state, configs, told, strict=True)
        ]
        found += _standing(explained, {key: path for key, (path, _) in known.items()})
    return found


def main_measure(benchmark: str) -> str:
    """The measure that orders a benchmark, as its configuration says."""
    try:
        main = main_of(composed(benchmark, []))
    except BearsError:
        return MAIN  # A benchmark that conf/ has no longer.
    return main if main in MEASURES else MAIN


def _ranking(row: LeaderboardRow) -> tuple[str, ...]:
    return row.benchmark, row.state, row.system, row.configuration


def _known_results(
    there: Mapping[Revision, State],
) -> dict[tuple[str, ...], tuple[Revision, Mapping[str, Any]]]:
    """Benchmark, state, system, configuration to the revision that has them, and its settings."""
    known: dict[tuple[str, ...], tuple[Revision, Mapping[str, Any]]] = {}
    for revision, state in there.items():
        if row := entry_of(state):
            known.setdefault(_ranking(row), (revision, decided(state.config)))
    return known


def _standing(
    rows: Sequence[LeaderboardRow], known: Mapping[tuple[str, ...], Revision]
) -> list[LeaderboardRow]:
    main = main_measure(rows[0].benchmark)
    means = {
        str(i): mean for i, row in enumerate(rows) if (mean := row.values.get(main)) is not None
    }
    values = {i: _values(rows[int(i)], main, mean, known) for i, mean in means.items()}
    questions = max(row.questions or 1 for row in rows)
    best = 100.0 if main.startswith("retrieval_accuracy") else 1.0
    places = standings(means, _of_the_same(values), questions, best)
    return [_with(row, main, places.get(str(i))) for i, row in enumerate(rows)]


def _with(row: LeaderboardRow, main: str, place: Standing | None) -> LeaderboardRow:
    if place is None:
        return replace(row, main=main, low=None, high=None, group="", rank="", known_by="")
    first, last = place.rank
    return replace(
        row,
        main=main,
        low=place.low,
        high=place.high,
        group=place.group,
        rank=str(first) if first == last else f"{first} to {last}",
        known_by="question" if place.paired else "mean",
    )


def _values(
    row: LeaderboardRow, main: str, mean: float, known: Mapping[tuple[str, ...], Revision]
) -> pd.Series | None:
    """The values by question, if they are known and are those of which ``mean`` is the mean."""
    revision, kept = known.get(_ranking(row)), kept_values(row)
    try:
        if revision and row.origin == "experiment":
            frame = system_at(revision).values
        elif kept.is_file():
            frame, _ = read_values(kept)
        else:
            return None
    except FormatError:
        return None  # Of an experiment whose outputs are not here any more.
    if main not in frame or abs(frame[main].mean() - mean) > TOLERANCE:
        return None
    return frame[main].sort_index()


def _of_the_same(values: Mapping[str, pd.Series | None]) -> dict[str, pd.Series]:
    """Those of the questions that the first one is of."""
    known = {name: each for name, each in values.items() if each is not None}
    first = next((each.index for each in known.values()), None)
    return {name: each for name, each in known.items() if each.index.equals(first)}


def differing(systems: Sequence[str], configs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Of each row the settings that are others than another row's.

    What a retriever is made of tells it from itself alone: others have other names.
    """
    flat = [dict(_flattened(config)) for config in configs]
    told = []
    for i, own in enumerate(flat):
        others = [
            (systems[j] == systems[i], other)
            for j, other in enumerate(flat)
            if other and other != own
        ]
        differ = [
            f"{key}={one_line(str(value), 40)}"
            for key, value in own.items()
            if any(
                (same or key[:9] != "retriever") and other.get(key) != value
                for same, other in others
            )
        ]
        more = [f"and {len(differ) - MOST} more"] if len(differ) > MOST else []
        told.append(", ".join([*differ[:MOST], *more]))
    return told


def _flattened(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name in sorted(value):
            yield from _flattened(value[name], f"{key}.{name}" if key else str(name))
    else:
        yield key, value
