"""``python -m bears submit``: other people's results, and files for other people's tasks."""

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bears.cli.compared_systems import kept_values
from bears.cli.scored_submission import ScoredSubmission, score
from bears.cli.selection import (
    add_benchmark_arguments,
    results_of,
    rewritten_file,
    state_of,
    unattested_part,
)
from bears.cli.standings import placed
from bears.config import Config
from bears.config import parse as parse_settings
from bears.errors import ConfigurationError, FormatError, SubmissionRefused
from bears.evaluation.measure import parse_measure
from bears.evaluation.results import write_values
from bears.files.digest import sha256_of
from bears.files.manifest import manifest_of, read_manifest
from bears.files.records import read_questions, stream_documents, to_json, write_text
from bears.files.rewritten import read_rewritten
from bears.files.trec import read_table
from bears.publishing.leaderboard import pandachat
from bears.publishing.leaderboard.board import BOARD
from bears.publishing.leaderboard.publish import publish
from bears.results.check import check
from bears.results.read import read_submission
from bears.results.science_ko import TOP, submission_row
from bears.retrieval.retrieve_settings import RetrieveSettings
from bears.types import Finding

SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The subcommands of ``submit``."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    scoring = commands.add_parser(
        "score",
        help="score files of results against our gold",
        description="Read PandaChat JSON, a TREC run, the Korean task's JSON Lines or a BEARS "
        'list ({"system": …, "results": [{"question_id": …, "doc_ids": […]}]}), hold it against '
        "the benchmark, and put its score on the leaderboard. Errors refuse it; warnings stand "
        "beside the score. Of a folder every file is scored; one that is refused stops no other.",
    )
    scoring.add_argument("files", metavar="FILE", type=Path, nargs="+", help="or a folder")
    add_benchmark_arguments(scoring)
    scoring.add_argument("--system", default="", help="default: what the file says")
    top = pandachat.TOP
    scoring.add_argument(
        "--top", type=_depth, default=top, help=f"k of PandaChat's table (default {top})"
    )
    scoring.add_argument(
        "--measures",
        type=_measures,
        metavar="NAME,NAME",
        help="for example recall@20,mrr; default: those of the benchmark",
    )
    scoring.add_argument(
        "--ignore-unknown",
        action="store_true",
        help="leave out questions that the benchmark lacks, and say how many they are",
    )
    scoring.add_argument("--json", action="store_true", help="print the report as JSON")
    scoring.add_argument("--no-board", action="store_true", help="leave the leaderboard alone")
    scoring.set_defaults(run=_score)
    writing = commands.add_parser(
        "write",
        help="write the Korean task's submission file from a run",
        description="Write one line a question: eval_id, standalone_query, topk, answer, "
        "references. The query is what `rewrite` made of the conversation; where nothing is "
        "searched it and topk are empty. Answers are empty.",
    )
    writing.add_argument("run_file", metavar="RUN", type=Path, help="a TREC run")
    writing.add_argument("out", metavar="OUT", type=Path)
    writing.add_argument(
        "--rewritten",
        metavar="FILE",
        type=Path,
        help="what was searched; default: the pipeline's file of the selected rewriter",
    )
    add_benchmark_arguments(writing)
    writing.set_defaults(run=_write)


def _measures(words: str) -> list[str]:
    try:
        return [parse_measure(word.strip()).name for word in words.split(",")]
    except ConfigurationError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _depth(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is not a whole number from 1")
    return int(word)


def _score(arguments: argparse.Namespace) -> None:
    folder, config = results_of(arguments.benchmark, arguments.folder, arguments.unattested)
    benchmark = _Benchmark(folder, config, arguments)
    scored, refused = [], []
    for file in _files(arguments.files):
        try:
            scored.append(benchmark.score(file))
        except (FormatError, SubmissionRefused) as error:
            refused.append(f"{file}: {error}" if str(file) not in str(error) else str(error))
    if scored and not arguments.no_board:
        _publish(scored, arguments.top)
    if arguments.json:
        reports = [each.report() for _, each in scored]
        several = len(scored) + len(refused) > 1
        print(to_json(reports if several or not reports else reports[0]))
    elif scored:
        print("\n\n".join(str(each) for _, each in scored))
    if refused:
        raise SubmissionRefused("\n".join(refused))


def _files(paths: Sequence[Path]) -> list[Path]:
    """The files that are named, and for a folder all that lie in it, by name."""
    files: list[Path] = []
    for path in paths:
        inside = sorted(f for f in path.iterdir() if f.is_file()) if path.is_dir() else [path]
        files += [file for file in inside if not file.name.startswith(".") or file == path]
        if not inside:
            raise FormatError(f"{path}: no file in this folder")
    return files


class _Benchmark:
    """What submissions are held against."""

    def __init__(self, folder: Path, config: Config, arguments: argparse.Namespace) -> None:
        queries, corpus = folder / "queries.json", folder / "corpus.json"
        self._questions = read_questions(queries)
        self._documents = {document.doc_id for document in stream_documents(corpus)}
        self._state = state_of(folder, config, len(self._questions))
        self._retrieval = parse_settings(RetrieveSettings, config["retrieve"], "retrieve")
        self._retrieval.check(self._questions)
        self._measures = arguments.measures or config["evaluate"]["measures"]
        self._arguments = arguments
        changed = unattested_part(folder) if arguments.folder else ""
        self._findings = [Finding("unattested", "warning", "benchmark", changed)] if changed else []

    def score(self, file: Path) -> tuple[Path, ScoredSubmission]:
        """Raises FormatError or SubmissionRefused if the file is malformed or does not fit."""
        arguments = self._arguments
        submission = read_submission(file)
        checked = check(
            submission,
            self._questions,
            self._documents,
            arguments.top,
            self._retrieval.ignore_identical_ids,
            arguments.ignore_unknown,
        )
        _refuse(checked.findings)
        checked = replace(checked, findings=(*self._findings, *checked.findings))
        system = arguments.system or submission.system or file.stem
        return file, score(
            submission,
            checked,
            self._questions,
            self._state,
            system,
            self._measures,
            arguments.top,
        )


def _refuse(findings: Sequence[Finding]) -> None:
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        lines = [f"  {f.check}: {f.record_id}: {f.message}" for f in errors[:SHOWN]]
        if len(errors) > SHOWN:
            lines.append(f"  … and {len(errors) - SHOWN} more")
        raise SubmissionRefused("the submission is refused:\n" + "\n".join(lines))


def _publish(scored: Sequence[tuple[Path, ScoredSubmission]], k: int) -> None:
    entries, tables = [], defaultdict(list)
    for file, each in scored:
        entry = each.leaderboard_row(sha256_of(file))
        entries.append(entry)
        write_values(kept_values(entry), {"": each.evaluation}, each.questions)
        if each.pandachat:
            tables[entry.benchmark].append(each.pandachat_row(entry, k))
    publish(BOARD, entries, tables, placed)


def _write(arguments: argparse.Namespace) -> None:
    folder, config = results_of(arguments.benchmark, arguments.folder, arguments.unattested)
    questions = read_questions(folder / "queries.json")
    run = read_table(arguments.run_file, {q.question_id for q in questions}).rankings()
    asked = read_rewritten(_rewritten(arguments, config), questions)
    for each in run.keys() & {key for key, one in asked.items() if not one.search}:
        raise SubmissionRefused(
            f"{arguments.run_file} has documents for the question {each!r}, for which nothing is "
            "searched; it is a run of another rewriter"
        )
    wanted = {hit.doc_id for ranking in run.values() for hit in ranking[:TOP]}
    texts = {
        document.doc_id: document.content
        for document in stream_documents(folder / "corpus.json")
        if document.doc_id in wanted
    }
    rows = [
        submission_row(q, asked[q.question_id].standalone_query, run.get(q.question_id, ()), texts)
        for q in questions
    ]
    # The task's own order of fields, which sorted keys would lose.
    lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows]
    write_text(arguments.out, "".join(f"{line}\n" for line in lines))
    print(f"{arguments.out}: {len(rows)} questions")


def _rewritten(arguments: argparse.Namespace, config: Config) -> Path:
    """The file of what was searched; of our own run it must be the one that the run was made of."""
    if arguments.folder and not arguments.rewritten:
        raise ConfigurationError("--folder needs --rewritten FILE, which says what was searched")
    path: Path = arguments.rewritten or rewritten_file(config)
    manifest = manifest_of(arguments.run_file)
    made_from = read_manifest(manifest).made_from if manifest else {}
    if made_from.get("rewritten", digest := sha256_of(path)) != digest:
        raise SubmissionRefused(
            f"{arguments.run_file} was not made of {path}; name the file of its rewriter: "
            "--rewritten FILE"
        )
    return path
