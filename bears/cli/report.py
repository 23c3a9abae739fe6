"""``bears report``: an HTML page about a benchmark and everything that was measured on it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bears.answers.task import AnswerKeys
from bears.answers.task import read_task as read_answering
from bears.cli.embeddings import hosted
from bears.cli.selection import composed, records_of
from bears.config import parse
from bears.config.shape import Choice
from bears.config.typed import Keys, select
from bears.errors import BearsError, ConfigurationError, FormatError
from bears.evaluation.measure import our_name
from bears.evaluation.timing import read_timing
from bears.files.digest import sha256_of
from bears.files.records import read_json, read_questions, write_text
from bears.layout import BenchmarkFiles
from bears.llm.embedding import token_range
from bears.llm.kept import KeptReplies
from bears.llm.models import Models, estimate, models_of
from bears.llm.use import Use
from bears.publishing.report.benchmark import ReportKeys
from bears.publishing.report.page import report
from bears.results.origins import ran_on
from bears.results.records import Records
from bears.results.revision import ANSWERED, JUDGEMENTS, RUN, WITHIN
from bears.results.system import System
from bears.retrieval.models.hosted_settings import HostedSettings
from bears.retrieval.rewriting.model import RewritingKeys
from bears.retrieval.rewriting.model import read_task as read_rewriting


def write_report(
    *,
    out: Path = Path("report.html"),
    benchmark: str = "",
    measure: str = "",
    top: int = 10,
    all_commits: bool = False,
) -> None:
    """Write one HTML file about the benchmark and its runs, here or in DVC's cache.

    It shows which system to take and how certain that is, intervals, recall, time, and every
    question with what each system found. The page needs no network.

    Args:
        out: default: report.html
        measure: the measure that decides, such as recall@10
        top: documents of each system, 1 to 100; default: 10
    """
    if not 1 <= top <= 100:
        raise ConfigurationError(f"--top is {top}; expected a whole number from 1 to 100")
    keys = select(ReportKeys, composed(benchmark))
    name = keys.benchmark.name
    records = records_of(name)
    systems = ran_on(records, all_commits)
    if not systems:
        raise FormatError(f"no run on {name} as it is in {records.folder}; `dvc repro` makes one")
    columns = list(map(str, systems[0].values.columns))
    main = our_name(measure) or records.settings.evaluate.main
    if not measure and columns and main not in columns:
        main = columns[0]
    described = [_described(system, records) for system in systems]
    text = report(keys, BenchmarkFiles(name), records.questions, described, main, top)
    write_text(out, text)
    what = f"{len(systems)} systems" if len(systems) > 1 else "1 system"
    print(f"{out}: {what} on {name}, {len(text.encode()) / 1e6:.1f} MB")


COMMAND = write_report


def _described(system: System, records: Records) -> System:
    """Return a system with its answers and costs, its values in the order of the questions."""
    revision = system.revision
    assert revision is not None
    answers, judgements = revision.output(ANSWERED), revision.output(JUDGEMENTS)
    chunks = system.chunks or system.run
    priced = dollars(revision.config, records.folder, chunks, revision.output(WITHIN))
    paid = zip(("usd_low", "usd_high"), priced or (), strict=False)
    return replace(
        system,
        values=system.values.loc[[question.question_id for question in records.questions]],
        files=(answers, judgements) if answers and judgements else None,
        cost={**dict(_times(revision.outputs, system.run or Path())), **dict(paid)},
    )


def _times(outputs: Mapping[str, str], run: Path) -> Iterator[tuple[str, float]]:
    """Yield the times of a run and its index, if they are still here: DVC does not keep them."""
    for path in (Path(path) for path in outputs if re.fullmatch(RUN, path)):
        if timing := read_timing(path.with_suffix(".timing.json"), sha256_of(run)):
            total = timing["stages_ms"]["total"]
            yield from (("p50_ms", total["p50"]), ("p95_ms", total["p95"]))
            indexing = path.parent.parent / "index" / f"{path.stem}.timing.json"
            known: Any = read_json(indexing) if indexing.is_file() else {}
            for name in ("index_s", "index_bytes"):
                if isinstance(known, dict) and isinstance(known.get(name), int | float):
                    yield name, float(known[name])


@dataclass(frozen=True)
class PricedKeys(Keys):
    """The choices of a run that may cost money."""

    generator: Choice
    retriever: Choice
    rewriter: Choice


def dollars(
    config: Mapping[str, Any], translated: Path, chunks: Path | None, within: Path | None
) -> tuple[float, float] | None:
    """Return the least and the most that a thousand questions cost, if no reply is kept.

    The vectors of questions, the rewriter and the generator count; indexing and judges do not.
    Tokens are estimated. What runs on the user's own machine costs nothing here.

    Args:
        config: of the run.
        translated: the folder of the benchmark's records.
        chunks, within: the runs that a generator answers from.

    Returns:
        None if a price is not known, or the configuration is that of an older version.
    """
    queries = translated / "queries.json"
    try:
        models = models_of(Path())
        uses: list[Use[Any]] = []
        priced = select(PricedKeys, config)
        if priced.rewriter.word("model"):
            uses.append(read_rewriting(select(RewritingKeys, config), queries))
        if priced.generator.word("model") and chunks and within:
            records = queries, translated / "corpus.json", chunks, within
            uses.append(read_answering(select(AnswerKeys, config), *records))
        questions = [question.question for question in read_questions(queries)]
        costs = [(0.0, 0.0), *_of_vectors(priced.retriever, questions, models)]
        for use in uses:
            costs += _of_replies(use, models)
    except (BearsError, KeyError, AttributeError):
        return None
    low, high = (sum(each) * 1000 / max(len(questions), 1) for each in zip(*costs, strict=True))
    return low, high


def _of_vectors(part: Any, questions: list[str], models: Models) -> Iterator[tuple[float, float]]:
    """Yield the price of each question's vector, for every hosted encoder of a retriever."""
    for encoder in hosted(part):
        fields = {key: value for key, value in encoder.items() if key != "_target_"}
        price = parse(HostedSettings, fields, "retriever.encoder").price_in(models)
        for low, high in map(token_range, questions):
            yield price.of(low, 0), price.of(high, 0)


def _of_replies(use: Use[Any], models: Models) -> Iterator[tuple[float, float]]:
    """Yield the price of each request to a model."""
    price = use.settings.price_in(models)
    for request in use.resolve(KeptReplies()).missing:
        chat = use.ask(request, [])
        sent, answered = estimate(chat.system + chat.user), use.output_tokens(request)
        yield price.of(sent[0], round(answered[0])), price.of(sent[1], round(answered[1]))
