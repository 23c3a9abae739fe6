"""What is known of the times and the price of a system."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bears.config.shape import Choice
from bears.config.typed import configured, parse
from bears.errors import BearsError
from bears.evaluation.timing import timing_of
from bears.files.records import read_questions, sha256_of
from bears.llm.models import estimate, models_of
from bears.llm.use import KeptReplies, Use
from bears.llm.wire import token_range
from bears.results.revision import WITHIN, Revision
from bears.retrieval.models.hosted import HostedSettings, hosted


@dataclass(frozen=True, slots=True)
class Costs:
    """The times and the price of a system, None where they are not known.

    Args:
        p50_ms, p95_ms: of a question.
        index_s, index_bytes: of the index.
        usd: the least and the most for a thousand questions.
        others: the share of the processors that other programs used meanwhile.
    """

    p50_ms: float | None = None
    p95_ms: float | None = None
    index_s: float | None = None
    index_bytes: float | None = None
    usd: tuple[float, float] | None = None
    others: float | None = None


def costs_of(revision: Revision, run: Path, chunks: Path | None, translated: Path) -> Costs:
    """Return what is known of the times and the price of a revision's system.

    Args:
        run: of its retriever, which names its times.
        chunks: the run of chunks, from which a generator answers.
        translated: the folder of the benchmark's records.
    """
    usd = dollars(revision.config, translated, chunks or run, revision.output(WITHIN))
    timing: Mapping[str, Any] = timing_of(sha256_of(run)) or {"stages_ms": {}}
    total = timing["stages_ms"].get("total", {})
    others = {name: timing.get(name) for name in ("index_s", "index_bytes", "others")}
    return Costs(total.get("p50"), total.get("p95"), usd=usd, **others)


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
        None if a price is not known, as that of a system that runs elsewhere, or the configuration
        is of an older version.
    """
    queries = translated / "queries.json"
    try:
        models = models_of(Path())
        uses: list[Use[Any]] = []
        groups = ("generator", "retriever", "rewriter")
        generator, retriever, rewriter = (parse(Choice, config[each], each) for each in groups)
        if any(".outside." in part.word("_target_") for part in (generator, retriever)):
            return None
        # These imports take half a second.
        if rewriter.word("model"):
            from bears.retrieval.rewriting.model import read_task as read_rewriting

            uses.append(configured(read_rewriting, config)(queries))
        if generator.word("model") and chunks and within:
            from bears.answers.task import read_task as read_answering

            records = queries, translated / "corpus.json", chunks, within
            # A system that is in use answers once.
            once = {name: word for name, word in config["generator"].items() if name != "repeats"}
            uses.append(configured(read_answering, {**config, "generator": once})(*records))
        questions = [question.question for question in read_questions(queries)]
        costs = [(0.0, 0.0)]
        for encoder in hosted(retriever):
            fields = {key: value for key, value in encoder.items() if key != "_target_"}
            price = parse(HostedSettings, fields, "retriever.encoder").price_in(models)
            vectors = map(token_range, questions)
            costs += [(price.of(low, 0), price.of(high, 0)) for low, high in vectors]
        for use in uses:
            price = use.settings.price_in(models)
            for request in use.resolve(KeptReplies()).missing:
                chat = use.ask(request, [])
                sent, answered = estimate(chat.system + chat.user), use.output_tokens(request)
                low, high = map(price.of, sent, map(round, answered))
                costs.append((low, high))
    except (BearsError, KeyError):
        return None
    low, high = (sum(each) * 1000 / max(len(questions), 1) for each in zip(*costs, strict=True))
    return low, high
