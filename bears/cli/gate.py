"""``bears gate``: fail if a change made retrieval or answers worse."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

from bears.errors import FormatError, RecordsDiffer
from bears.evaluation.comparison import table
from bears.evaluation.comparison.pairs import seen_as_gain
from bears.evaluation.comparison.result import CANNOT_TELL, UNDECIDED, WORSE, judged
from bears.evaluation.comparison.values import aligned, shared_measures
from bears.files.records import read_questions, stream_documents, to_json, write_text
from bears.files.visible import one_line
from bears.layout import EVERY, pattern
from bears.results.labeled import gated, labels_of
from bears.results.system import System, with_searches
from bears.results.values import PASS_RATE
from bears.selection.systems import chosen, main_of
from bears.types import Question

Parts = Mapping[str, Mapping[str, object]]
"""The parts of each record, by its id, that may change."""


def changes(base: System, candidate: System) -> tuple[str, list[str]]:
    """Count what was added, removed or changed, as far as the records are here.

    Returns:
        The counts in words, and the ids of the questions whose text and gold are the same, as far
        as both are known: files of values only have ids.

    Raises:
        FormatError: the records are damaged.
    """
    old, new = _questions(base), _questions(candidate)
    said = _difference(old, new, "question")
    said += _difference(_documents(base), _documents(candidate), "document")
    both = base.values.index.intersection(candidate.values.index)
    return ", ".join(said), [q for q in both if not _changed(old[q], new[q])]


def _questions(system: System) -> Parts:
    found: dict[str, Mapping[str, object]] = {key: {} for key in map(str, system.values.index)}
    questions = read_questions(system.queries) if system.queries else ()
    decided: dict[str, set[object]] = {}
    for one in system.decisions:
        decided.setdefault(one.question_id, set()).add((one.place, one.decision))
    return found | {each.question_id: _parts(each, decided) for each in questions}


def _parts(question: Question, decided: Mapping[str, set[object]]) -> Mapping[str, object]:
    # A span moves with the text before it, and is still the same gold.
    spans = [(span.doc_id, span.quotation, span.lost) for span in question.gold_spans]
    answers = question.gold_answer, question.answers
    gold = answers, question.judgements, question.judged, spans, decided.get(question.question_id)
    return {"text": (question.question, question.turns), "gold": gold}


def _documents(system: System) -> Parts:
    if system.revision:
        path = system.revision.within(pattern(EVERY.translated), "corpus.json")
    else:
        path = system.queries and system.queries.with_name("corpus.json")
    documents = stream_documents(path) if path else ()
    return {each.doc_id: {"text": hash((each.content, each.group))} for each in documents}


def _difference(old: Parts, new: Parts, word: str) -> list[str]:
    """Count the records that are in one alone, and those of which a part changed."""
    if not (old and new):
        return []
    both = old.keys() & new.keys()
    counts = Counter({"{} added": len(new) - len(both), "{} removed": len(old) - len(both)})
    for key in sorted(both):
        counts.update(f"{part} of {{}} changed" for part in _changed(old[key], new[key]))
    return [text.format(f"{n} {word}{'s' * (n != 1)}") for text, n in counts.items() if n]


def _changed(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """Return the parts that both have and that differ."""
    return [part for part in old if part in new and old[part] != new[part]]


STATUSES = {"pass": 0, CANNOT_TELL: 0, "fail": 1, "not comparable": 3, UNDECIDED: 4}
"""Of each verdict; 2 is that of wrong arguments and of results that cannot be read."""
FOUND = {WORSE: "fail", UNDECIDED: UNDECIDED, CANNOT_TELL: CANNOT_TELL}
"""The verdict if any measure has this one, the worst first."""
PROBLEMS = {WORSE: "failure", UNDECIDED: "error", CANNOT_TELL: "skipped"}
"""What JUnit calls a verdict on a measure that does not pass."""
RENAMED = {"A - B": "difference", "95 % interval": "90 % interval", "p (Holm)": "p, one-sided"}
HINT = "--common compares the questions that both have with the same text and gold"
REMARK = """p is corrected by Holm's method over these measures. "could show": the loss that these \
questions would have shown in four of five cases."""


def gate(
    base: str,
    candidate: str,
    *,
    measure: Sequence[str] = (),
    allow: float | None = None,
    strict: bool = False,
    common: bool = False,
    markdown: Path | None = None,
    junit: Path | None = None,
    format: Literal["table", "json"] = "table",
    benchmark: str = "",
) -> int:
    """Fail if a change made retrieval or answers worse.

    Exits with 1 if a measure is significantly worse (one-sided paired tests at 0.05, corrected by
    Holm's method over the measures), 2 if something cannot be read, 3 if both were not measured on
    the same records, 4 if the questions are too few for --allow or for any test, and 0 otherwise.
    The verdict is "cannot tell" if a loss is seen that is smaller than one that these questions
    could show.

    Args:
        base: as in `bears compare`: a DVC revision, `workspace`, a file, or a system of the
            leaderboard
        candidate: the same, after the change
        measure: may be given repeatedly; default: the one that orders the benchmark, and pass_rate
            if both have judged answers
        allow: a loss that does not matter, in the unit of the measure, such as 0.02: a measure
            passes if the lower end of its difference, at 95 %, lies above -0.02
        strict: exit with 4 if the verdict is "cannot tell"
        common: if the records differ, compare the questions that both have with the same text and
            gold
        markdown: write the result to this file, for a comment on a pull request
        junit: write the result to this file, with a test case for each measure
        format: default: table
        benchmark: of files; default: the one in params.yaml
    """
    if allow is not None and not 0 < allow < math.inf:
        raise FormatError(f"--allow is {allow}; expected a number above 0")
    systems = with_searches(chosen([base, candidate], benchmark), measure)
    measures = _measures(systems, measure)
    result = _decided(systems, measures, allow, common)
    if markdown:
        write_text(markdown, _text(result, "markdown"))
    if junit:
        write_text(junit, _junit(result, measures))
    print(to_json(result) + "\n" if format == "json" else _text(result, "table"), end="")
    if strict and result["verdict"] == CANNOT_TELL:
        return STATUSES[UNDECIDED]
    return STATUSES[result["verdict"]]


COMMAND = gate


def _measures(systems: Sequence[System], asked: Sequence[str]) -> list[str]:
    """Return the measures to test. Raises FormatError if one is missing."""
    names = shared_measures(systems, asked)
    first = main if (main := main_of(systems)) in names else names[0]
    return names if asked else [first, *({PASS_RATE} & set(names) - {first})]


def _decided(
    systems: Sequence[System], measures: Sequence[str], allow: float | None, common: bool
) -> dict[str, Any]:
    """Return the result as plain values."""
    base, candidate = systems
    result: dict[str, Any] = {
        "verdict": "not comparable",
        "said": "",
        "base": base.name,
        "candidate": candidate.name,
        "benchmark": str(base.benchmark.get("name", "")),
        "state": str(candidate.benchmark.get("state", "")),
        "decisions": candidate.benchmark.get("decisions", 0),
        "changed": "",
        "common": None,
        "pairs": [],
    }
    try:
        pair = aligned([candidate, base])
    except RecordsDiffer as error:
        found, both = changes(base, candidate)
        result["changed"] = found or str(error)
        if not (both and common):
            names = f"{base.name} and {candidate.name} were measured on different records"
            hint = HINT if both else "no question is the same"
            return {**result, "said": f"{names}: {result['changed']}; {hint}"}
        result["common"] = len(both)
        result["said"] = f"{len(both)} common questions alone ({result['changed']}): "
        pair = aligned([replace(each.only(both), benchmark={}) for each in (candidate, base)])
    result |= judged(pair, measures, allow)
    if result["common"] is None:
        labels, ours = labels_of(systems), (candidate, base)
        result["pairs"] = [gated(row, ours, labels, allow) for row in result["pairs"]]
    verdicts = {row["verdict"] for row in result["pairs"]}
    result["said"] += "; ".join(_said(row, allow) for row in result["pairs"])
    worst = next((FOUND[verdict] for verdict in FOUND if verdict in verdicts), "pass")
    return {**result, "verdict": worst}


def _said(row: Mapping[str, Any], allow: float | None) -> str:
    """Return the verdict on one measure in a few words."""
    ends = f"{table.number(row['mean_b'])} to {table.number(row['mean_a'])}"
    if "labels" in row:
        difference = table.number(row["difference"])
        ends = f"{difference} by {row['labels']} labels of people on {row['of']} items"
    text = f"{row['measure']} {row['verdict']} ({ends})"
    if row["verdict"] == CANNOT_TELL:
        shown = row["smallest_difference"]
        could = "none" if shown is None else f"one of {table.number(shown)} or more"
        lost = table.number(-seen_as_gain(row)["difference"])
        return f"{text}: it lost {lost}, and {row['n']} questions can only show {could}"
    if row["verdict"] == UNDECIDED and allow is None:
        return f"{text}: {table.least_note([row])}"
    if "labels" in row and row["verdict"] == UNDECIDED:
        return f"{text}: the labels are too few to show a loss below {allow:g}"
    if row["verdict"] == UNDECIDED:
        needed = row["questions_needed"]
        hint = f"it takes about {needed}" if needed else f"it lost {allow:g} or more here"
        return f"{text}: {row['n']} questions are too few to show a loss below {allow:g}; {hint}"
    return text


def _text(result: Mapping[str, Any], form: table.Form) -> str:
    """Return the result for people: the verdict, the measures, and the questions that moved."""
    import pandas as pd

    parts: list[str | pd.DataFrame] = [f"{result['verdict']}: {result['said']}"]
    if rows := [{**row, "a": "candidate", "b": "base"} for row in result["pairs"]]:
        columns = ["measure", "base", "candidate", *RENAMED.values(), "could show", "n", "verdict"]
        measured = table.pairs_table(rows, two=True).rename(columns=RENAMED)[columns]
        names = f"base: {result['base']}, candidate: {result['candidate']}"
        parts += [f"{table.records_line(result)}; {names}", *result["warnings"], measured, REMARK]
        for what in ("lost", "won"):
            said = f"{rows[0]['measure']}, questions {what}"
            parts += table.moved_parts(said, result[what], {"b": "base", "a": "candidate"})
    return "\n\n".join(table.formatted(part, form) for part in parts) + "\n"


def _junit(result: Mapping[str, Any], measures: Sequence[str]) -> str:
    """Return the result as JUnit's XML, with a test case for each measure."""
    verdicts = {row["measure"]: row["verdict"] for row in result["pairs"]}
    kinds = [PROBLEMS.get(verdicts.get(measure, UNDECIDED), "") for measure in measures]
    suite = ElementTree.Element("testsuite", name="bears gate", tests=str(len(measures)))
    for kind, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(count, str(kinds.count(kind)))
    for measure, kind in zip(measures, kinds, strict=True):
        name = one_line(measure)
        case = ElementTree.SubElement(suite, "testcase", classname="bears gate", name=name)
        if kind:
            said = one_line(f"{result['verdict']}: {result['said']}", 2000)
            ElementTree.SubElement(case, kind, message=said)
    ElementTree.indent(suite)
    return f"{ElementTree.tostring(suite, 'unicode', xml_declaration=True)}\n"
