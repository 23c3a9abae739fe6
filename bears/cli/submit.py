"""``bears submit``: other people's results, and files for other people's tasks."""

from collections.abc import Sequence
from json import dumps
from pathlib import Path

from bears.config import Config
from bears.config.shape import WrittenIn
from bears.config.typed import parse
from bears.errors import ConfigurationError, FormatError, SubmissionRefused
from bears.evaluation.clusters import clusters_of
from bears.evaluation.evaluate import listed_names
from bears.evaluation.results import write_values
from bears.evaluation.timing import timing_of
from bears.files.chunk_run import read_chunk_run
from bears.files.manifest import inputs_of
from bears.files.records import sha256_of, stream_documents, to_json, write_text
from bears.files.rewritten import read_rewritten
from bears.files.traces import read_traces
from bears.files.trec import read_table
from bears.language.yes_no import LITERAL
from bears.layout import LEADERBOARD, chunks_beside
from bears.publishing.leaderboard.tables import publish
from bears.results.records import Records
from bears.results.scored import ScoredSubmission, score
from bears.results.submission import SCENARIO, SOURCES, TOP, pandachat_row, science_ko_row
from bears.selection import configuration
from bears.types import Finding, Run


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
    answers: Path | None = None,
    benchmark: str = "",
    folder: Path | None = None,
    unattested: bool = False,
) -> None:
    """Write a run in the form in which the benchmark's task takes results, see `benchmark.form`.

    The Korean task has a line for each question: eval_id, standalone_query, topk, answer,
    references. The query is what `rewrite` made of the conversation; it and topk are empty if
    nothing is searched. Answers are empty without a generator. PandaChat has one JSON object with
    the first five sources of each question: the documents of the chunks beside the run.

    Args:
        run: a TREC run
        benchmark: its records must be in data/
        out: the file to write
        rewritten: the Korean task: the file with the search texts; default: the one of the selected
            rewriter
        answers: the Korean task: a file of traces; default: the one of the selected generator
    """
    records = configuration.records_of(benchmark, folder, unattested)
    name, form = records.benchmark.name, records.benchmark.form
    if not form:
        raise ConfigurationError(
            f"benchmark {name!r} has no form of its own for results; if it is PandaChat's or the "
            "Korean task's, set benchmark.form in conf/ to pandachat or science-ko, else hand in "
            "the run itself, which `bears submit score` reads"
        )
    if form == "pandachat" and (rewritten or answers):
        raise ConfigurationError(
            "PandaChat's form has no search texts and no answers; leave out --rewritten and "
            "--answers"
        )
    rankings = read_table(run, {q.question_id for q in records.questions}).rankings()
    if form == "pandachat":
        text = _pandachat(run, records, rankings)
    else:
        if folder and not rewritten:
            raise ConfigurationError(
                "--folder needs --rewritten FILE, the file with the search texts"
            )
        config = None if folder else configuration.composed(benchmark)
        text = _science_ko(run, records, rankings, rewritten, answers, config)
    write_text(out, text)
    print(f"{out}: {len(records.questions)} questions, in the form {form}")


def _pandachat(run: Path, records: Records, rankings: Run) -> str:
    chunks, ids = chunks_beside(run), {each.question_id for each in records.questions}
    of_chunks = read_chunk_run(chunks, ids, SOURCES) if chunks.is_file() else rankings
    texts = {each.doc_id: each.content for each in stream_documents(records.corpus)}
    rows = [
        pandachat_row(each, [hit.doc_id for hit in of_chunks.get(each.question_id, ())], texts)
        for each in records.questions
    ]
    timing = timing_of(sha256_of(run))
    seconds = timing["seconds_per_question"] if timing else None
    about = {"eval_scenario": SCENARIO, "system": run.stem, "time_per_question": seconds}
    return dumps({**about, "df": rows}, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _science_ko(
    run: Path,
    records: Records,
    rankings: Run,
    rewritten: Path | None,
    answers: Path | None,
    config: Config | None,
) -> str:
    questions, phrases = records.questions, dict[str, str]()
    if config:
        # The file of answers has one word for "the documents do not answer this".
        phrases[LITERAL] = parse(WrittenIn, config["written_in"], "written_in").unanswerable
        chosen, files = configuration.selected(config), configuration.files_of(config)
        if not rewritten:
            path = files.rewritten(chosen.rewriter.name)
            (rewritten,) = configuration.made(config, "rewrite", path)
        if not answers and (generator := chosen.generator.name) != "none":
            path = files.answers(f"{run.stem}.{generator}")
            (answers,) = configuration.made(config, "generate", path)
    assert rewritten
    if not _made_of(run, "rewritten", rewritten):
        raise SubmissionRefused(
            f"{run} was not made from {rewritten}; name the file of its rewriter: --rewritten FILE"
        )
    if answers and not _made_of(answers, "chunks", chunks_beside(run)):
        raise SubmissionRefused(
            f"{answers} was not made from {run}; name the answers to that run: --answers FILE"
        )
    asked = read_rewritten(rewritten, questions)
    for question_id in rankings:
        if not asked[question_id].search:
            raise SubmissionRefused(
                f"{run} has documents for the question {question_id!r}, for which nothing is "
                "searched; it is a run of another rewriter"
            )
    told: dict[str, str] = {}
    # Of repeats the first stays.
    for trace in read_traces(answers) if answers else ():
        answer = trace.answer or ""
        told.setdefault(trace.question_id, phrases.get(answer, answer))
    wanted = {hit.doc_id for ranking in rankings.values() for hit in ranking[:TOP]}
    documents = stream_documents(records.corpus)
    texts = {each.doc_id: each.content for each in documents if each.doc_id in wanted}
    lines = []
    for question in questions:
        key = question.question_id
        ranking, query = rankings.get(key, ()), asked[key].standalone_query
        row = science_ko_row(question, query, ranking, texts, told.get(key, ""))
        # Sorted keys would lose the task's own order of fields.
        lines.append(dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
    return "".join(lines)


def _made_of(output: Path, part: str, file: Path) -> bool:
    """Return whether an output may be made of a file; outputs of ours name their inputs."""
    digest = inputs_of(output).get(part)
    return digest is None or (file.is_file() and digest == sha256_of(file))


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
