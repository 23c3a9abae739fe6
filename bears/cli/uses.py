"""What models are asked for, and the memories that hold it: one table for ``memory``."""

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
from bears.llm.kept import Kept, PublishedMemory
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


def _folder(config: Config) -> Path:
    return Path("data") / str(config["benchmark"]["name"])


def _made(config: Config, stage: str, *files: Path) -> Sequence[Path]:
    """The files, that a stage made and nobody changed since.

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
    sampled = _folder(config) / "sampled"
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


RECORDS = ("queries.json", "corpus.json")
SYSTEM = ("retriever", "generator")
"""What the file of a system's answers is called after."""
TRANSLATION = (_translation, "data/memory/{}.jsonl")


def _readings(config: Config) -> ReadingTask:
    folders = [_folder(config) / name for name in ("sampled", "translated")]
    _made(config, "translate", *(folders[1] / name for name in RECORDS))
    raw, translated = (
        (read_questions(folder / f"queries{ending}"), read_documents(folder / f"corpus{ending}"))
        for folder, ending in zip(folders, ("_raw.json", ".json"), strict=True)
    )
    return read_readings(config, raw, translated)


READINGS = (_readings, "data/memory/{}.proofreadings.jsonl")


def _rewrites(config: Config) -> RewriteTask:
    (queries,) = _made(config, "translate", _folder(config) / "translated" / "queries.json")
    return read_rewriting(config, queries)


REWRITES = (_rewrites, "data/memory/{}.rewrites.jsonl")


def _answers(config: Config) -> AnswerTask:
    runs = (f"{config['retriever']['name']}{ending}" for ending in (".trec", ".within.trec"))
    files = [_folder(config) / "translated" / name for name in RECORDS]
    files += [_folder(config) / "runs" / name for name in runs]
    return read_task(config, *_made(config, "retrieve", *files))


ANSWERS = (_answers, "data/memory/{}.answers.jsonl")


def _verdicts(config: Config) -> list[VerdictTask]:
    """What the models among the judges are asked of the selected generator's answers."""
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
    records = records_in(_folder(config) / "translated", answers)
    hearing = read_hearing(records, config["benchmark"]["language"])
    return tasks_of(judges, hearing.cases, hearing.language)


def generated_answers(config: Config) -> tuple[Path, AnswerTask]:
    """Return the file of the selected generator's answers, and what it answered.

    Raises:
        ConfigurationError: there is no such file, or it is of other settings, documents or
            questions than now.
    """
    system = ".".join(config[key]["name"] for key in SYSTEM)
    answers = _folder(config) / "answers" / f"{system}.jsonl"
    task, memory = _answers(config), Path(ANSWERS[1].format(config["benchmark"]["name"]))
    problem = "" if answers.is_file() else "does not exist"
    try:
        rows = list(map(to_line, answered(task, Kept(task.name, memory, checkout()).known())))
    except MemoryMiss:
        rows = []
    if not problem and rows != [to_line(row) for _, row in read_lines(answers)]:
        problem = "is not what the generator answers now"
    if problem:
        raise ConfigurationError(f"{answers} {problem}; run `dvc repro generate` first")
    check(answers)
    return answers, task


VERDICTS = (_verdicts, "data/memory/{}.verdicts.jsonl")

Row = tuple[Callable[[Config], Use[Any] | Sequence[Use[Any]] | None], str]


def _where_asked(group: str, read: Callable[[Config], Use[Any] | None], memory: str) -> Row:
    """A use that is read only where its group of the configuration names a model."""
    return lambda config: read(config) if config[group].get("model") else None, memory


def _bench(config: Config) -> Bench:
    raw = Path("data/raw") / config["benchmark"]["name"]
    rows, told = _made(config, "download", raw / "rows", raw / "sources.json")
    for each in read_json(told):
        now, then = config["sources"][each["source"]].get("path", ""), each.get("path", "")
        if now != then:
            raise ConfigurationError(
                f"sources.{each['source']}.path is {now or 'empty'}, but {rows} was read from "
                f"{then or 'the hub or a mirror'}; choose it for `dvc repro download` too"
            )
    return read_bench(config, rows)


def _questions(config: Config) -> QuestionTask | None:
    """Nothing is asked where a benchmark has questions, whoever is selected."""
    return _bench(config).questions if config["sample"]["sampler"] == "made" else None


QUESTIONS = (_questions, "data/memory/made/{}.questions.jsonl")


def _written(config: Config, bench: Bench) -> PublishedMemory:
    memory = Path(QUESTIONS[1].format(config["benchmark"]["name"]))
    return Kept(bench.questions.name, memory, checkout()).known()


def _checks(config: Config) -> CheckTask | None:
    """What is asked of the questions that are written so far."""
    if config["sample"]["sampler"] != "made":
        return None
    bench = _bench(config)
    return bench.readings(_written(config, bench))


CHECKS = (_checks, "data/memory/made/{}.checks.jsonl")


def made_questions(config: Config) -> list[Sifted]:
    """What became of each question that a model wrote; of a benchmark without such, nothing."""
    if config["sample"]["sampler"] != "made":
        return []
    bench = _bench(config)
    written = _written(config, bench)
    memory = Path(CHECKS[1].format(config["benchmark"]["name"]))
    read = Kept(CheckTask.name, memory, checkout()).known()
    return sifted_of(bench, written, read)[1]


USES: tuple[Row, ...] = (
    _where_asked("questioner", *QUESTIONS),
    _where_asked("questioner", *CHECKS),
    _where_asked("translator", *TRANSLATION),
    _where_asked("reader", *READINGS),
    _where_asked("rewriter", *REWRITES),
    _where_asked("generator", *ANSWERS),
    VERDICTS,
)
"""How a use is read, None where nothing is asked, several where it asks several models, and the
memory of a benchmark; each use after those that it needs."""

ASKING = ("questioner", "translator", "reader", "rewriter", "generator", "judge")
"""Groups of the configuration that may name a model."""


def workflow_of(config: Config, read: Callable[[Config], U], memory: str) -> Workflow[U]:
    """One row of the table for the selected benchmark; damage of the journal is told."""
    return _workflow(config, read(config), memory)


def workflows(config: Config) -> Iterator[Workflow[Any]]:
    """The uses whose settings name a model.

    A use is read when it is its turn, since it may need what those before it made.

    Raises:
        ConfigurationError: no settings do, or what a use needs is not there.
    """
    asking = False
    for read, memory in USES:
        found = read(config)
        for use in found if isinstance(found, Sequence) else [found]:
            if use is not None and use.settings.model:
                asking = True
                yield _workflow(config, use, memory)
    if not asking:
        chosen = " and ".join(f"{group} {config[group]['name']}" for group in ASKING)
        raise ConfigurationError(
            f"{chosen} have no model, or what it needs is not there yet: nothing is asked. Choose "
            "one that has, such as translator=gpt-4.1 or generator=gpt-4.1-mini"
        )


def _workflow(config: Config, use: U, memory: str) -> Workflow[U]:
    path = Path(memory.format(config["benchmark"]["name"]))
    workflow = Workflow(use, path, checkout())
    journal = workflow.kept.journal
    for _ in journal.rows():
        pass  # only to be told of lines that are not to be trusted
    for line, reason in journal.damaged:
        complain(f"{journal.path}, line {line}: {reason}; skipped")
    return workflow
