"""Rank the rows of one state of a benchmark, and find the settings in which they differ."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from bears.errors import FormatError
from bears.evaluation.comparison.standings import standings
from bears.evaluation.comparison.values import CLUSTER, clusters_in
from bears.files.visible import one_line
from bears.results.board import DERIVED, number
from bears.results.origins import system_at
from bears.results.revision import Revision
from bears.results.row import MAIN, MEASURES, LeaderboardRow, decided, row_of
from bears.results.values import read_values

TOLERANCE = 2e-6
"""Means on the leaderboard have six decimals."""
MOST = 6
"""How many settings are named beside a row."""

Known = Mapping[tuple[str, ...], Revision]


def known_results(revisions: Iterable[Revision]) -> Known:
    """Map the key of each retrieval to the first revision with its results."""
    found: dict[tuple[str, ...], Revision] = {}
    for revision in revisions:
        if row := row_of(revision):
            found.setdefault(row.retrieval, revision)
    return found


def main_of(rows: Iterable[LeaderboardRow]) -> str:
    """Return the measure that orders rows of one state."""
    return next((row.main for row in rows if row.main in MEASURES), MAIN)


def derived(rows: Sequence[LeaderboardRow], known: Known) -> pd.DataFrame:
    """Return the columns that are not stored: interval, group, rank and settings of each row.

    Args:
        rows: of one state of a benchmark.
        known: see `known_results`.
    """
    main = main_of(rows)
    scored = {str(i): row.values.get(main) for i, row in enumerate(rows)}
    means = {i: mean for i, mean in scored.items() if mean is not None}
    found = {i: row for i in means if (row := _values(rows[int(i)], main, known)) is not None}
    first = next((values.index for values, _ in found.values()), None)
    same = {i: values for i, (values, _) in found.items() if values.index.equals(first)}
    clusters = next((clusters_in(kinds) for _, kinds in found.values() if CLUSTER in kinds), None)
    best = 100.0 if main.startswith("retrieval_accuracy") else 1.0
    places = standings(means, same, max(row.questions or 1 for row in rows), best, clusters)
    ranked = {
        int(i): {
            "low": number(place.low),
            "high": number(place.high),
            "group": place.group,
            "rank": " to ".join(str(rank) for rank in dict.fromkeys(place.rank)),
            "known_by": "question" if place.paired else "mean",
        }
        for i, place in places.items()
    }
    frame = pd.DataFrame.from_dict(ranked, "index", columns=DERIVED[:-1])
    revisions = [known.get(row.retrieval) for row in rows]
    configs = [{**decided(each.config), "code": each.code} if each else {} for each in revisions]
    differs = differing([row.system for row in rows], configs)
    return frame.reindex(range(len(rows))).fillna("").assign(differs=differs)


def _values(row: LeaderboardRow, main: str, known: Known) -> tuple[pd.Series, pd.DataFrame] | None:
    """Return the values and the kinds by question, if the row's mean is that of known values."""
    try:
        if row.origin == "experiment" and (revision := known.get(row.retrieval)):
            system = system_at(revision)
            frame, kinds = system.values, system.kinds
        elif row.kept_values.is_file():
            frame, kinds = read_values(row.kept_values)
        else:
            return None
    except FormatError:
        return None  # The outputs of an experiment may be gone.
    mean = row.values[main] or 0.0
    if main not in frame or abs(frame[main].mean() - mean) > TOLERANCE:
        return None
    values = frame[main].sort_index()
    return values, kinds.loc[values.index]


def differing(systems: Sequence[str], configs: Sequence[dict[str, Any]]) -> list[str]:
    """Return for each row the settings in which it differs from other rows.

    Settings of a retriever are compared between rows of that retriever only.
    """
    flat = pd.json_normalize(list(configs))
    flat = flat[sorted(map(str, flat))].astype(str).where(flat.notna(), None)
    known = pd.Series([bool(config) for config in configs])
    settings: list[list[str]] = [[] for _ in configs]
    for name, column in flat[known].items():
        of = pd.Series(systems) if str(name).startswith("retriever") else known
        differ = column.groupby(of[known]).transform("nunique", dropna=False) > 1
        for i in column[differ].dropna().index:
            settings[int(i)].append(f"{name}={one_line(column[i], 40)}")
    more = [[f"and {len(row) - MOST} more"] if len(row) > MOST else [] for row in settings]
    return [", ".join([*row[:MOST], *rest]) for row, rest in zip(settings, more, strict=True)]
