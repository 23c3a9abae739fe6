"""``python -m bears submit``: other people's results, and files for other people's tasks."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from bears.cli.selection import (
    add_benchmark_arguments,
    records_of,
    rewritten_file,
    unattested_part,
)
from bears.config import Config
from bears.errors import ConfigurationError, FormatError, SubmissionRefused
from bears.evaluation.measure import parse_measure
from bears.evaluation.results import write_values
from bears.files.digest import sha256_of
from bears.files.manifest import manifest_of, read_manifest
from bears.files.records import stream_documents, to_json, write_text
from bears.files.rewritten import read_rewritten
from bears.files.trec import read_table
from bears.layout import LEADERBOARD
from bears.publishing.leaderboard.tables import publish
from bears.results.science_ko import TOP, submission_row
from bears.results.scored import ScoredSubmission, score
from bears.types import Finding


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


def _score(arguments: argparse.Namespace) -> None:
    records = records_of(arguments.benchmark, arguments.folder, arguments.unattested)
    records.retrieve.check(records.questions)
    measures = arguments.measures or records.config["evaluate"]["measures"]
    changed = unattested_part(records.folder) if arguments.folder else ""
    doubts = [Finding("unattested", "warning", "benchmark", changed)] if changed else []
    scored, refused = [], []
    for file in _files(arguments.files):
        try:
            system, unknown = arguments.system, arguments.ignore_unknown
            scored.append(score(file, records, measures, system, unknown, doubts))
        except (FormatError, SubmissionRefused) as error:
            refused.append(f"{file}: {error}" if str(file) not in str(error) else str(error))
    if scored and not arguments.no_board:
        _publish(scored)
    if arguments.json:
        reports = [each.report() for each in scored]
        several = len(scored) + len(refused) > 1
        print(to_json(reports if several or not reports else reports[0]))
    elif scored:
        print("\n\n".join(map(str, scored)))
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


def _publish(scored: Sequence[ScoredSubmission]) -> None:
    rows = [each.row() for each in scored]
    for row, each in zip(rows, scored, strict=True):
        write_values(row.kept_values, {"": each.evaluation}, each.records.questions)
    publish(LEADERBOARD, rows)


def _write(arguments: argparse.Namespace) -> None:
    records = records_of(arguments.benchmark, arguments.folder, arguments.unattested)
    questions = records.questions
    run = read_table(arguments.run_file, {q.question_id for q in questions}).rankings()
    asked = read_rewritten(_rewritten(arguments, records.config), questions)
    for each in run.keys() & {key for key, one in asked.items() if not one.search}:
        raise SubmissionRefused(
            f"{arguments.run_file} has documents for the question {each!r}, for which nothing is "
            "searched; it is a run of another rewriter"
        )
    wanted = {hit.doc_id for ranking in run.values() for hit in ranking[:TOP]}
    texts = {
        document.doc_id: document.content
        for document in stream_documents(records.corpus)
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
