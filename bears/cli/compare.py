"""``bears compare``: whether systems differ, by how much, and how certain that is."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bears.errors import FormatError
from bears.evaluation.comparison import result
from bears.evaluation.comparison.table import shown
from bears.evaluation.repeats import note
from bears.files.records import to_json, write_text
from bears.files.shown import complain
from bears.layout import COMPARISON
from bears.publishing.report.advice import Prefer, advise, headline, rows
from bears.publishing.report.doubts import doubts, label_notes
from bears.publishing.report.words import sentence
from bears.results.origins import ran
from bears.results.parts import ComparedTable, parts_of
from bears.results.revision import WORKSPACE
from bears.results.system import System, with_searches
from bears.selection.configuration import composed
from bears.selection.systems import chosen, main_of, with_traced

if TYPE_CHECKING:
    import pandas as pd


def compare(
    systems: Sequence[str] = (),
    *,
    measure: Sequence[str] = (),
    by: Sequence[Literal["type", "source", "turn"]] = (),
    equal_within: float | None = None,
    prefer: Prefer = "quality",
    format: Literal["table", "json", "markdown", "latex", "csv"] = "table",
    out: Path | None = None,
    benchmark: str = "",
    all_commits: bool = False,
) -> None:
    """Compare systems of one benchmark, question by question.

    Prints which system to take and what that risks, then differences with 95 % intervals, p
    corrected for all comparisons, groups of systems that do not differ significantly, and the
    questions that flipped. Judged answers decide where there are any, and rankings come below. The
    full result goes to metrics/comparison.json, which git ignores.

    Args:
        systems: a DVC revision or experiment, `workspace`, a name that this command prints, a file
            (a TREC run, a submission, or a CSV of question_id and a column for each measure), or a
            system of the leaderboard; default: HEAD, its experiments, the workspace, what ran here
            since HEAD was committed, and the traces that a benchmark was drawn from, separately for
            each benchmark
        measure: may be given repeatedly
        by: also compare within each type, source or turn of questions
        equal_within: a difference that does not matter: pairs that certainly differ by less are
            equal
        prefer: what chooses among systems that do not differ significantly; default: quality
        format: default: table
        out: write to this file, and print nothing
        benchmark: of files; default: the one in params.yaml
    """
    if equal_within is not None and not 0 < equal_within < math.inf:
        raise FormatError(f"--equal-within is {equal_within}; expected a number above 0")
    if benchmark:
        composed(benchmark)  # Refuses an unknown name.
    groups = [chosen(systems, benchmark)] if systems else _here(benchmark, all_commits)
    results, advices = [], []
    for group in (with_searches(group, measure) for group in groups):
        (lead, each), *below = [
            (part, part.compared(equal_within)) for part in parts_of(group, main_of(group), measure)
        ]
        each["warnings"] += [*_other_code(group), *lead.warnings()]
        each["advice"] = advise(each, lead.systems, each["main"], prefer)
        notes = {system.name: note(system.repeated, each["main"]) for system in lead.systems}
        each["repeats"] = {name: text for name, text in notes.items() if text}
        each["below"] = [found for _, found in below]
        results.append(each)
        advices.append(_advice(each, lead, prefer))
    text = to_json(results[0] if len(results) == 1 else results) + "\n"
    write_text(COMPARISON, text)
    for kind in by:
        if not all(each["by"].get(kind) for each in results):
            column = result.KINDS[kind]
            complain(f"compare: no {kind} of questions is known: no column {column}")
    if format != "json":
        kinds = list(dict.fromkeys(by))
        parts = zip(results, advices, strict=True)
        text = "\n".join(shown(each, format, kinds, advice) for each, advice in parts)
    if out:
        write_text(out, text)
    else:
        print(text, end="")


COMMAND = compare


def _advice(
    result: Mapping[str, Any], lead: ComparedTable, prefer: Prefer
) -> "list[str | pd.DataFrame]":
    """Return one line that says which system to take, a table below it, and what is doubtful."""
    import pandas as pd

    advice = result["advice"]
    main = lead.called(result["main"], advice.get("labels"))
    first = " ".join(sentence(key, **values) for key, values in headline(advice, main, prefer))
    table = [
        [sentence(label, **values), sentence(key, **values)]
        for label, (key, values) in rows(advice, lead.systems, main)
    ]
    notes = [*doubts(lead.systems, result["main"]), *label_notes(lead.systems)]
    said = [sentence(key, **values) for key, values in notes]
    shown = [pd.DataFrame(table, columns=["", f"take {advice['take']}"])] if table else []
    repeats = [f"{name}: {text}" for name, text in result["repeats"].items()]
    return [first, *shown, *said, *repeats]


def _here(benchmark: str, all_commits: bool) -> list[list[System]]:
    """Return the systems that ran here, separately for each benchmark."""
    unmeasured = ""
    # After a commit, what ran before it is still what people want to compare.
    for older in sorted({all_commits, True}):
        named = [(str(own[0].benchmark["name"]), own) for own in ran(older)]
        found = [with_traced(own, name) for name, own in named if benchmark in ("", name)]
        groups = [own for own in found if len(own) >= 2 and len(own[0].values.columns)]
        unmeasured = next((own[0].name for own in found if not len(own[0].values.columns)), "")
        # Other states of the records are not what people have before them.
        current = [each for each in groups if {s.what for s in each} & {"HEAD", WORKSPACE}]
        if groups:
            return groups if all_commits else current or groups
    if unmeasured:
        raise FormatError(
            f"{unmeasured} has no measure, since no question has gold; people give it (`bears "
            "judgements pool`), or a model that grades what is found: dvc exp run -S "
            "judge=relevance"
        )
    raise FormatError(
        f"fewer than 2 results{f' on {benchmark}' if benchmark else ''} among all commits, "
        "experiments, runs in DVC's cache and the workspace; make another: "
        "dvc exp run -S retriever=NAME"
    )


def _other_code(systems: Sequence[System]) -> list[str]:
    """Warn of systems that were measured by different code."""
    codes = [(s.name, s.revision.code) for s in systems if s.revision and s.revision.code]
    for (one, ours), (other, theirs) in combinations(codes, 2):
        differ = sorted(stage for stage in ours.keys() & theirs if ours[stage] != theirs[stage])
        if differ:
            return [
                f"{one} and {other} come from different code of {', '.join(differ)}; run the older "
                "one again to compare them"
            ]
    return []
