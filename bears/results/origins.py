"""Reading what a system scored from wherever results come from."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from os.path import isfile
from pathlib import Path
from shlex import quote
from typing import Any, NotRequired

import pandas as pd
from typing_extensions import TypedDict

from bears.config.typed import parse
from bears.errors import FormatError
from bears.evaluation.answers.score import MEANS
from bears.evaluation.evaluate import own_measure, tie_range
from bears.evaluation.repeats import PLACES
from bears.evaluation.trace_measures import OF_TRACES
from bears.files.intake.files import json_value, read_whole
from bears.files.manifest import check
from bears.files.shown import complain
from bears.files.visible import one_line
from bears.layout import (
    EVERY,
    LEADERBOARD,
    RETRIEVAL,
    TRACED,
    VERIFICATION,
    BenchmarkFiles,
    pattern,
)
from bears.llm.models import Endpoint
from bears.results.board import read_board
from bears.results.costs import Costs, costs_of
from bears.results.records import Records
from bears.results.revision import (
    OF_SYSTEM,
    RUN,
    WORKSPACE,
    Revision,
    cached_runs,
    named,
    revisions,
)
from bears.results.row import decided, deciding, row_of
from bears.results.scored import score
from bears.results.system import Doubts, System, frames_of, system_of_traces
from bears.results.values import OF_ITEMS, PASSES, averaged, read_repeats, read_values
from bears.retrieval.cut import FILE as CUT
from bears.retrieval.cut import cuts_in

ANSWERS = "|".join([*MEANS, PASSES])
"""Matches the measures of answers."""
OF_ANSWERS = f"{ANSWERS}|{OF_ITEMS}|{OF_TRACES}"
"""Matches these, and the measures of graded items and of traces."""
HOW = {each.name for each in fields(Endpoint)} - {"model"}
"""Settings that change no reply, such as ``fill``."""
OF_RETRIEVAL = ("rewriter", "vector_store", "chunking", "overrides")
"""The keys of params.yaml that distinguish retrievers of one name."""


class BenchmarkRecords(TypedDict):
    """What is read of the block ``benchmark``."""

    name: str
    state: str
    queries: str
    corpus: str
    decisions: NotRequired[int]


class RunMetrics(TypedDict):
    """What is read of metrics/retrieval.json; docs/files.md describes the whole file."""

    benchmark: BenchmarkRecords
    tie_range: dict[str, dict[str, float]]
    ceiling: NotRequired[dict[str, float]]
    undefined: NotRequired[dict[str, int]]
    unmatched_passages: NotRequired[int]


def system_of(word: str, records: Callable[[], Records], benchmark: str) -> System:
    """Return the system that a word names.

    It names a file, a revision, a system as `ran` names it, or a row of the leaderboard.

    Args:
        records: return the benchmark that a file of rankings is scored against.
        benchmark: the one to prefer if the name is of systems on several; empty: the workspace's.

    Raises:
        BearsError: nothing has that name, or it cannot be read.
    """
    if isfile(word):  # noqa: PTH113 - Path's own raises for a word that is too long for a name.
        path = Path(word)
        if path.name.endswith(TRACED):
            return system_of_traces(path, records())
        start = read_whole(path)[:4096].lstrip(b"\xef\xbb\xbf \r\n\t")
        if path.suffix.lower() == ".csv" and not start.startswith((b"{", b"[")):
            return system_in_csv(path)
        return system_ranking(path, records())
    if revision := named(word):
        return system_at(revision)
    with suppress(FormatError):
        benchmark = benchmark or str(Revision(WORKSPACE).selection.get("benchmark", ""))
    return _listed(word, benchmark) or _of_board(word, benchmark)


def system_in_csv(path: Path) -> System:
    """Return the system of a CSV file of values by question. Raises FormatError."""
    check(path)
    rows, kinds = read_repeats(path)
    for name in rows:
        _check_range(rows[name].droplevel([*PLACES]), path)
    return System(path.stem, "", averaged(rows), kinds, repeated=rows)


def _check_range(values: pd.Series, path: Path) -> None:
    """Raise FormatError if a value is outside the range of one of our measures."""
    name = str(values.name)
    if re.fullmatch(ANSWERS, name):
        best = 1.0
    elif measure := own_measure(name.removeprefix("source ")):
        best = measure.metric.best
    else:
        return
    outside = values[(values < -1e-9) | (values > best + 1e-9)]
    if len(outside):
        raise FormatError(
            f"{path}, {name}: {outside.iloc[0]:g} of question {outside.index[0]!r:.80} is not from "
            f"0 to {best:g}; divide percentages by 100, or rename the column if it is another "
            "measure"
        )


def system_ranking(path: Path, records: Records) -> System:
    """Return the system of a run or a submission, with the benchmark's measures.

    Raises:
        FormatError: the file is malformed.
        SubmissionRefused: it does not fit the benchmark.
    """
    scored = score(path, records, records.evaluate.measures)
    is_run = scored.submission.form == "trec"
    return System(
        path.stem,
        one_line(scored.submission.system),
        *frames_of(scored.evaluation, records.source, records.lineage),
        records.state.as_dict(),
        tie_range(scored.evaluation),
        path if is_run else None,
        records.queries,
        decisions=records.decided.kept,
        # A run file may be too large to keep, and is read where its rankings are shown.
        ranked={} if is_run else scored.checked.run,
    )


def system_at(revision: Revision) -> System:
    """Return what the retriever, and the generator if there is one, of a revision scored.

    Raises:
        FormatError: it has no results, or they were deleted.
    """
    where = f"{revision.name}: {RETRIEVAL}"
    text = revision.text(RETRIEVAL).encode()
    metrics = parse(RunMetrics, json_value(text, where), where)
    selected, benchmark = revision.selection, metrics["benchmark"]
    # After another choice in params.yaml the results are still those of the previous one.
    retriever = str(selected.get("retriever"))
    questions = revision.output(pattern(EVERY.run(retriever).with_suffix(".questions.csv")))
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
    values, kinds = read_values(questions, f"{revision.name}: values by question", unjudged=True)
    run, chunks, written, answered = map(revision.output, OF_SYSTEM)
    # Without a generator there is only the header.
    if answered and len(read_whole(answered).splitlines()) < 2:
        answered = None
    repeated = pd.DataFrame()
    if answered:
        repeated, _ = read_repeats(answered, f"{revision.name}: answers by question", OF_ANSWERS)
        values = values.join(averaged(repeated))
    translated = BenchmarkFiles(benchmark["name"]).translated
    findings = revision.metrics(VERIFICATION).get("findings")
    return System(
        revision.name,
        " → ".join(filter(None, map(partial(_words, selected), ("retriever", "generator")))),
        values,
        kinds,
        {**benchmark},
        metrics["tie_range"],
        run,
        revision.within(pattern(EVERY.translated), "queries.json"),
        revision,
        decisions=revision.decisions if benchmark.get("decisions") else (),
        chunks=chunks,
        same_run=next(
            (md5 for name, md5 in revision.outputs.items() if re.fullmatch(RUN, name)), ""
        ),
        files=(written, answered) if written and answered else None,
        judge=_words(selected, "judge"),
        repeated=repeated,
        costing=partial(costs_of, revision, run, chunks, translated) if run else Costs,
        doubts=Doubts(
            undefined=metrics.get("undefined", {}),
            ceiling=metrics.get("ceiling", {}),
            unmatched=metrics.get("unmatched_passages", 0),
            unread=tuple(cuts_in(revision.parts(pattern(EVERY.index("*")), CUT))),
            lost=findings.get("lost_quotation", 0) if isinstance(findings, dict) else 0,
        ),
    )


def _words(selected: Mapping[str, Any], *groups: str) -> str:
    """Return the choices in these groups of params.yaml."""
    chosen = [selected.get(group) for group in groups]
    return " ".join(
        " ".join(map(str, words)) if isinstance(words, list) else str(words)
        for words in chosen
        if words not in (None, "", "none", [])
    )


def _of_board(word: str, benchmark: str) -> System:
    """Return the system of a row of the leaderboard, if its values by question are here.

    Raises:
        FormatError: no row or several have this name, or only the means are known.
    """
    board = [row for row in read_board(LEADERBOARD) if row.configuration]
    rows = [row for row in board if word in (row.system, row.configuration)]
    rows = [row for row in rows if row.benchmark == benchmark] or rows
    if not rows:
        raise FormatError(
            f"{word!r:.80}: no file, no revision, no experiment (dvc exp list), no system that "
            "`bears compare` lists and none of the leaderboard has this name"
        )
    if len({row.retrieval for row in rows}) > 1:
        names = ", ".join(f"{row.configuration} ({row.benchmark} {row.state})" for row in rows)
        raise FormatError(f"{word!r}: several rows of the leaderboard; name one of them: {names}")
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


def _listed(word: str, benchmark: str) -> System | None:
    """Return the system that `ran` gives this name, or None.

    Args:
        benchmark: the one to prefer if the name is of systems on several.

    Raises:
        FormatError: several systems have this name or begin with it.
    """
    for all_commits in (False, True):
        groups = ran(all_commits)
        listed = [each for group in groups for each in group]
        listed = [each for each in listed if each.benchmark["name"] == benchmark] or listed
        same = [each for each in listed if each.name == word]
        near = same or [each for each in listed if each.name.startswith(f"{word} ")]
        if len(near) == 1:
            return near[0]
        if near:
            names = ", ".join(f"{quote(each.name)} ({each.what})" for each in near)
            raise FormatError(f"{word!r}: several systems have this name; name one of {names}")
    return None


def ran_on(records: Records, all_commits: bool, older: bool = False) -> list[System]:
    """Return the systems of `ran` that have rankings of exactly these records.

    Args:
        older: also those that were measured with other decisions of people.
    """
    keys = ("queries", "corpus") if older else ("queries", "corpus", "state")
    state = {key: records.state.as_dict()[key] for key in keys}
    systems = (system for group in ran(all_commits, older) for system in group if system.run)
    return [system for system in systems if state.items() <= system.benchmark.items()]


def ran(all_commits: bool, older: bool = False) -> list[list[System]]:
    """Return HEAD, its experiments and the workspace, if they have results, by benchmark.

    The same result found twice counts once. Systems are named by the words of params.yaml in which
    they differ. A revision whose results by question were deleted is reported on stderr.

    Args:
        older: also what was measured with other decisions of people than the workspace.
    """
    unique: dict[str, Revision] = {}
    for revision in revisions(all_commits):
        try:
            unique.setdefault(_result_of(revision), revision)
        except FormatError:
            continue  # A commit from before there were results, or that failed.
    systems: list[System] = []
    for revision in [*unique.values(), *_cached([*unique.values()], all_commits)]:
        try:
            systems.append(system_at(revision))
        except FormatError as error:
            complain(f"bears: skipped: {error}")
    groups: dict[tuple[str, ...], list[System]] = {}
    keys = ("name", "queries", "corpus") if older else ("name", "state")
    for system in systems if older else _with_decisions(systems):
        groups.setdefault(tuple(str(system.benchmark[key]) for key in keys), []).append(system)
    return [_named(group) for _, group in sorted(groups.items())]


def _result_of(revision: Revision) -> str:
    """Return what makes a result: the settings that it depends on, and the values by question."""
    config = revision.config
    answers = (deciding(config.get(group)) for group in ("generator", "judge"))
    return repr((decided(config), *answers, _values(revision)))


def _values(revision: Revision) -> str:
    """Return what identifies the values by question."""
    values = [each for each in revision.outputs.items() if each[0].endswith(".questions.csv")]
    return repr(sorted(values))


def _with_decisions(systems: Sequence[System]) -> list[System]:
    """Return the revisions with the workspace's decisions, and report the others."""
    now = Revision(WORKSPACE).metrics(RETRIEVAL).get("benchmark", {})
    records = {key: now.get(key) for key in ("queries", "corpus")}
    kept = [
        system
        for system in systems
        if system.benchmark["state"] == now.get("state")
        or not records.items() <= system.benchmark.items()
    ]
    left = {system.retriever for system in systems} - {system.retriever for system in kept}
    if left:
        complain(
            f"bears: left out {', '.join(sorted(left))}, measured with other decisions of people "
            f"than the {now.get('decisions', 0)} in the gold now; to measure again: "
            f"dvc exp run -S retriever={min(left)}"
        )
    return kept


def _cached(known: Sequence[Revision], all_commits: bool) -> Iterator[Revision]:
    """Yield the runs in DVC's cache whose values no other revision has.

    Args:
        all_commits: also those from before HEAD was committed, and of other states of benchmarks
            than the workspace's.
    """
    workspace, seen = Revision(WORKSPACE), set(map(_values, known))
    try:
        state = None if all_commits else benchmark_of(workspace)
    except FormatError:
        return  # Nothing ran here.
    for run in cached_runs(workspace, all_commits):
        try:
            own, measured = _values(run), benchmark_of(run)
        except FormatError:
            continue  # Its files were deleted.
        if own not in seen and state in (None, measured):
            seen.add(own)
            yield run


def benchmark_of(revision: Revision) -> Any:
    """Return which state of which benchmark a revision measured."""
    return json_value(revision.text(RETRIEVAL).encode()).get("benchmark")


def _named(group: Sequence[System]) -> list[System]:
    """Return the systems, named by the choices in which they differ: ``bm25 → gpt-4.1-mini``."""
    selected = [_telling(system.revision.selection) for system in group if system.revision]
    differing = [g for g in OF_RETRIEVAL if len({str(words.get(g)) for words in selected}) > 1]
    retrievals = [_words(words, "retriever", *differing) for words in selected]
    answers = [_words(words, "generator") for words in selected]
    differ = len({*answers} - {""}) > 1 or len({*map(bool, answers)}) > 1
    names = [
        f"{retrieval} → {generator}" if differ and generator else retrieval
        for retrieval, generator in zip(retrievals, answers, strict=True)
    ]
    judges = [_words(words, "judge") for words in selected]
    names = _told_apart(_told_apart(names, judges), [system.name for system in group])
    return [
        replace(system, name=name, what=system.name, retrieval=retrieval)
        for name, retrieval, system in zip(names, retrievals, group, strict=True)
    ]


def _telling(selection: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a selection without the overrides that only say how a model is asked."""
    given = map(str, selection.get("overrides") or ())
    kept = [each for each in given if each.partition("=")[0].rpartition(".")[2] not in HOW]
    return {**selection, "overrides": kept}


def _told_apart(names: Sequence[str], by: Sequence[str]) -> list[str]:
    """Return the names; to one that occurs several times, add what makes it different."""
    return [
        f"{name} ({what})" if names.count(name) > 1 and what else name
        for name, what in zip(names, by, strict=True)
    ]
