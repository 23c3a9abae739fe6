"""What models are asked for, and where the replies are kept: one table for ``memory``."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bears.answers.answered import answered
from bears.answers.judging.bench import judges_of, tasks_of
from bears.answers.judging.files import read_hearing, records_in
from bears.answers.judging.model import VerdictTask
from bears.answers.task import AnswerTask, read_task
from bears.config import Config, checkout, parse
from bears.config.ledger.entries import WholeLedger
from bears.errors import ConfigurationError, MemoryMiss
from bears.files.manifest import check
from bears.files.records import (
    read_documents,
    read_json,
    read_lines,
    read_questions,
    to_line,
)
from bears.files.shown import complain
from bears.layout import BenchmarkFiles
from bears.llm.kept import PublishedMemory
from bears.llm.use import Use
from bears.llm.workflow import U, Workflow
from bears.questions.bench import Bench, read_bench
from bears.questions.made import sifted_of
from bears.questions.readings import CheckTask
from bears.questions.sift import Sifted
from bears.questions.task import QuestionTask
from bears.retrieval.rewriting.model import RewriteTask
from bears.retrieval.rewriting.model import read_task as read_rewriting
from bears.translation.reading import ReadingTask
from bears.translation.reading import read_task as read_readings
from bears.translation.task import TranslationTask
from bears.translation.task import read_task as read_translation


def _files(config: Config) -> BenchmarkFiles:
    return BenchmarkFiles(config["benchmark"]["name"])


def _made(config: Config, stage: str, *files: Path) -> Sequence[Path]:
    """Return the files, which a stage made and nobody changed since.

    Raises:
        ConfigurationError: it has not run yet.
        FormatError: one is not what its manifest says.
    """
    for file in files:
        if not file.exists():
            raise ConfigurationError(
                f"{file} does not exist; run `dvc repro {stage}` with benchmark: "
                f"{config['benchmark']['name']} and retriever: {config['retriever']['name']} first"
            )
        check(file)
    return files


def _translation(config: Config) -> TranslationTask:
    sampled = _files(config).sampled
    _made(config, "sample", sampled / "queries_raw.json")
    _check_sampled(sampled, config)
    return read_translation(config, sampled, checkout())


def _check_sampled(sampled: Path, config: Config) -> None:
    """Refuse a sample that follows another ledger than there is now."""
    check(sampled / "notes.json")
    followed = read_json(sampled / "notes.json").get("ledger", [])
    now = parse(WholeLedger, config["ledger"], "ledger").changes()
    for entry in [*followed, *now]:
        if (entry in followed) != (entry in now):
            field = entry[1] if len(entry) > 1 else "question"
            raise ConfigurationError(
                f"{sampled} was made before the ledger was changed ({field} {entry[0]}); run "
                f"`dvc repro sample` with benchmark: {config['benchmark']['name']} first"
            )


TRANSLATION = (_translation, "")


def _readings(config: Config) -> ReadingTask:
    files = _files(config)
    _made(config, "translate", files.queries, files.corpus)
    raw, translated = (
        (read_questions(folder / f"queries{ending}"), read_documents(folder / f"corpus{ending}"))
        for folder, ending in ((files.sampled, "_raw.json"), (files.translated, ".json"))
    )
    return read_readings(config, raw, translated)


def _rewrites(config: Config) -> RewriteTask:
    (queries,) = _made(config, "translate", _files(config).queries)
    return read_rewriting(config, queries)


def _answers(config: Config) -> AnswerTask:
    files, retriever = _files(config), config["retriever"]["name"]
    runs = files.run(retriever), files.within(retriever)
    return read_task(config, *_made(config, "retrieve", files.queries, files.corpus, *runs))


ANSWERS = (_answers, "answers")


def _verdicts(config: Config) -> list[VerdictTask]:
    """Return what the models among the judges are asked of the selected generator's answers."""
    judges = {} if config["generator"]["name"] == "none" else judges_of(config["judge"])
    if not tasks_of(judges, [], ""):
        return []
    try:
        answers, _ = generated_answers(config)
    except ConfigurationError as error:
        if not config["generator"].get("model"):
            raise
        # Its answers have to be had first, by the same command.
        complain(str(error))
        return []
    records = records_in(_files(config).translated, answers)
    hearing = read_hearing(records, config["benchmark"]["language"])
    return tasks_of(judges, hearing.cases, hearing.language)


def generated_answers(config: Config) -> tuple[Path, AnswerTask]:
    """Return the file of the selected generator's answers, and what it answered.

    Raises:
        ConfigurationError: there is no such file, or it is of other settings, documents or
            questions than now.
    """
    answers = _files(config).answers(config["retriever"]["name"], config["generator"]["name"])
    task = _answers(config)
    problem = "" if answers.is_file() else "does not exist"
    try:
        rows = list(map(to_line, answered(task, _known(config, task, "answers"))))
    except MemoryMiss:
        rows = []
    if not problem and rows != [to_line(row) for _, row in read_lines(answers)]:
        problem = "is not what the generator answers now"
    if problem:
        raise ConfigurationError(f"{answers} {problem}; run `dvc repro generate` first")
    check(answers)
    return answers, task


def _known(config: Config, use: Use[Any], kept: str) -> PublishedMemory:
    return Workflow(use, _files(config).replies(kept)).kept.known()


def _bench(config: Config) -> Bench:
    files = _files(config)
    rows, told = _made(config, "download", files.rows, files.sources)
    for each in read_json(told):
        now, then = config["sources"][each["source"]].get("path", ""), each.get("path", "")
        if now != then:
            raise ConfigurationError(
                f"sources.{each['source']}.path is {now or 'empty'}, but {rows} was read from "
                f"{then or 'the hub or a mirror'}; choose it for `dvc repro download` too"
            )
    return read_bench(config, rows)


def _questions(config: Config) -> QuestionTask | None:
    """Return nothing where a benchmark has questions of its own."""
    return _bench(config).questions if config["sample"]["sampler"] == "made" else None


def _checks(config: Config) -> CheckTask | None:
    """Return what is asked of the questions that are written so far."""
    if config["sample"]["sampler"] != "made":
        return None
    bench = _bench(config)
    return bench.readings(_known(config, bench.questions, "questions"))


def made_questions(config: Config) -> list[Sifted]:
    """Return what became of each question that a model wrote."""
    if config["sample"]["sampler"] != "made":
        return []
    bench = _bench(config)
    written = _known(config, bench.questions, "questions")
    return sifted_of(bench, written, _known(config, bench.readings(written), "checks"))[1]


Read = Callable[[Config], Use[Any] | Sequence[Use[Any]] | None]

USES: tuple[tuple[str, Read, str], ...] = (
    ("questioner", _questions, "questions"),
    ("questioner", _checks, "checks"),
    ("translator", *TRANSLATION),
    ("reader", _readings, "proofreadings"),
    ("rewriter", _rewrites, "rewrites"),
    ("generator", *ANSWERS),
    ("", _verdicts, "verdicts"),
)
"""The group of the configuration that must name a model, if it is one; how a use is read, None
where nothing is asked, several where it asks several models; and the name of its kept replies. Each
use comes after those that it needs."""

ASKING = ("questioner", "translator", "reader", "rewriter", "generator", "judge")
"""Groups of the configuration that may name a model."""


def workflow_of(config: Config, read: Callable[[Config], U], kept: str) -> Workflow[U]:
    """Return one use of the selected benchmark, and report damage of the journal."""
    return _workflow(config, read(config), kept)


def workflows(config: Config) -> Iterator[Workflow[Any]]:
    """Yield the uses whose settings name a model.

    A use is read when it is its turn, since it may need what those before it made.

    Raises:
        ConfigurationError: no settings do, or what a use needs is not there.
    """
    asking = False
    for group, read, kept in USES:
        found = read(config) if not group or config[group].get("model") else None
        for use in found if isinstance(found, Sequence) else [found]:
            if use is not None and use.settings.model:
                asking = True
                yield _workflow(config, use, kept)
    if not asking:
        chosen = " and ".join(f"{group} {config[group]['name']}" for group in ASKING)
        raise ConfigurationError(
            f"{chosen} have no model, or what it needs is not there yet: nothing is asked. Choose "
            "one that has, such as translator=gpt-4.1 or generator=gpt-4.1-mini"
        )


def _workflow(config: Config, use: U, kept: str) -> Workflow[U]:
    workflow = Workflow(use, _files(config).replies(kept))
    journal = workflow.kept.journal
    for _ in journal.rows():
        pass  # only to be told of lines that are not to be trusted
    for line, reason in journal.damaged:
        complain(f"{journal.path}, line {line}: {reason}; skipped")
    return workflow
