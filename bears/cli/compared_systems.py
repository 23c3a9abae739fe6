"""What a word of ``python -m bears compare`` names: revisions, files, rows of the leaderboard."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from os.path import isfile
from pathlib import Path
from typing import Any

import pandas as pd

from bears.cli.doctor.objects import cache_folder
from bears.cli.scored_submission import evaluation_of
from bears.cli.selection import composed, results_of, state_of
from bears.config import checkout
from bears.config import parse as parse_settings
from bears.errors import ConfigurationError, FormatError, SubmissionRefused
from bears.evaluation.comparison.revision import (
    ANSWERS,
    GROUPS,
    WORKSPACE,
    Revision,
    chosen,
    commit_of,
    configuration_at,
    experiments,
    selection_at,
    system_at,
)
from bears.evaluation.comparison.values import System, read_values
from bears.evaluation.evaluate import evaluate, gold_of, tie_range
from bears.evaluation.measure import parse_measure
from bears.files.intake.files import read_whole
from bears.files.manifest import check as check_manifest
from bears.files.records import read_questions, stream_documents
from bears.files.shown import complain, one_line
from bears.files.trec import read_table
from bears.library.scores import frames_of
from bears.publishing.leaderboard.board import BOARD, read_board
from bears.publishing.leaderboard.experiments import configuration_digest
from bears.publishing.leaderboard.row import LeaderboardRow
from bears.results.check import EMPTY, check
from bears.results.read import read_submission
from bears.retrieval.retrieve_settings import RetrieveSettings


def system_of(word: str, benchmark: str) -> System:
    """The system that a word names.

    Args:
        benchmark: of a file of rankings; empty: the one that params.yaml chooses.

    Raises:
        BearsError: nothing is called so, or it cannot be read.
    """
    if isfile(word):  # noqa: PTH113 - Path's own fails on what is too long for a name.
        return _of_file(Path(word), benchmark)
    if word == WORKSPACE:
        return system_at(Revision(word, "", Path()))
    if commit := commit_of(word):
        return system_at(Revision(word, commit, cache_folder(Path())))
    return _of_row(word)


def _of_file(path: Path, benchmark: str) -> System:
    start = read_whole(path)[:4096].lstrip(b"\xef\xbb\xbf \r\n\t")
    if path.suffix.lower() == ".csv" and not start.startswith((b"{", b"[")):
        check_manifest(path)
        values, kinds = read_values(path)
        for name in values:
            _check_range(values[name], path)
        return System(path.stem, "", values, kinds)
    return _ranked(path, benchmark or str(composed("", [])["benchmark"]["name"]))


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


def _ranked(path: Path, benchmark: str) -> System:
    """A run or a submission, measured as the benchmark asks for."""
    folder, config = results_of(benchmark, None)
    queries, corpus = folder / "queries.json", folder / "corpus.json"
    questions = read_questions(queries)
    submission, names = read_submission(path), config["evaluate"]["measures"]
    if submission.form == "trec":
        run = read_table(path, {q.question_id for q in questions})
        if not run.question_ids:
            raise SubmissionRefused(f"{path} {EMPTY}")
        measures = [parse_measure(name) for name in dict.fromkeys(names)]
        evaluation = evaluate(run, gold_of(questions), measures)
    else:
        documents = {document.doc_id for document in stream_documents(corpus)}
        asked = parse_settings(RetrieveSettings, config["retrieve"], "retrieve")
        checked = check(submission, questions, documents, 1, asked.ignore_identical_ids)
        if errors := [f for f in checked.findings if f.severity == "error"]:
            told = f"{errors[0].check}: {errors[0].record_id}: {errors[0].message}"
            raise SubmissionRefused(f"{path}: {len(errors)} errors, such as {told}")
        evaluation = evaluation_of(checked, questions, names)
    state = state_of(folder, config, len(questions))
    return System(
        path.stem,
        one_line(submission.system),
        *frames_of(evaluation, questions),
        state.told(),
        tie_range(evaluation),
        path if submission.form == "trec" else None,
        queries,
    )


def _of_row(word: str) -> System:
    """What a row of the leaderboard is of, an experiment or a submission that was scored here."""
    rows = [row for row in read_board(BOARD) if word in (row.system, row.configuration)]
    if not rows:
        raise FormatError(
            f"{word!r:.80}: no file, no revision, no experiment (dvc exp list) and no system of "
            "the leaderboard is called so"
        )
    if len({row.key for row in rows}) > 1:
        told = ", ".join(f"{row.configuration} ({row.benchmark} {row.state})" for row in rows)
        raise FormatError(f"{word!r}: several rows of the leaderboard; name one of them: {told}")
    row = rows[0]
    if (kept := kept_values(row)).is_file():
        records = {"name": row.benchmark, "state": row.state}
        return System(word, row.system, *read_values(kept), benchmark=records)
    for revision in revisions(all_commits=True):
        if _is_of(revision, row):
            return replace(system_at(revision), name=word, what=row.system)
    raise FormatError(
        f"{word!r}: the leaderboard knows the means of this {row.origin}, and no experiment here "
        "has its values by question. Give its file"
    )


def kept_values(row: LeaderboardRow) -> Path:
    """Where the values by question of a scored submission are kept, in this checkout alone."""
    return checkout() / ".bears" / "values" / f"{row.state}.{row.configuration}.csv"


def _is_of(revision: Revision, row: LeaderboardRow) -> bool:
    try:
        config = configuration_at(revision)
    except FormatError:
        return False
    retriever = config.get("retriever")
    name = retriever.get("name") if isinstance(retriever, dict) else ""
    return name == row.system and configuration_digest(config) == row.configuration


def ran(all_commits: bool) -> list[list[System]]:
    """HEAD, its experiments and the workspace, as far as they have results, by benchmark.

    The same result found twice counts once. Systems are called by the words of params.yaml in
    which they differ; what has no results by question any more is told on stderr.
    """
    found: dict[tuple[str, str], Revision] = {}
    for revision in revisions(all_commits):
        try:
            made = str(sorted(revision.outputs.items()))
            found.setdefault((repr(configuration_at(revision)), made), revision)
        except FormatError:
            continue  # A commit from before there were results, or that failed.
    groups: dict[tuple[str, str], list[tuple[Revision, System]]] = {}
    for revision in found.values():
        try:
            system = system_at(revision)
        except FormatError as error:
            complain(f"bears: passed over: {error}")
            continue
        state = system.benchmark
        groups.setdefault((str(state["name"]), str(state["state"])), []).append((revision, system))
    return [_named(group) for _, group in sorted(groups.items())]


def revisions(all_commits: bool) -> Iterator[Revision]:
    """HEAD, the experiments and the workspace, whether or not they have results."""
    cache = cache_folder(Path())
    if head := commit_of("HEAD"):
        yield Revision("HEAD", head, cache)
    found = list(experiments(all_commits))
    names = [name for name, _ in found]
    for name, commit in found:
        # Experiments of different commits may have one name.
        yield Revision(name if names.count(name) == 1 else commit[:12], commit, cache)
    yield Revision(WORKSPACE, "", cache)


def _named(group: Sequence[tuple[Revision, System]]) -> list[System]:
    """The systems, called by what was chosen where that is another choice than the others'."""
    selected = [selection_at(revision) for revision, _ in group]
    telling = [g for g in GROUPS if len({str(words.get(g)) for words in selected}) > 1]
    names = [
        ", ".join(
            _word(words[g]) for g in dict.fromkeys(("retriever", *telling)) if chosen(words, g)
        )
        for words in selected
    ]
    return [
        replace(
            system,
            name=name if names.count(name) == 1 else f"{name} ({revision.name})",
            what=revision.name,
        )
        for name, (revision, system) in zip(names, group, strict=True)
    ]


def _word(choice: Any) -> str:
    return " ".join(map(str, choice)) if isinstance(choice, list) else str(choice)
