"""``bears submit``: other people's results, and files for other people's tasks."""

from collections.abc import Sequence
from json import dumps
from pathlib import Path

from bears.errors import ConfigurationError, FormatError, SubmissionRefused
from bears.evaluation.clusters import clusters_of
from bears.evaluation.evaluate import listed_names
from bears.evaluation.results import write_values
from bears.files.manifest import inputs_of
from bears.files.records import sha256_of, stream_documents, to_json, write_text
from bears.files.rewritten import read_rewritten
from bears.files.trec import read_table
from bears.layout import LEADERBOARD
from bears.publishing.leaderboard.tables import publish
from bears.results.scored import ScoredSubmission, score
from bears.results.submission import TOP, submission_row
from bears.selection import configuration
from bears.types import Finding


def score_files(
    files: Sequence[Path],
    *,
    benchmark: str = "",
    folder: Path | None = None,
    unattested: bool = False,
    system: str = "",
    measures: str = "",
    ignore_unknown: bool = False,
    json: bool = False,
    no_board: bool = False,
) -> None:
    """Score files of results against our gold.

    Reads PandaChat JSON, a TREC run, the Korean task's JSON Lines or a BEARS list ({"system": …,
    "results": [{"question_id": …, "doc_ids": […]}]}), checks it against the benchmark, and adds its
    score to the leaderboard. Errors refuse a file; warnings are shown beside the score. Every file
    of a folder is scored, even if another one is refused.

    Args:
        files: files of results, or folders of them
        benchmark: its records must be in data/
        system: default: the name in the file
        measures: for example recall@20,mrr; default: those of the benchmark
        json: print the report as JSON
        no_board: leave the leaderboard alone
    """
    records = configuration.records_of(benchmark, folder, unattested)
    records.retrieve.check(records.questions)
    own = records.evaluate.measures
    names = listed_names(measures) if measures else own
    changed = configuration.unattested_part(records.folder) if folder else ""
    doubts = [Finding("unattested", "warning", "benchmark", changed)] if changed else []
    scored: list[ScoredSubmission] = []
    refused = []
    for file in _listed(files):
        try:
            scored.append(score(file, records, names, system, ignore_unknown, doubts))
        except (FormatError, SubmissionRefused) as error:
            refused.append(f"{file}: {error}" if str(file) not in str(error) else str(error))
    if scored and not no_board:
        rows = [each.row() for each in scored]
        clusters = clusters_of(records.source, records.lineage)
        for row, each in zip(rows, scored, strict=True):
            write_values(row.kept_values, {"": each.evaluation}, records.questions, clusters)
        publish(LEADERBOARD, rows)
    if json:
        reports = [each.report() for each in scored]
        several = len(scored) + len(refused) > 1
        print(to_json(reports if several or not reports else reports[0]))
    elif scored:
        print("\n\n".join(map(str, scored)))
    if refused:
        raise SubmissionRefused("\n".join(refused))


def write(
    run: Path,
    out: Path,
    *,
    rewritten: Path | None = None,
    benchmark: str = "",
    folder: Path | None = None,
    unattested: bool = False,
) -> None:
    """Write the Korean task's submission file from a run.

    Each question has one line: eval_id, standalone_query, topk, answer, references. The query is
    what `rewrite` made of the conversation; it and topk are empty if nothing is searched. Answers
    are empty.

    Args:
        run: a TREC run
        benchmark: its records must be in data/
        out: the file to write
        rewritten: the file with the search texts; default: the one of the selected rewriter
    """
    if folder and not rewritten:
        raise ConfigurationError("--folder needs --rewritten FILE, the file with the search texts")
    records = configuration.records_of(benchmark, folder, unattested)
    questions = records.questions
    rankings = read_table(run, {q.question_id for q in questions}).rankings()
    if not rewritten:
        config = configuration.composed(benchmark)
        rewriter = configuration.selected(config).rewriter.name
        path = configuration.files_of(config).rewritten(rewriter)
        (rewritten,) = configuration.made(config, "rewrite", path)
    # One of our runs names in its manifest the file that it was made from.
    digest = sha256_of(rewritten)
    if inputs_of(run).get("rewritten", digest) != digest:
        raise SubmissionRefused(
            f"{run} was not made from {rewritten}; name the file of its rewriter: --rewritten FILE"
        )
    asked = read_rewritten(rewritten, questions)
    for question_id in rankings:
        if not asked[question_id].search:
            raise SubmissionRefused(
                f"{run} has documents for the question {question_id!r}, for which nothing is "
                "searched; it is a run of another rewriter"
            )
    wanted = {hit.doc_id for ranking in rankings.values() for hit in ranking[:TOP]}
    documents = stream_documents(records.corpus)
    texts = {each.doc_id: each.content for each in documents if each.doc_id in wanted}
    lines = []
    for question in questions:
        key = question.question_id
        ranking = rankings.get(key, ())
        row = submission_row(question, asked[key].standalone_query, ranking, texts)
        # Sorted keys would lose the task's own order of fields.
        lines.append(dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
    write_text(out, "".join(lines))
    print(f"{out}: {len(lines)} questions")


COMMAND = {"score": score_files, "write": write}


def _listed(paths: Sequence[Path]) -> list[Path]:
    """Return the named files and all files of the named folders, by name."""
    files: list[Path] = []
    for path in paths:
        inside = sorted(f for f in path.iterdir() if f.is_file()) if path.is_dir() else [path]
        files += [file for file in inside if not file.name.startswith(".") or file == path]
        if not inside:
            raise FormatError(f"{path}: no file in this folder")
    return files
