"""A comparison as plain values: what metrics/comparison.json holds."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.stats.multitest import multipletests

from bears.evaluation.bootstrap import RESAMPLES, Floats, mean_interval, scale_of, yes_or_no
from bears.evaluation.comparison.flips import flips
from bears.evaluation.comparison.groups import letters, rank_ranges
from bears.evaluation.comparison.pairs import pairs_of
from bears.evaluation.comparison.power import smallest_difference
from bears.evaluation.comparison.values import SOURCE, TYPE, Measured, aligned, shared_measures
from bears.files.benchmark_state import told_of

ALPHA = 0.05
FEW_QUESTIONS = 30
MOST_DRAWS = 200_000
KINDS = {"type": TYPE, "source": SOURCE}

Result = dict[str, Any]


def compare(
    systems: Sequence[Measured],
    chosen: Sequence[str] = (),
    main: str = "",
    within: float | None = None,
) -> Result:
    """Compare all pairs of systems of one benchmark.

    Args:
        systems: two or more, of different names.
        chosen: the measures; none: all that they share.
        main: the measure that orders the systems, also by type and source; if it is not shared,
            the first that is. Its p values are corrected over all pairs, those of the other
            measures over all pairs of them together. The flips are those of the first measure
            that says yes or no, if there is one.
        within: a difference that matters to nobody: pairs that surely differ by less are equal.

    Returns:
        docs/comparison.md says what.

    Raises:
        FormatError: the systems are not of one benchmark, or share no measure.
    """
    systems = aligned(systems)
    measures = shared_measures(systems, chosen)
    main = main if main in measures else measures[0]
    measures.sort(key=lambda measure: measure != main)
    values = {m: np.column_stack([s.values[m].to_numpy(float) for s in systems]) for m in measures}
    names = [system.name for system in systems]
    pairs = math.comb(len(names), 2)
    # The main measure decides, so its correction does not depend on which others are compared.
    families = [{m: values[m] for m in family} for family in ([main], measures[1:]) if family]
    judged = [
        _judged(_measured(family, names, within, pairs * len(family)), within)
        for family in families
    ]
    frame = pd.concat(judged, ignore_index=True)
    yes_no = next((measure for measure in measures if yes_or_no(values[measure])), None)
    benchmark = next((system.benchmark for system in systems if system.benchmark), {})
    ties = [_ties(row, systems) for row in frame.to_dict("records")]
    return {
        "benchmark": str(benchmark.get("name", "")),
        "state": str(benchmark.get("state", "")),
        "questions": len(systems[0].values),
        **({"generated": made} if (made := told_of(benchmark)) else {}),
        "main": main,
        "warnings": [
            *_unlike(systems, values),
            *(said for family in families for said in _unreachable(family, pairs * len(family))),
        ],
        "corrected_over": f"{_count(pairs, 'pair')} of {main}",
        "others_corrected_over": (
            f"{_count(pairs, 'pair')} x {_count(len(measures) - 1, 'other measure')}"
        ),
        "systems": _systems(systems, values, frame),
        "pairs": _records(frame.assign(ties=pd.Series(ties, dtype=object))),
        "by": _by(systems, main, values[main], within),
        "flips": flips(systems, yes_no) if yes_no else [],
    }


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


def _measured(
    values: Mapping[str, Floats], names: Sequence[str], within: float | None, tests: int
) -> pd.DataFrame:
    """All pairs before any correction, drawn for as many ``tests``."""
    draws = min(max(RESAMPLES, 100 * tests - 1), MOST_DRAWS)
    frame = pairs_of(values, names, draws, within)
    rows = frame[["spread", "n", "scale"]].itertuples(index=False)
    could = [smallest_difference(spread, n, ALPHA / tests, scale) for spread, n, scale in rows]
    return frame.assign(smallest_difference=pd.Series(could, dtype=float))


def _judged(frame: pd.DataFrame, within: float | None) -> pd.DataFrame:
    """The pairs with Holm's correction over all of them, and what is to be said of each."""
    frame["p_holm"] = _holm(frame["p"])
    equal = _holm(frame["p_equal"])
    rows = zip(frame.to_dict("records"), equal, strict=True)
    frame["verdict"] = [_verdict(row, within, p) for row, p in rows]
    return frame.drop(columns=["spread", "scale", *(["p_equal"] if within is None else [])])


def _holm(p: pd.Series) -> pd.Series:
    """p corrected for all that are known, by Holm's method."""
    corrected, known = p.copy(), p.notna()
    if known.any():
        corrected[known] = multipletests(p[known], method="holm")[1]
    return corrected


def _verdict(row: Mapping[Any, Any], within: float | None, p_equal: float) -> str:
    if within is not None and p_equal <= ALPHA:
        return f"equal to within {within:g}"
    if row["p_holm"] <= ALPHA and row["difference"] != 0:
        return f"{row['a'] if row['difference'] > 0 else row['b']} better"
    return "cannot be told apart"


def _unlike(systems: Sequence[Measured], values: Mapping[str, Floats]) -> list[str]:
    """A word on measures that one system seems to have in percent and another does not."""
    most = {measure: np.nanmax(np.abs(columns), axis=0) for measure, columns in values.items()}
    return [
        f"{measure}: no value of {systems[highs.argmin()].name} is above 1, and one of "
        f"{systems[highs.argmax()].name} is {highs.max():g}; are both in the same unit?"
        for measure, highs in most.items()
        if 0 < highs.min() <= 1 < highs.max()
    ]


def _unreachable(values: Mapping[str, Floats], tests: int) -> list[str]:
    """A word on measures of which no p can be small enough, whatever the systems scored."""
    least = {
        measure: max(2.0 ** (1 - len(columns)), 0 if yes_or_no(columns) else 1 / (MOST_DRAWS + 1))
        for measure, columns in values.items()
    }
    lost = [measure for measure, p in least.items() if p * tests > ALPHA]
    if not lost:
        return []
    return [
        f"{', '.join(lost)}: no p passes Holm's correction over {tests:,} tests, since none is "
        f"under {max(least.values()):.1g}; compare fewer systems or measures, or ask more questions"
    ]


def _ties(row: Mapping[Any, Any], systems: Sequence[Measured]) -> str | None:
    """What is to be said where the order of tied documents decides as much as the systems do."""
    for system in systems:
        ends = system.tie_range.get(row["measure"])
        if system.name not in (row["a"], row["b"]) or not ends:
            continue
        if ends["high"] - ends["low"] > abs(row["difference"]):
            return (
                f"the order of documents of equal score alone takes {system.name} from "
                f"{ends['low']:.4f} to {ends['high']:.4f}, which is more than the difference"
            )
    return None


def _systems(
    systems: Sequence[Measured], values: Mapping[str, Floats], frame: pd.DataFrame
) -> list[Result]:
    described: list[Result] = [{"name": s.name, "what": s.what, "measures": {}} for s in systems]
    for measure, columns in values.items():
        scale, share = scale_of(columns), yes_or_no(columns)
        means = dict(zip((s.name for s in systems), np.nanmean(columns, axis=0), strict=True))
        sure = frame[(frame["measure"] == measure) & (frame["p_holm"] <= ALPHA)]
        different = {frozenset(pair) for pair in zip(sure["a"], sure["b"], strict=True)}
        ordered = sorted(means, key=lambda name: (-round(means[name], 12), name))
        group, rank = letters(ordered, different), rank_ranges(means, different)
        for system, column in zip(described, columns.T, strict=True):
            name = system["name"]
            low, high = mean_interval(column, scale, share)
            system["measures"][measure] = {
                "mean": plain(means[name]),
                "low": plain(low),
                "high": plain(high),
                "group": group[name],
                "rank": list(rank[name]),
            }
    return described


def _by(
    systems: Sequence[Measured], measure: str, values: Floats, within: float | None
) -> dict[str, Result]:
    """The comparison by ``measure`` again, for the questions of each type and of each source."""
    kinds = next((system.kinds for system in systems if not system.kinds.empty), pd.DataFrame())
    return {
        word: _by_kind(kinds[column].to_numpy(str), systems, measure, values, within)
        for word, column in KINDS.items()
        if column in kinds
    }


def _by_kind(
    kind_of: Any, systems: Sequence[Measured], measure: str, values: Floats, within: float | None
) -> Result:
    masks = {kind: kind_of == kind for kind in sorted(set(kind_of))}
    parts = {kind: values[mask] for kind, mask in masks.items() if not _undefined(values[mask])}
    names = [system.name for system in systems]
    tests = math.comb(len(names), 2) * len(parts)
    measured = [_measured({measure: part}, names, within, tests) for part in parts.values()]
    if not measured:
        return {}
    # One correction for all of them, since one looks at all of them.
    whole = _judged(pd.concat(measured, ignore_index=True), within)
    each = np.split(np.arange(len(whole)), len(parts))
    return {
        kind: {"n": len(part), "few": _few(len(part)), "pairs": _records(whole.iloc[rows])}
        for (kind, part), rows in zip(parts.items(), each, strict=True)
    }


def _undefined(values: Floats) -> bool:
    return bool(np.isnan(values).all(axis=0).any())


def _few(n: int) -> str | None:
    if n >= FEW_QUESTIONS:
        return None
    return f"{n} questions are few: only a large difference would be seen"


def _records(frame: pd.DataFrame) -> list[Result]:
    return [
        {str(key): plain(value) for key, value in row.items()} for row in frame.to_dict("records")
    ]


def plain(value: Any) -> Any:
    """A value for JSON: ten digits, the same on every machine; what is not known is None."""
    if isinstance(value, (float, np.floating)):
        return None if math.isnan(value) else float(f"{value:.10g}")
    return int(value) if isinstance(value, np.integer) else value
