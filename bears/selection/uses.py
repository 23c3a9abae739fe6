"""A table of the uses of models, and where the replies of each are kept."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from bears.answers.answered import answered
from bears.answers.judging.chosen import judge_of
from bears.answers.judging.files import read_unjudged, records_in
from bears.answers.judging.graded import cases_of, traced_rows, with_items
from bears.answers.judging.model import ModelJudge, VerdictTask
from bears.answers.task import AnswerTask, read_task
from bears.config import Config, checkout
from bears.config.ledger.entries import Ledger, Nuggets
from bears.config.typed import configured, parse, pick
from bears.errors import ConfigurationError, RepliesMissing
from bears.files.manifest import check
from bears.files.records import read_json, read_questions
from bears.files.shown import complain
from bears.files.traces import read_traces
from bears.layout import traced_of
from bears.llm.use import KeptReplies, Use
from bears.llm.workflow import U, Workflow
from bears.questions.bench import Bench, read_bench, sifted_of
from bears.questions.readings import CheckTask, QuestionTask
from bears.questions.settings import MadeSettings
from bears.questions.sift import Sifted
from bears.retrieval.rewriting.model import RewriteTask
from bears.retrieval.rewriting.model import read_task as read_rewriting
from bears.sampling.mixture import sampler_of
from bears.selection.configuration import files_of, made, selected
from bears.translation.task import TranslationTask
from bears.translation.task import read_task as read_translation


def translation(config: Config) -> Iterator[tuple[TranslationTask, str]]:
    """Yield the task of translating the sample."""
    sampled = files_of(config).sampled
    made(config, "sample", sampled / "queries_raw.json")
    _check_sampled(sampled, config)
    yield configured(read_translation, config)(sampled, checkout()), ""


def _check_sampled(sampled: Path, config: Config) -> None:
    """Raise ConfigurationError if the ledger was changed after the sample was drawn."""
    check(sampled / "notes.json")
    followed = read_json(sampled / "notes.json").get("ledger", [])
    parts = pick(config, ("replacements", "edits"), "the configuration")
    now = parse(Ledger, parts, "").changes()
    for entry in [*followed, *now]:
        if (entry in followed) != (entry in now):
            field = entry[1] if len(entry) > 1 else "question"
            raise ConfigurationError(
                f"{sampled} was made before the ledger was changed ({field} {entry[0]}); run "
                f"`dvc repro sample` with benchmark: {selected(config).benchmark.name} first"
            )


def _rewrites(config: Config) -> Iterator[tuple[RewriteTask, str]]:
    (queries,) = made(config, "translate", files_of(config).queries)
    yield configured(read_rewriting, config)(queries), "rewrites"


def answering(config: Config) -> Iterator[tuple[AnswerTask, str]]:
    """Yield the task of answering from what the retriever found."""
    files, retriever = files_of(config), selected(config).retriever.name
    runs = files.chunks(retriever), files.within(retriever)
    paths = made(config, "retrieve", files.queries, files.corpus, *runs)
    yield configured(read_task, config)(*paths), "answers"


def _verdicts(config: Config) -> Iterator[tuple[VerdictTask, str]]:
    """Yield the task of the judge, if it is a model, on the selected systems' results."""
    chosen, answers = selected(config), None
    judge = judge_of(chosen.judge, chosen.generator.name)
    if not isinstance(judge, ModelJudge):
        return
    try:
        if chosen.generator.name != "none":
            answers, _ = generated_answers(config)
    except ConfigurationError as error:
        if not chosen.generator.word("model"):
            raise
        # The same command fills the answers first.
        complain(str(error))
        return
    files, language = files_of(config), chosen.benchmark.language
    paths = records_in(files.translated, answers)
    questions = read_questions(files.queries)
    rows = read_unjudged(questions, paths, language)
    nuggets = parse(Nuggets, config["nuggets"], "nuggets")
    (run,) = made(config, "retrieve", files.run(chosen.retriever.name))
    rows = with_items(rows, judge, files.corpus, nuggets, run)
    traced = traced_of(chosen.benchmark.name)
    rows += traced_rows(traced, questions, paths, language, judge, nuggets)
    yield VerdictTask(judge, cases_of(rows), language), "verdicts"


def generated_answers(config: Config) -> tuple[Path, AnswerTask]:
    """Return the file of the selected generator's answers, and its task.

    Raises:
        ConfigurationError: there is no such file, or it was made with other settings, documents or
            questions.
    """
    chosen = selected(config)
    answers = files_of(config).answers(f"{chosen.retriever.name}.{chosen.generator.name}")
    ((task, replies),) = answering(config)
    made(config, "generate", answers)
    with suppress(RepliesMissing):
        if list(answered(task, _known(config, task, replies))) == list(read_traces(answers)):
            return answers, task
    raise ConfigurationError(
        f"{answers} is not what the generator answers now; run `dvc repro generate` first"
    )


def _known(config: Config, use: Use[Any], replies: str) -> KeptReplies:
    return Workflow(use, files_of(config).replies(replies)).known()


def _bench(config: Config) -> Bench:
    files = files_of(config)
    rows, sources = made(config, "download", files.rows, files.sources)
    read_from = {each["source"]: each.get("path", "") for each in read_json(sources)}
    for key, source in selected(config).sources.items():
        now, then = source.path, read_from.get(source.name, "")
        if now != then:
            raise ConfigurationError(
                f"sources.{key}.path is {now or 'empty'}, but {rows} was read from "
                f"{then or 'the hub or a mirror'}; choose it for `dvc repro download` too"
            )
    return configured(read_bench, config)(rows)


def _is_made(config: Config) -> bool:
    return isinstance(sampler_of(selected(config).sample), MadeSettings)


def _questions(config: Config) -> Iterator[tuple[QuestionTask | CheckTask, str]]:
    """Yield the task of writing questions, then that of checking those written so far."""
    if _is_made(config):
        bench = _bench(config)
        yield bench.questions, "questions"
        yield bench.readings(_known(config, bench.questions, "questions")), "checks"


def made_questions(config: Config) -> list[Sifted]:
    """Return each question that a model wrote, with the result of its checks."""
    if not _is_made(config):
        return []
    bench = _bench(config)
    written = _known(config, bench.questions, "questions")
    return sifted_of(bench, written, _known(config, bench.readings(written), "checks"))[1]


USES: tuple[tuple[str, Callable[[Config], Iterable[tuple[Use[Any], str]]]], ...] = (
    ("questioner", _questions),
    ("translator", translation),
    ("rewriter", _rewrites),
    ("generator", answering),
    ("", _verdicts),
)
"""The group of the configuration that must name a model, if any; and a function that yields the
uses, each with the name of its kept replies. A use comes after those that it needs."""

ASKING = ("questioner", "translator", "rewriter", "generator", "judge")
"""Groups of the configuration that may name a model."""


def workflows(config: Config) -> Iterator[Workflow[Any]]:
    """Yield the uses whose settings name a model.

    A use is read only when it is reached, since it may need replies of the uses before it.

    Raises:
        ConfigurationError: no settings name a model, or a file that a use needs does not exist.
    """
    asking, choices = False, selected(config)
    for group, read in USES:
        if group and not getattr(choices, group).word("model"):
            continue
        for use, replies in read(config):
            if use.settings.model:
                asking = True
                yield workflow_of(config, use, replies)
    if not asking:
        chosen = " and ".join(f"{group} {getattr(choices, group).name}" for group in ASKING)
        raise ConfigurationError(
            f"{chosen} have no model, or what it needs does not exist yet: nothing is asked. "
            "Choose one with a model, such as translator=gpt-4.1 or generator=gpt-4.1-mini"
        )


def workflow_of(config: Config, use: U, replies: str) -> Workflow[U]:
    """Return one use of the selected benchmark, and report damage of the journal."""
    workflow = Workflow(use, files_of(config).replies(replies))
    journal = workflow.journal
    for _ in journal.rows():
        pass  # Reading all rows collects the damaged ones.
    for line, reason in journal.damaged:
        complain(f"{journal.path}, line {line}: {reason}; skipped")
    return workflow
