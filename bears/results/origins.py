"""Reading what a system scored from wherever results come from."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from os.path import isfile
from pathlib import Path
from typing import Any

import pandas as pd
from typing_extensions import TypedDict

from bears.config import parse
from bears.errors import ConfigurationError, FormatError
from bears.evaluation.evaluate import evaluate, gold_of, tie_range
from bears.evaluation.measure import parse_measure
from bears.files.intake.files import read_whole
from bears.files.intake.json_text import json_value
from bears.files.manifest import check
from bears.files.shown import complain, one_line
from bears.files.trec import read_table
from bears.layout import LEADERBOARD, RETRIEVAL
from bears.results.board import read_board
from bears.results.records import Records
from bears.results.revision import JUDGEMENTS, RUN, Revision, named, revisions
from bears.results.row import row_of
from bears.results.scored import score
from bears.results.system import System, frames_of
from bears.results.values import read_values

ANSWERS = ("pass_rate", "answer_f1", "exact_match")
GROUPS = ("retriever", "generator", "judge", "rewriter", "vector_store", "chunking", "overrides")
"""The words of params.yaml that tell systems of one benchmark apart."""


class BenchmarkRecords(TypedDict):
    """What is read of the block ``benchmark``."""

    name: str
    state: str
    queries: str
    corpus: str


class RetrievalMetrics(TypedDict):
    """What is read of metrics/retrieval.json; docs/pipeline.md has all of it."""

    benchmark: BenchmarkRecords
    tie_range: dict[str, dict[str, float]]


def system_of(word: str, records: Callable[[], Records]) -> System:
    """Return the system that a word names: a file, a revision, or a row of the leaderboard.

    Args:
        records: of the benchmark that a file of rankings is scored against.

    Raises:
        BearsError: nothing is called so, or it cannot be read.
    """
    if isfile(word):  # noqa: PTH113 - Path's own fails on what is too long for a name.
        path = Path(word)
        start = read_whole(path)[:4096].lstrip(b"\xef\xbb\xbf \r\n\t")
        if path.suffix.lower() == ".csv" and not start.startswith((b"{", b"[")):
            return system_in_csv(path)
        return system_ranking(path, records())
    revision = named(word)
    return system_at(revision) if revision else system_on_board(word)


def system_in_csv(path: Path) -> System:
    """Return the system of a CSV file of values by question. Raises FormatError."""
    check(path)
    values, kinds = read_values(path)
    for name in values:
        _check_range(values[name], path)
    return System(path.stem, "", values, kinds)


def _check_range(values: pd.Series, path: Path) -> None:
    """Raise FormatError if a value is outside the range of a measure that is known here."""
    name = str(values.name)
    try:
        best = 1.0 if name in ANSWERS else parse_measure(name.removeprefix("audited ")).metric.best
    except ConfigurationError:
        return
    outside = values[(values < -1e-9) | (values > best + 1e-9)]
    if len(outside):
        raise FormatError(
            f"{path}, {name}: {outside.iloc[0]:g} of question {outside.index[0]!r:.80} is not from "
            f"0 to {best:g}; divide percentages by 100, or rename the column if it is another "
            "measure"
        )


def system_ranking(path: Path, records: Records) -> System:
    """Return the system of a run or a submission, measured as the benchmark asks for.

    Raises:
        FormatError: the file is malformed.
        SubmissionRefused: it does not fit the benchmark.
    """
    names = list(dict.fromkeys(records.config["evaluate"]["measures"]))
    scored = score(path, records, names)
    evaluation, questions = scored.evaluation, records.questions
    ranked = scored.submission.form == "trec"
    if ranked:
        # Only the scores of a run show which of its documents are tied.
        gold = gold_of(questions)
        evaluation = evaluate(read_table(path, gold), gold, list(map(parse_measure, names)))
    return System(
        path.stem,
        one_line(scored.submission.system),
        *frames_of(evaluation, questions),
        records.state.told(),
        tie_range(evaluation),
        path if ranked else None,
        records.queries,
    )


def system_at(revision: Revision) -> System:
    """Return what the retriever, and the generator if there is one, of a revision scored.

    Raises:
        FormatError: it has no results, or they are not here any more.
    """
    where = f"{revision.name}: {RETRIEVAL}"
    text = revision.text(RETRIEVAL).encode()
    metrics = parse(RetrievalMetrics, json_value(text, where), where)
    selected, benchmark = revision.selection, metrics["benchmark"]
    # After another choice the results are still those of the last one.
    retriever = str(selected.get("retriever"))
    questions = revision.output(rf"data/[^/]+/runs/{re.escape(retriever)}\.questions\.csv")
    if questions is None:
        raise FormatError(
            f"{revision.name}: no results by question of {retriever}, which params.yaml chooses; "
            "run `dvc repro` there"
        )
    if benchmark["name"] != selected.get("benchmark"):
        raise FormatError(
            f"{revision.name}: {RETRIEVAL} is of {benchmark['name']}, params.yaml chooses "
            f"{selected.get('benchmark')}; run `dvc repro`"
        )
    called = f"{revision.name}: values by question"
    values, kinds = read_values(questions, called, unjudged=True)
    return System(
        revision.name,
        _words(selected, ("retriever", "generator")),
        _with_answers(revision, values),
        kinds,
        {**benchmark},
        metrics["tie_range"],
        revision.output(RUN),
        revision.within(r"data/[^/]+/translated", "queries.json"),
        revision,
    )


def _with_answers(revision: Revision, values: pd.DataFrame) -> pd.DataFrame:
    path = revision.output(JUDGEMENTS)
    # Without a generator there is the header alone.
    if path is None or len(read_whole(path).splitlines()) < 2:
        return values
    answers, _ = read_values(path, f"{revision.name}: answers by question", ANSWERS)
    return values.join(answers[[name for name in ANSWERS if name in answers]])


def _words(selected: Mapping[str, Any], groups: Collection[str]) -> str:
    """Return what params.yaml chooses in these groups."""
    found = [selected.get(group) for group in dict.fromkeys(groups)]
    return ", ".join(
        " ".join(map(str, each)) if isinstance(each, list) else str(each)
        for each in found
        if each not in (None, "", "none", [])
    )


def system_on_board(word: str) -> System:
    """Return what a row of the leaderboard is of, as far as its values by question are here.

    Raises:
        FormatError: no row or several are called so, or only the means are known.
    """
    rows = [row for row in read_board(LEADERBOARD) if word in (row.system, row.configuration)]
    rows = [row for row in rows if row.configuration]
    if not rows:
        raise FormatError(
            f"{word!r:.80}: no file, no revision, no experiment (dvc exp list) and no system of "
            "the leaderboard is called so"
        )
    if len({row.retrieval for row in rows}) > 1:
        told = ", ".join(f"{row.configuration} ({row.benchmark} {row.state})" for row in rows)
        raise FormatError(f"{word!r}: several rows of the leaderboard; name one of them: {told}")
    row = rows[0]
    if row.kept_values.is_file():
        records = {"name": row.benchmark, "state": row.state}
        return System(word, row.system, *read_values(row.kept_values), benchmark=records)
    for revision in revisions(all_commits=True):
        if (found := row_of(revision)) and found.retrieval[2:] == row.retrieval[2:]:
            return replace(system_at(revision), name=word, what=row.system)
    raise FormatError(
        f"{word!r}: the leaderboard knows the means of this {row.origin}, and no experiment here "
        "has its values by question. Give its file"
    )


def ran(all_commits: bool) -> list[list[System]]:
    """Return HEAD, its experiments and the workspace, as far as they have results, by benchmark.

    The same result found twice counts once. Systems are called by the words of params.yaml in
    which they differ; what has no results by question any more is reported on stderr.
    """
    found: dict[tuple[str, str], Revision] = {}
    for revision in revisions(all_commits):
        try:
            made = str(sorted(revision.outputs.items()))
            found.setdefault((repr(revision.config), made), revision)
        except FormatError:
            continue  # A commit from before there were results, or that failed.
    groups: dict[tuple[str, str], list[System]] = {}
    for revision in found.values():
        try:
            system = system_at(revision)
        except FormatError as error:
            complain(f"bears: passed over: {error}")
            continue
        state = system.benchmark
        groups.setdefault((str(state["name"]), str(state["state"])), []).append(system)
    return [_named(group) for _, group in sorted(groups.items())]


def _named(group: Sequence[System]) -> list[System]:
    """Return the systems, called by what was chosen where that differs from the others' choice."""
    selected = [system.revision.selection for system in group if system.revision]
    telling = [g for g in GROUPS if len({str(words.get(g)) for words in selected}) > 1]
    names = [_words(words, ("retriever", *telling)) for words in selected]
    return [
        replace(
            system,
            name=name if names.count(name) == 1 else f"{name} ({system.name})",
            what=system.name,
        )
        for name, system in zip(names, group, strict=True)
    ]
