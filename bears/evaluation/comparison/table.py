"""A comparison for people: on the terminal, in Markdown, LaTeX (booktabs) and CSV."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import pandas as pd
from tabulate import tabulate

from bears.files.benchmark_state import heading
from bears.files.shown import markdown, markdown_table, one_line
from bears.files.spreadsheet import csv_text

Form = Literal["table", "markdown", "latex", "csv"]
SHOWN = 10
COLUMNS = {
    "measure": "measure",
    "a": "A",
    "b": "B",
    "mean_a": "mean A",
    "mean_b": "mean B",
    "difference": "A - B",
    "interval": "95 % interval",
    "p": "p",
    "p_holm": "p (Holm)",
    "smallest_difference": "could show",
    "n": "n",
    "verdict": "verdict",
}


def shown(result: Mapping[str, Any], form: Form, kinds: Sequence[str] = ()) -> str:
    """The comparison as a text.

    Args:
        result: as `bears.evaluation.comparison.result.compare` gives it.
        kinds: ``type``, ``source``: the pairs for each of their values as well.
    """
    if form == "csv":
        return _csv(result, kinds)
    two = len(result["systems"]) == 2
    pairs = [row for row in result["pairs"] if two or row["measure"] == result["main"]]
    words = [_heading(result), *result["warnings"], *_ties(pairs)]
    tables: list[str | pd.DataFrame] = [_systems(result), _pairs(pairs, two)]
    for kind in kinds:
        for value, part in result["by"].get(kind, {}).items():
            few = f" ({part['few']})" if part["few"] else ""
            tables += [f"{kind} {value}, n = {part['n']}{few}", _pairs(part["pairs"], two)]
    parts: list[str | pd.DataFrame] = [*words, *tables, *_remarks(result, two, kinds)]
    return "\n\n".join(formed(part, form) for part in parts) + "\n"


def formed(part: str | pd.DataFrame, form: Form) -> str:
    """A table, or lines of text, as that form has them."""
    if isinstance(part, str):
        lines = [one_line(line, 500) for line in part.split("\n")]
        if form == "latex":
            return "\n".join(f"% {line}" for line in lines)
        return "\n".join(map(markdown, lines) if form == "markdown" else lines)
    header, rows = list(part.columns), [[one_line(c) for c in row] for row in part.to_numpy()]
    if form == "csv":
        return csv_text(header, rows)
    if form == "markdown":
        return markdown_table(header, rows).rstrip("\n")
    style = "latex_booktabs" if form == "latex" else "simple"
    text = str(tabulate(rows, headers=header, tablefmt=style, disable_numparse=True))
    # The end of a row would take what begins so for an argument of its own.
    return re.sub(r"^( *)([\[*])", r"\1{}\2", text, flags=re.MULTILINE) if form == "latex" else text


def _heading(result: Mapping[str, Any]) -> str:
    records = {"name": result["benchmark"] or "values from elsewhere"}
    records |= {key: result[key] for key in ("state", "questions")}
    made = f"; {result['generated']}" if result.get("generated") else ""
    return f"{heading(records)}{made}"


def _ties(pairs: Iterable[Mapping[str, Any]]) -> list[str]:
    return [
        f"{row['a']} and {row['b']}, {row['measure']}: {row['ties']}"
        for row in pairs
        if row["ties"]
    ]


def _systems(result: Mapping[str, Any]) -> pd.DataFrame:
    """The systems under the main measure: by group, and within a group by name."""
    main = result["main"]
    rows = []
    for system in sorted(result["systems"], key=lambda system: _place(system, main)):
        of = system["measures"][main]
        first, last = of["rank"]
        rows.append(
            {
                "system": system["name"],
                "what": system["what"],
                main: _number(of["mean"]),
                "95 % interval": _interval(of),
                "group": of["group"],
                "rank": str(first) if first == last else f"{first} to {last}",
            }
        )
    frame = pd.DataFrame(rows)
    return frame if any(frame["what"]) else frame.drop(columns="what")


def _place(system: Mapping[str, Any], main: str) -> tuple[Any, ...]:
    letters = system["measures"][main]["group"]
    return [(letter.isupper(), letter) for letter in letters], system["name"]


def _pairs(rows: Sequence[Mapping[str, Any]], two: bool) -> pd.DataFrame:
    frame = pd.DataFrame(
        [
            {
                **{key: _number(row.get(key)) for key in COLUMNS},
                "interval": _interval(row),
            }
            for row in rows
        ],
        columns=list(COLUMNS),
    )
    if two and rows:
        named = {"mean_a": str(rows[0]["a"]), "mean_b": str(rows[0]["b"])}
        return frame.drop(columns=["a", "b"]).rename(columns={**COLUMNS, **named})
    return frame.drop(columns="measure").rename(columns=COLUMNS)


def _interval(row: Mapping[str, Any]) -> str:
    if row["low"] is None:
        return "–"
    return f"{_number(row['low'])} to {_number(row['high'])}"


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) >= 0.001 or value == 0 else f"{value:.2g}"
    return "–" if value is None else str(value)


def _remarks(result: Mapping[str, Any], two: bool, kinds: Sequence[str]) -> list[str]:
    told = [kind for kind in kinds if result["by"].get(kind)]
    by = "".join(f", in the tables by {kind} over all of these" for kind in told)
    several = two and len(result["pairs"]) > 1
    others = f", for the others over {result['others_corrected_over']}" if several else ""
    remarks = [
        f"p is corrected by Holm's method over {result['corrected_over']}{others}{by}; "
        'intervals are of each difference by itself. "could show": the difference that these '
        "questions would have shown in four of five cases."
    ]
    if not two:
        return [*remarks, f"Systems that share a letter cannot be told apart by {result['main']}."]
    return remarks + [_flipped(flip) for flip in result["flips"]]


def _flipped(flip: Mapping[str, Any]) -> str:
    lines = []
    for side, other in (("a", "b"), ("b", "a")):
        entries = flip[f"only_{side}"]
        lines.append(
            f"{flip['measure']}, questions that {flip[side]} has and {flip[other]} lacks: "
            f"{len(entries)}"
        )
        lines += [_question(entry, flip) for entry in entries[:SHOWN]]
        more = len(entries) - SHOWN
        lines += [f"  … and {more} more: --format json"] * (more > 0)
    return "\n".join(lines)


def _question(entry: Mapping[str, Any], flip: Mapping[str, Any]) -> str:
    text = f"  {entry['question_id']} {one_line(entry.get('question', ''))}"
    places = [
        f"gold at {_gold(entry[f'ranking_{side}'])} by {flip[side]}"
        for side in "ab"
        if f"ranking_{side}" in entry
    ]
    return ": ".join(filter(None, (text.rstrip(), ", ".join(places))))


def _gold(ranking: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(str(hit["rank"]) for hit in ranking if hit["gold"]) or "none"


def _csv(result: Mapping[str, Any], kinds: Sequence[str]) -> str:
    """All pairs under all measures, in full; with kinds, theirs below."""
    frame = pd.DataFrame(result["pairs"])
    parts = [frame] if not kinds else [frame.assign(kind="", value="")]
    for kind in kinds:
        for value, part in result["by"].get(kind, {}).items():
            parts.append(pd.DataFrame(part["pairs"]).assign(kind=kind, value=value))
    whole = pd.concat(parts, ignore_index=True).astype(object)
    whole = whole.where(whole.notna(), None)
    return csv_text(list(whole.columns), whole.to_numpy().tolist())
