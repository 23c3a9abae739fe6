"""Compare systems, and a candidate with its base; the results are plain values, as in metrics/."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from bears.errors import FormatError
from bears.evaluation.clusters import Clusters, Floats, described, together
from bears.evaluation.comparison import paired
from bears.evaluation.comparison.paired import ALPHA
from bears.evaluation.comparison.pairs import (
    GRADED,
    kind_of,
    loss_bound,
    pairs_of,
    placed,
    seen_as_gain,
)
from bears.evaluation.comparison.values import (
    SOURCE,
    TURN,
    TYPE,
    Measured,
    aligned,
    clusters_in,
    kinds_of,
    shared_measures,
)
from bears.evaluation.means import mean_interval
from bears.evaluation.trace_measures import sign_of
from bears.files.benchmark_state import generated_note
from bears.files.records import read_questions

FEW_QUESTIONS = 30
FEW = "few questions ({}): only a large difference would be seen"
KINDS = {"type": TYPE, "source": SOURCE, "turn": TURN}
SAME, UNDECIDED = "no significant difference", "undecided"
"""Verdicts on a pair whose p is above `ALPHA`: undecided if it could not have been lower."""

Result = dict[str, Any]
WORSE, CANNOT_TELL = "worse", "cannot tell"
NO_LOSS, ALLOWED, UNCHANGED = "no significant loss", "allowed", "unchanged"


def compare(
    systems: Sequence[Measured],
    chosen: Sequence[str] = (),
    main: str = "",
    margin: float | None = None,
) -> Result:
    """Compare all pairs of systems of one benchmark.

    Args:
        systems: two or more, with different names.
        chosen: the measures to compare; empty for all that the systems share.
        main: the measure that orders the systems, also by type and source; if it is not shared,
            the first shared one. Its p values are corrected over all pairs, those of all other
            measures over all their pairs together.
        margin: the largest difference that does not matter. Pairs that surely differ by less are
            equal.

    Returns:
        The fields that docs/comparison.md describes.

    Raises:
        FormatError: the systems are not of one benchmark, or share no measure.
    """
    systems = aligned(systems)
    measures = shared_measures(systems, chosen)
    main = main if main in measures else measures[0]
    measures.sort(key=lambda measure: measure != main)
    values = {m: np.column_stack([s.values[m].to_numpy(float) for s in systems]) for m in measures}
    names = [system.name for system in systems]
    pairs = _count(math.comb(len(names), 2), "pair")
    # The main measure decides, so its correction must not depend on which others are compared.
    families = [{m: values[m] for m in family} for family in ([main], measures[1:]) if family]
    kinds = kinds_of(systems)
    clusters = clusters_in(kinds)
    tested = [pairs_tested([own], names, margin, [clusters]) for own in families]
    frame = pd.concat(tested, ignore_index=True)
    benchmark = next((system.benchmark for system in systems if system.benchmark), {})
    different = systems[0].values.index.nunique()
    ties = [_ties(row, systems) for row in frame.to_dict("records")]
    return {
        "benchmark": str(benchmark.get("name", "")),
        "state": str(benchmark.get("state", "")),
        "questions": len(systems[0].values),
        **({"different": different} if different < len(systems[0].values) else {}),
        **({"decisions": said} if (said := benchmark.get("decisions")) else {}),
        **({"clusters": found} if (found := described(clusters)) else {}),
        **({"generated": made} if (made := generated_note(benchmark)) else {}),
        "main": main,
        "warnings": unlike(systems, values),
        "corrected_over": f"{pairs} of {main}",
        "others_corrected_over": f"{pairs} x {_count(len(measures) - 1, 'other measure')}",
        "systems": _systems(systems, values, frame, clusters),
        "pairs": as_records(frame.assign(ties=pd.Series(ties, dtype=object))),
        "by": _by(kinds, names, main, values[main], margin),
        "moved": moved(systems, main) if len(systems) == 2 else {},
        "below": [],
    }


def moved(systems: Sequence[Measured], measure: str) -> Result:
    """Return the questions on which either of two systems is better, the largest difference first.

    Returns:
        ``a_better`` and ``b_better``: lists of ``question_id``, ``question`` (empty if its file is
        not here), and the values ``a`` and ``b``.
    """
    queries = next((system.queries for system in systems if system.queries), None)
    texts = {q.question_id: q.question for q in read_questions(queries)} if queries else {}
    own = (system.values[measure] for system in systems)
    a, b = (each[~each.index.duplicated()].map(plain) for each in own)
    leads = np.subtract(a.to_numpy(float), b.to_numpy(float)).round(12)
    lead = pd.Series(leads * sign_of(measure), a.index)

    def rows(gain: "pd.Series[float]") -> list[Result]:
        largest = gain[gain > 0].sort_values(ascending=False, kind="stable").index
        return [
            {"question_id": q, "question": texts.get(q, ""), "a": a[q], "b": b[q]} for q in largest
        ]

    return {"a_better": rows(lead), "b_better": rows(-lead)}


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


def pairs_tested(
    parts: Sequence[Mapping[str, Floats]],
    names: Sequence[str],
    margin: float | None,
    clusters: Sequence[Clusters | None],
    one_sided: bool = False,
) -> pd.DataFrame:
    """Test all pairs, and correct over all tests together.

    Args:
        parts: measure to values, for each part of the questions that is tested by itself.
        clusters: of the questions of each part, if they belong together.
        one_sided: as of `pairs_of`; the frame then keeps ``spread`` and ``scale``.
    """
    tests = math.comb(len(names), 2) * sum(map(len, parts))
    draws = paired.draws_for(tests)
    frames = [
        pairs_of(values, names, draws, margin, of, one_sided)
        for values, of in zip(parts, clusters, strict=True)
    ]
    frame = pd.concat(frames, ignore_index=True)
    known = frame[["spread", "n", "scale"]].itertuples(index=False)
    could = [
        paired.smallest_difference(spread, n, ALPHA / tests, scale) for spread, n, scale in known
    ]
    frame["smallest_difference"] = pd.Series(could, dtype=float)
    sizes = zip(frame["difference"].abs(), frame["spread"], strict=True)
    frame["questions_needed"] = [paired.questions_for(*size, ALPHA / tests) for size in sizes]
    frame["p_holm"] = paired.holm(frame["p"])
    rows = zip(frame.to_dict("records"), paired.holm(frame["p_equal"]), strict=True)
    undecided = frame["least_p"] * tests > ALPHA
    frame["verdict"] = [_verdict(row, margin, p_equal) for row, p_equal in rows]
    frame.loc[undecided & (frame["verdict"] == SAME), "verdict"] = UNDECIDED
    unknown = ["p_equal"] if margin is None else []
    return frame.drop(columns=unknown if one_sided else ["spread", "scale", *unknown])


def _verdict(row: Mapping[Any, Any], margin: float | None, p_equal: float) -> str:
    if margin is not None and p_equal <= ALPHA:
        return f"equal to within {margin:g}"
    if row["p_holm"] <= ALPHA and row["difference"] != 0:
        return f"{row['a'] if seen_as_gain(row)['difference'] > 0 else row['b']} better"
    return SAME


def unlike(systems: Sequence[Measured], values: Mapping[str, Floats]) -> list[str]:
    """Warn of measures that one system seems to have in percent and another does not."""
    most = {measure: np.nanmax(np.abs(columns), axis=0) for measure, columns in values.items()}
    return [
        f"{measure}: no value of {systems[highs.argmin()].name} is above 1, and one of "
        f"{systems[highs.argmax()].name} is {highs.max():g}; are both in the same unit?"
        for measure, highs in most.items()
        if 0 < highs.min() <= 1 < highs.max() and sign_of(measure) > 0
    ]


def _ties(row: Mapping[Any, Any], systems: Sequence[Measured]) -> str | None:
    """Warn if the order of tied documents moves a mean by more than the systems differ."""
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
    systems: Sequence[Measured],
    values: Mapping[str, Floats],
    frame: pd.DataFrame,
    clusters: Clusters | None,
) -> list[Result]:
    described: list[Result] = [{"name": s.name, "what": s.what, "measures": {}} for s in systems]
    for measure, columns in values.items():
        means = dict(zip((s.name for s in systems), np.nanmean(columns, axis=0), strict=True))
        sure = frame[(frame["measure"] == measure) & (frame["p_holm"] <= ALPHA)]
        gains = {name: mean * sign_of(measure) for name, mean in means.items()}
        places = placed(gains, set(map(frozenset, zip(sure["a"], sure["b"], strict=True))))
        for system, column in zip(described, columns.T, strict=True):
            low, high = mean_interval(column, measure, clusters, columns)
            group, rank = places[system["name"]]
            numbers = {"mean": means[system["name"]], "low": low, "high": high}
            numbers = {name: plain(number) for name, number in numbers.items()}
            system["measures"][measure] = {**numbers, "group": group, "rank": list(rank)}
    return described


def _by(
    kinds: pd.DataFrame, names: Sequence[str], measure: str, values: Floats, margin: float | None
) -> dict[str, Result]:
    """Compare by ``measure`` again, for the questions of each type, source and turn."""
    found: dict[str, Result] = {}
    clusters = clusters_in(kinds)
    for word, column in KINDS.items():
        if column in kinds:
            of = kinds[column].to_numpy(str)
            masks = {kind: of == kind for kind in sorted(set(of))}
            cut = {kind: values[mask] for kind, mask in masks.items()}
            known = {k: each for k, each in cut.items() if not np.isnan(each).all(axis=0).any()}
            own = [None if clusters is None else clusters[masks[kind]] for kind in known]
            found[word] = _of_kinds(known, names, measure, margin, own)
    return found


def _of_kinds(
    parts: Mapping[str, Floats],
    names: Sequence[str],
    measure: str,
    margin: float | None,
    clusters: Sequence[Clusters | None],
) -> Result:
    if not parts:
        return {}
    # One correction for all of them, since people look at all of them.
    whole = pairs_tested([{measure: part} for part in parts.values()], names, margin, clusters)
    rows = np.split(np.arange(len(whole)), len(parts))
    return {
        kind: {
            "n": len(part),
            "few": FEW.format(len(part)) if len(part) < FEW_QUESTIONS else None,
            "pairs": as_records(whole.iloc[own]),
        }
        for (kind, part), own in zip(parts.items(), rows, strict=True)
    }


def as_records(frame: pd.DataFrame) -> list[Result]:
    return [
        {str(key): plain(value) for key, value in row.items()} for row in frame.to_dict("records")
    ]


def plain(value: Any) -> Any:
    """Convert a value for JSON: ten digits, the same on every machine; NaN becomes None."""
    if isinstance(value, (float, np.floating)):
        # 0 has no sign.
        return None if math.isnan(value) else float(f"{value:.10g}") + 0.0
    return int(value) if isinstance(value, np.integer) else value


def judged(
    systems: Sequence[Measured], measures: Sequence[str], allow: float | None = None
) -> Result:
    """Test whether a candidate is worse than a base under any measure.

    A loss is significant if the one-sided p is at most `ALPHA`, corrected over the measures. If a
    loss that is seen is smaller than one that these questions could show, the verdict is
    `CANNOT_TELL`; if they are too few for any p of at most `ALPHA`, it is undecided. A candidate
    with the base's values under every measure is unchanged, however few the questions.

    Args:
        systems: candidate and base, with the same questions in the same order.
        measures: the ones to test; both systems have them.
        allow: the loss that is allowed: a measure passes if the lower end of its difference, at
            95 %, lies above -``allow``, even if the loss is significant; if that does not hold and
            the loss is not significant, it is undecided. For graded measures that end is
            `loss_bound`, which holds whatever the values are.

    Returns:
        The fields that docs/ci.md describes.

    Raises:
        FormatError: fewer than two questions have a value of a measure by both.
    """
    clusters = clusters_in(kinds_of(systems))
    values = {m: np.column_stack([s.values[m].to_numpy(float) for s in systems]) for m in measures}
    names = [system.name for system in systems]
    shared = shared_measures(systems, ())
    same = systems[0].values[shared].equals(systems[1].values[shared])
    rows = as_records(pairs_tested([values], names, None, [clusters], one_sided=True))
    for row in rows:
        if row["n"] < 2:
            raise FormatError(f"{row['n']} questions have {row['measure']} by both; it takes two")
        gain = seen_as_gain(row)
        sign = sign_of(row["measure"])
        differences = values[row["measure"]] @ [1, -1] / row["scale"] * sign
        known = ~np.isnan(differences)
        of = None if clusters is None else clusters[known]
        shown = paired.smallest_loss(differences[known], of, ALPHA / len(measures)) * row["scale"]
        row["smallest_difference"] = plain(shown)
        row["questions_needed"] = None
        if same:
            row["verdict"] = UNCHANGED
        elif allow is None:
            row["verdict"] = _outcome(gain, shown)
        else:
            kind = kind_of(row["measure"], values[row["measure"]], together(clusters))
            if kind == GRADED or gain["low"] is None:
                gain["low"] = loss_bound(differences[known], of) * row["scale"]
                row["low" if sign > 0 else "high"] = plain(sign * gain["low"])
            row |= _allowed(gain, allow)
    change = moved(systems, measures[0])
    return {
        "questions": len(systems[0].values),
        **({"clusters": found} if (found := described(clusters)) else {}),
        "warnings": unlike(systems, values),
        "pairs": rows,
        "lost": change["b_better"],
        "won": change["a_better"],
    }


def by_interval(row: Mapping[str, Any], allow: float | None) -> str:
    """Return the verdict that the ``difference`` and its interval alone give, see `judged`."""
    if allow is not None and row["low"] > -allow:
        return ALLOWED
    if row["high"] < 0:
        return WORSE
    if allow is not None:
        return UNDECIDED
    return CANNOT_TELL if row["difference"] < 0 else NO_LOSS


def _outcome(row: Mapping[str, Any], shown: float) -> str:
    """Return the verdict on a measure, given the loss that could show; NaN without one."""
    if row["p_holm"] <= ALPHA:
        return WORSE
    if row["verdict"] == UNDECIDED:
        return UNDECIDED
    lost = -row["difference"]
    return CANNOT_TELL if lost > 0 and not shown <= lost else NO_LOSS


def _allowed(row: Mapping[str, Any], allow: float) -> Result:
    """Return the verdict, and how many questions it takes to allow the loss."""
    if row["low"] > -allow:
        return {"verdict": ALLOWED, "questions_needed": None}
    if row["p_holm"] <= ALPHA:
        return {"verdict": WORSE, "questions_needed": None}
    # A gain that is seen may be chance, and a loss that is seen leaves less to show.
    room = allow + min(row["difference"], 0.0)
    needed = None
    # The spread of one cluster is not known, and more questions in it would show nothing.
    if room > 1e-12 and row["spread"] is not None:
        # Where few questions differ, the bound is wider than one from the spread, and shrinks as
        # 1 / (n + 3) does.
        least = math.ceil((row["n"] + 3) * (row["difference"] - row["low"]) / room)
        needed = max(least, paired.questions_for(room, row["spread"], 2 * ALPHA) or 0)
    return {"verdict": UNDECIDED, "questions_needed": needed}
