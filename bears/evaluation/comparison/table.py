"""Format a comparison for people: for the terminal, in Markdown, LaTeX (booktabs) and CSV."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import pandas as pd
from tabulate import tabulate

from bears.evaluation.clusters import note
from bears.evaluation.comparison.paired import unseen
from bears.evaluation.comparison.result import UNDECIDED
from bears.evaluation.trace_measures import sign_of
from bears.files.benchmark_state import heading
from bears.files.intake.yaml_text import table_of
from bears.files.shown import markdown, markdown_table
from bears.files.spreadsheet import csv_text
from bears.files.visible import one_line

Form = Literal["table", "markdown", "latex", "csv"]
SHOWN = 10
RAISED = re.compile(r"(?<=[\d–])⟦([a-z\d()]*)⟧")
"""Matches letters above the line, as they are while a table is being made."""
MARKS = (
    "Letters above a mean: the systems over which it is significantly better, p corrected by "
    "Holm's method."
)
COLUMNS: Mapping[str, str] = table_of(__file__)


def shown(
    result: Mapping[str, Any],
    form: Form,
    kinds: Sequence[str] = (),
    advice: Sequence[str | pd.DataFrame] = (),
) -> str:
    """Return the comparison as text.

    Args:
        result: what `bears.evaluation.comparison.result.compare` returns.
        kinds: ``type``, ``source``: add the pairs for each of their values.
        advice: comes first.
    """
    if form == "csv":
        return _csv(result, kinds)
    results = (result, *result["below"])
    if form == "latex":
        lines = [*advice[:1], records_line(result)]
        parts = [part for each in results for part in (*each["warnings"], _marked(each), MARKS)]
        return "\n\n".join(formatted(part, form) for part in [*lines, *parts]) + "\n"
    first: list[str | pd.DataFrame] = [*advice, records_line(result)]
    parts = [part for each in results for part in _parts(each, kinds)]
    return "\n\n".join(formatted(part, form) for part in [*first, *parts]) + "\n"


def _marked(result: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row for each system and a column for each measure, as ranx prints them.

    A mean is marked with the letters of the systems over which it is significantly better.
    """
    names = _order(result)
    letters = {name: _letter(place) for place, name in enumerate(names)}
    better: dict[tuple[str, str], str] = {}
    for row in result["pairs"]:
        for one, other in ((row["a"], row["b"]), (row["b"], row["a"])):
            if row["verdict"] == f"{one} better":
                key = one, row["measure"]
                better[key] = "".join(sorted([*better.get(key, ""), letters[other]]))
    measures = {name: own["measures"] for own in result["systems"] for name in [own["name"]]}
    columns = list(dict.fromkeys(measure for own in measures.values() for measure in own))
    cells = [
        [name, letters[name]]
        + [
            f"{number(measures[name][each]['mean'])}⟦{better.get((name, each), '')}⟧"
            for each in columns
        ]
        for name in names
    ]
    return pd.DataFrame(cells, columns=["system", "#", *columns])


def _letter(place: int) -> str:
    return chr(ord("a") + place) if place < 26 else f"({place + 1})"


def _parts(result: Mapping[str, Any], kinds: Sequence[str]) -> list[str | pd.DataFrame]:
    two = len(result["systems"]) == 2
    pairs = [row for row in result["pairs"] if two or row["measure"] == result["main"]]
    ties = [f"{r['a']} and {r['b']}, {r['measure']}: {r['ties']}" for r in pairs if r["ties"]]
    parts = [*result["warnings"], *ties, _systems(result), pairs_table(pairs, two)]
    for kind in kinds:
        for value, part in result["by"].get(kind, {}).items():
            few = f" ({part['few']})" if part["few"] else ""
            group = value if kind == "turn" else f"{kind} {value}"
            parts += [f"{group}, n = {part['n']}{few}", pairs_table(part["pairs"], two)]
    return [*parts, *_remarks(result, two, kinds)]


def formatted(part: str | pd.DataFrame, form: Form) -> str:
    """Format a table, or lines of text."""
    if isinstance(part, str):
        lines = [one_line(line, 500) for line in part.split("\n")]
        if form == "latex":
            return "\n".join(f"% {line}" for line in lines)
        return "\n".join(map(markdown, lines) if form == "markdown" else lines)
    header, rows = list(part.columns), [[one_line(c, 200) for c in row] for row in part.to_numpy()]
    if form == "markdown":
        return markdown_table(header, rows).rstrip("\n")
    style = "latex_booktabs" if form == "latex" else "simple"
    text = str(tabulate(rows, headers=header, tablefmt=style, disable_numparse=True))
    # The end of a row would take such a beginning for an argument of its own.
    if form != "latex":
        return text
    text = re.sub(r"^( *)([\[*])", r"\1{}\2", text, flags=re.MULTILINE)
    text = RAISED.sub(lambda found: f"$^{{{found[1]}}}$" if found[1] else "", text)
    return text.replace("→", r"$\rightarrow$")


def records_line(result: Mapping[str, Any]) -> str:
    """Return a line that says which records a result is of."""
    records = {"name": result["benchmark"] or "values from elsewhere"}
    records |= {key: result.get(key) for key in ("state", "questions", "decisions")}
    made = f"; {result['generated']}" if result.get("generated") else ""
    clusters = f", {found}" if (found := note(result.get("clusters", {}))) else ""
    if different := result.get("different"):
        clusters = f", drawn from all that users asked; {different} different ones"
    return f"{heading(records)}{clusters}{made}"


def _systems(result: Mapping[str, Any]) -> pd.DataFrame:
    """List the systems by their means of the main measure."""
    main = result["main"]
    rows = []
    systems = {system["name"]: system for system in result["systems"]}
    for system in map(systems.__getitem__, _order(result)):
        own = system["measures"][main]
        rows.append(
            {
                "system": system["name"],
                "what": system["what"],
                result.get("called", main): number(own["mean"]),
                "95 % interval": _interval(own),
                "group": own["group"],
                "rank": " to ".join(map(str, dict.fromkeys(own["rank"]))),
                **({"by the judge": number(own["judge"]["mean"])} if "judge" in own else {}),
            }
        )
    frame = pd.DataFrame(rows).fillna("–")
    return frame if any(frame["what"]) else frame.drop(columns="what")


def _order(result: Mapping[str, Any]) -> list[str]:
    """Return the names of the systems, the best mean of the main measure first."""
    main = result["main"]
    means = {system["name"]: system["measures"][main]["mean"] for system in result["systems"]}
    return sorted(means, key=lambda name: (-means[name] * sign_of(main), name))


def pairs_table(rows: Sequence[Mapping[str, Any]], two: bool) -> pd.DataFrame:
    """Return a row for each pair; ``two``: there is no other pair, and the rows are measures."""
    cells = [
        [_interval(each) if key == "interval" else number(each.get(key)) for key in COLUMNS]
        for row in rows
        for each in _with_judge(row)
    ]
    frame = pd.DataFrame(cells, columns=list(COLUMNS))
    if two and rows:
        named = {"mean_a": str(rows[0]["a"]), "mean_b": str(rows[0]["b"])}
        return frame.drop(columns=["a", "b"]).rename(columns={**COLUMNS, **named})
    return frame.drop(columns="measure").rename(columns=COLUMNS)


def _with_judge(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the row of a pair; if people labeled it, what their labels say, then the judge."""
    judge = row.get("judge")
    if judge is None:
        yield row
        return
    by = f"{row['labels']} of {row['of']} labeled by people"
    yield {**row, "smallest_difference": None, "verdict": f"{row['verdict']} ({by})"}
    yield {**row, **judge, "verdict": f"{judge['verdict']} (the judge)"}


def _interval(row: Mapping[str, Any]) -> str:
    return "–" if row["low"] is None else f"{number(row['low'])} to {number(row['high'])}"


def _same_note(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say why some pairs have no interval; empty if some questions differ in each pair."""
    sizes = [row["n"] for row in rows if row["low"] is None and row["difference"] == 0]
    if not sizes:
        return ""
    return (
        "No interval: both systems have the same value for every question. "
        f"Up to {100 * unseen(min(sizes)):.0f} % of questions could still differ."
    )


def number(value: Any) -> str:
    """Format a number of a table."""
    if isinstance(value, float):
        # An end of an interval may be just beside 0.
        return f"{value:.4f}" if abs(value) >= 0.001 or abs(value) < 1e-9 else f"{value:.2g}"
    return "–" if value is None else str(value)


def _remarks(
    result: Mapping[str, Any], two: bool, kinds: Sequence[str]
) -> list[str | pd.DataFrame]:
    rows = result["pairs"]
    by = [
        f", in the tables by {kind} over all of these" for kind in kinds if result["by"].get(kind)
    ]
    several = two and len(rows) > 1
    others = f", for the others over {result['others_corrected_over']}" if several else ""
    remark = (
        f"p is corrected by Holm's method over {result['corrected_over']}{others}{''.join(by)}; "
        'intervals are of each difference by itself. "could show": the difference that these '
        "questions would have shown in four of five cases."
    )
    remark += "".join(f"\n{said}" for said in (least_note(rows), _same_note(rows)) if said)
    if not two:
        letters = f"Systems that share a letter do not differ significantly in {result['main']}."
        return [remark, letters]
    names = {side: rows[0][side] for side in "ab"}
    parts: list[str | pd.DataFrame] = [remark]
    for side, name in names.items():
        said = f"{result['main']}, questions on which {name} is better"
        parts += moved_parts(said, result["moved"][f"{side}_better"], names)
    return parts


def least_note(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say which p is the smallest possible one, if a pair is undecided for that."""
    least = [row["least_p"] for row in rows if row["verdict"] == UNDECIDED]
    if not least:
        return ""
    return (
        f"undecided: p cannot be below {number(max(least))}, and more after the correction, with "
        "so few questions, or clusters of questions that belong together"
    )


def moved_parts(
    said: str, rows: Sequence[Mapping[str, Any]], names: Mapping[str, str]
) -> list[str | pd.DataFrame]:
    """Return how many questions moved, and the first of them as a table.

    Args:
        said: what they are.
        rows: of `bears.evaluation.comparison.result.moved`.
        names: ``a`` and ``b`` to the heads of their columns, in order.
    """
    columns = ["question_id", *names, "question"]
    first = pd.DataFrame(rows[:SHOWN], columns=columns).map(number).rename(columns=names)
    more = f", the first {SHOWN} of them" * (len(rows) > SHOWN)
    return [f"{said}: {len(rows)}{more}", *([first] if rows else [])]


def _csv(result: Mapping[str, Any], kinds: Sequence[str]) -> str:
    """Return all pairs under all measures, in full; with kinds, add theirs below."""
    parts = []
    for each in (result, *result["below"]):
        frame = pd.DataFrame(each["pairs"])
        parts += [frame.assign(kind="", value="") if kinds else frame]
        for kind in kinds:
            for value, part in each["by"].get(kind, {}).items():
                parts.append(pd.DataFrame(part["pairs"]).assign(kind=kind, value=value))
    whole = pd.concat(parts, ignore_index=True).astype(object)
    whole = whole.where(whole.notna(), None)
    return csv_text(list(whole.columns), whole.to_numpy().tolist())
