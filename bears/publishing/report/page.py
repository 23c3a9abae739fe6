"""Collect what a report shows, and render it as a page that runs no code but its own."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jinja2 import Environment, StrictUndefined

from bears.config.shape import Source
from bears.errors import FormatError
from bears.evaluation.comparison.result import UNDECIDED
from bears.evaluation.comparison.values import clusters_in
from bears.evaluation.evaluate import evaluate, gold_of, parse_measure
from bears.evaluation.means import mean_intervals
from bears.files.page import as_data, part, policy, style_of
from bears.layout import BenchmarkFiles
from bears.publishing.finished import origin_of
from bears.publishing.report import advice, doubts, words
from bears.publishing.report.benchmark import GOLD, OTHER, read_benchmark
from bears.publishing.report.charts import against, curve, interval_rows
from bears.publishing.report.details import candidates, details, needed
from bears.results.about import about as run_of
from bears.results.parts import ComparedTable, one_of_each, parts_of
from bears.results.records import Records
from bears.results.system import System
from bears.types import Question

OF_ANSWERS = ("pass_rate", "answer_f1", "exact_match")
GROUPED = {"by_type": "question_type", "by_source": "source_dataset", "by_turn": "turn"}
SHOWN = ("success@1", "success@10", "strict@10", "recall@10", "mrr", "map", *OF_ANSWERS)
"""Measures that are shown beside the one that decides."""
FAMILIES = ("success", "strict", "recall", "mrr", "ndcg", "map")
DEPTHS = (1, 2, 3, 5, 10, 20, 50, 100)
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
GLYPHS = "●■▲◆✚▼▶"
"""The same shapes as characters."""

Content = dict[str, Any]
Looks = Mapping[str, Mapping[str, str]]
"""System to its color and shape in charts, and its class and character in texts."""


def report(
    records: Records,
    sources: Mapping[str, Source],
    files: BenchmarkFiles,
    systems: Sequence[System],
    measure: str,
    top: int,
    prefer: advice.Prefer = "quality",
    *,
    decides: bool = False,
    judge: tuple[str, Mapping[str, int]] = ("", {}),
) -> str:
    """Return the page about a benchmark as HTML; the same input gives the same bytes.

    Args:
        records: of the benchmark.
        sources: of the configuration.
        files: of the benchmark.
        systems: one or more with distinct names, their values in the order of the questions.
        measure: the one that orders rankings; see `parts_of`.
        top: how many documents of a system an opened question shows.
        prefer: what chooses among systems that do not differ significantly.
        decides: whether ``measure`` decides even where there are judged answers.
        judge: the address of the page on which people judge, seen from this one, and question_id to
            how many documents are there.

    Raises:
        FormatError: a file is malformed, no system has the measure although some have others, or
            the measure has values above 1.
    """
    questions = records.questions
    names = list(dict.fromkeys(name for system in systems for name in map(str, system.values)))
    whole = decides or len(systems) == 1
    lead, *below = [ComparedTable(systems, (), measure)] if whole else parts_of(systems, measure)
    measure = lead.main
    if names and measure not in names:
        raise FormatError(f"no system has {measure!r:.80}; the measures are {', '.join(names)}")
    if any(np.nanmax(s.values[measure], initial=0) > 1 for s in systems if measure in s.values):
        raise FormatError(f"{measure} has values above 1; the page shows measures from 0 to 1")
    notes = [*doubts.label_notes(systems)]
    comparisons = [advice.compared(part) for part in (lead, *below)]
    order = [row["name"] for comparison in comparisons for row in comparison["systems"]]
    order = list(dict.fromkeys([*order, *(each.name for each in systems)]))
    systems = sorted(systems, key=lambda system: order.index(system.name))
    searched = one_of_each(systems)
    comparison = comparisons[0]
    telling = candidates(len(questions), systems, measure)
    gold, shown = needed((questions[at] for at in telling), systems, top)
    benchmark = read_benchmark(records, sources, files, gold, shown)
    opened, too_large = details(benchmark, systems, _columns(measure, names), telling, top)
    look = looks(list(dict.fromkeys([*order, *(each.name for each in searched)])))
    judged = sum(question.judged for question in questions)
    # Without gold there may be the grades of a judge.
    ranked = judged or any(measure in each.values and each.defined(measure) for each in systems)
    answers = [
        _answered(system)
        for system in systems
        if any(row.get("verdict") or row.get("answer_f1") for row in system.judged.values())
    ]
    runs = {
        each.name: run_of(questions, each.run, (each.files or [None])[0], each.traced)
        for each in systems
    }
    doubtful = doubts.doubts(systems, measure) if judged else doubts.constant_judges(systems)
    advised = advice.advise(comparison, lead.systems, measure, prefer) if ranked else {}
    called = lead.called(measure, advised.get("labels"))
    return _rendered(
        benchmark=benchmark,
        judged=judged,
        papers=next(iter(runs.values())).papers,
        systems=systems,
        measure=called,
        looks=look,
        leading=[each.name for each in lead.systems],
        answer=advice.headline(advised, called, prefer) if ranked else [("answer_unjudged", {})],
        advice=advice.rows(advised, systems, called),
        take=advised.get("take", ""),
        doubts=doubtful,
        generated=answers,
        notes=notes,
        decisions=systems[0].benchmark.get("decisions"),
        made=next((q.generated for q in questions if q.generated), None),
        grouped=_grouped(systems, look, questions, measure),
        data=as_data({**opened, "words": words.words(), "looks": look, "judge": judge}),
        shown=len(opened["questions"]),
        too_large=too_large,
        gold_characters=GOLD,
        other_characters=OTHER,
        standings=[
            _standings(found, part) for found, part in zip(comparisons, (lead, *below), strict=True)
        ],
        **_costs(comparison["systems"], systems, measure, look),
        runs=runs,
        differences=_differences(comparison, advised, measure, look),
        **_recalls(searched, questions, look),
        **benchmark.card(),
    )


def _rendered(**content: Any) -> str:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {"share": words.share, "signed": words.signed, "p": words.p_value}
    environment.globals |= {"t": words.phrase, "unit": words.unit, "usd": words.dollars}
    environment.globals |= {"verdict": _verdict, "origin": origin_of, "kind": words.kind}
    style = style_of(words.PACKAGE, "style.css")
    script = part(words.PACKAGE, "script.js")
    template = environment.from_string(part(words.PACKAGE, "page.html.j2"))
    allowed = policy(style, script)
    return template.render(style=style, script=script, policy=allowed, **content)


def looks(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Give each system a color and a shape.

    Those after the seventh are gray, because people cannot distinguish more colors.
    """
    return {
        name: {
            "color": f"var(--s{at})" if at < len(SHAPES) else "var(--soft)",
            "shape": SHAPES[at % len(SHAPES)],
            "mark": f"m{min(at, len(SHAPES))}",
            "glyph": GLYPHS[at % len(SHAPES)],
        }
        for at, name in enumerate(names)
    }


def _columns(measure: str, names: Sequence[str]) -> list[str]:
    return [measure, *(name for name in SHOWN if name in names and name != measure)]


def _standings(comparison: Mapping[str, Any], part: ComparedTable) -> Content:
    """Return the tables of systems and of pairs."""
    measure = part.main
    names = [name for system in comparison["systems"] for name in system["measures"]]
    families = {name.partition("@")[0] for name in names}
    pairs = [pair for pair in comparison["pairs"] if pair["measure"] == measure]
    return {
        "measure": measure,
        "called": part.called,
        "ranked": comparison["systems"],
        "measures": _columns(measure, names),
        "explained": [f"measure_{family}" for family in FAMILIES if family in families],
        "pairs": pairs,
        "over": comparison["corrected_over"],
        # A reader needs no more than a few.
        "ties": [(pair["a"], pair["b"]) for pair in pairs if pair["ties"]][:3],
    }


def _verdict(pair: Mapping[str, Any]) -> str:
    if better := advice.better_of(pair):
        return words.phrase("verdict_better", a=better)
    return words.phrase("verdict_undecided" if pair["verdict"] == UNDECIDED else "verdict_apart")


def _costs(
    ranked: Sequence[Mapping[str, Any]], systems: Sequence[System], measure: str, look: Looks
) -> Content:
    """Return the chart of the means, and those of quality against time and money."""
    rows = [
        {"name": system["name"], **found, **look[system["name"]]}
        for system in ranked
        if (found := system["measures"].get(measure)) and found["low"] is not None
    ]
    costs = {system.name: system.costs for system in systems}
    known = [(row, costs[row["name"]]) for row in rows]
    timed = [{**row, "ms": cost.p50_ms} for row, cost in known if cost.p50_ms is not None]
    paid = [{**row, "usd": sum(cost.usd) / 2} for row, cost in known if cost.usd]
    return {
        "means": interval_rows(rows) if rows else "",
        "timed": against(timed, "ms") if timed else "",
        "untimed": [name for name, cost in costs.items() if cost.p50_ms is None],
        "paid": against(paid, "usd") if any(row["usd"] for row in paid) else "",
    }


def _differences(
    comparison: Mapping[str, Any], advised: Mapping[str, Any], measure: str, look: Looks
) -> str:
    """Return the chart of each system's difference from the recommended one."""
    take = advised.get("take")
    found = []
    for pair in comparison["pairs"]:
        if pair["measure"] != measure or take not in (pair["a"], pair["b"]) or pair["low"] is None:
            continue
        name = pair["a"] if pair["b"] == take else pair["b"]
        lead = advice.seen_from(name, pair)
        found.append({"name": name, **lead, "mean": lead["difference"], **look[name]})
    found.sort(key=lambda row: -row["mean"])
    low = min([0.0, *(row["low"] for row in found)])
    high = max([0.0, *(row["high"] for row in found)])
    return interval_rows(found, low, high) if high > low else ""


def _recalls(systems: Sequence[System], questions: Sequence[Question], look: Looks) -> Content:
    """Return each system's recall curve, and the numbers behind it."""
    recalls = {system.name: _recall(system, questions) for system in systems}
    points = [
        {"name": name, "k": k, "recall": mean, "low": low, "high": high, **look[name]}
        for name, found in recalls.items()
        for k, (mean, low, high) in found.items()
    ]
    return {
        "curves": [(name, curve(name, points)) for name, found in recalls.items() if found],
        "recalls": recalls,
        "depths": [k for k in DEPTHS if any(k in found for found in recalls.values())],
    }


def _recall(system: System, questions: Sequence[Question]) -> dict[int, tuple[float, float, float]]:
    """Return k to the mean of recall@k and its 95 % interval, over the questions with gold."""
    deepest = max(map(len, system.rankings.values()), default=1)
    depths = [k for k in DEPTHS if k <= max(deepest, 1)]
    measures = [parse_measure(f"recall@{k}") for k in depths]
    values = evaluate(system.rankings, gold_of(questions), measures).values
    shares = np.column_stack(list(values.values()))
    known = ~np.isnan(shares[:, 0])
    shares = shares[known]
    if not len(shares):
        return {}
    means = [math.fsum(column) / len(column) for column in shares.T.tolist()]
    clusters = clusters_in(system.kinds)
    of = None if clusters is None else clusters[known]
    rows = zip(depths, means, mean_intervals(shares, clusters=of), strict=True)
    return {k: (mean, *ends) for k, mean, ends in rows}


def _grouped(
    systems: Sequence[System], look: Looks, questions: Sequence[Question], measure: str
) -> list[tuple[str, list[Content]]]:
    """Return a heading's key, and for each group below it ``name``, ``n``, ``rows`` and ``svg``.

    A heading with one group is left out. ``n`` is the number of judged questions.
    """
    found = []
    for key, field in GROUPED.items():
        groups = []
        for name in sorted({getattr(question, field) for question in questions}):
            chosen = np.array([getattr(q, field) == name and q.judged for q in questions])
            means = {each.name: advice.mean_of(each, measure, chosen) for each in systems}
            found_rows = [{**mean, "name": each} for each, mean in means.items() if mean]
            # One question says nothing about a group.
            if found_rows and chosen.sum() > 1:
                svg = interval_rows([{**row, **look[str(row["name"])]} for row in found_rows])
                judged = int(chosen.sum())
                groups.append({"name": name, "n": judged, "rows": found_rows, "svg": svg})
        # One group is what the section before shows.
        found += [(key, groups)] if len(groups) > 1 else []
    return found


def _answered(system: System) -> Content:
    """Return what judged answers are worth, and count where the wrong ones went wrong."""
    rows = list(system.judged.values())
    causes = Counter(row["cause"] for row in rows if row.get("cause"))
    choices = system.revision.selection if system.revision else {}
    return {
        "system": system.name,
        # Who wrote the answers and who judged them.
        "by": " / ".join(str(choices[part]) for part in ("generator", "judge") if part in choices),
        "n": len(rows),
        "unscored": sum(row.get("verdict") not in ("pass", "fail") for row in rows),
        "means": {name: advice.mean_of(system, name) for name in OF_ANSWERS},
        "causes": sorted(causes.items(), key=lambda item: (-item[1], item[0])),
    }
