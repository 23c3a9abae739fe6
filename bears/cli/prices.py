"""What a run pays for a thousand questions, by conf/models.yaml and its own settings."""

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from bears.answers.task import read_task as read_answering
from bears.cli.embeddings import hosted
from bears.config import parse
from bears.errors import BearsError
from bears.files.records import read_questions
from bears.llm.embedding import token_range
from bears.llm.kept import PublishedMemory
from bears.llm.models import Models, estimate, load_models
from bears.llm.use import Use
from bears.retrieval.models.hosted_settings import HostedSettings
from bears.retrieval.rewriting.model import read_task as read_rewriting


def dollars(
    config: Mapping[str, Any], translated: Path, run: Path | None, within: Path | None
) -> tuple[float, float] | None:
    """The least and the most that a thousand questions cost, as if none had been asked before.

    Counted are the vectors of questions, the rewriter and the generator; indexing and judges are
    not. Tokens are estimated. What runs on one's own machine costs nothing here.

    Args:
        config: of the run.
        translated: the folder of the benchmark's records.
        run, within: its rankings, where a generator answers from them.

    Returns:
        None where a price is not known, or the configuration is that of an older version.
    """
    queries = translated / "queries.json"
    try:
        models = load_models(Path("conf/models.yaml"))
        uses: list[Use[Any]] = []
        if config["rewriter"].get("model"):
            uses.append(read_rewriting(dict(config), queries))
        if config["generator"].get("model") and run and within:
            records = queries, translated / "corpus.json", run, within
            uses.append(read_answering(dict(config), *records))
        questions = [question.question for question in read_questions(queries)]
        vectors = _vectors(config["retriever"], questions, models)
        costs = [*vectors, *chain.from_iterable(_asked(use, models) for use in uses)]
    except (BearsError, KeyError, AttributeError):
        return None
    low, high = (
        sum(each) * 1000 / max(len(questions), 1) for each in zip((0, 0), *costs, strict=True)
    )
    return low, high


def _vectors(part: Any, questions: list[str], models: Models) -> Iterator[tuple[float, float]]:
    """Of every hosted encoder within a retriever's settings."""
    for found in hosted(part):
        fields = {key: value for key, value in found.items() if key != "_target_"}
        price = parse(HostedSettings, fields, "retriever.encoder").price_in(models)
        for low, high in map(token_range, questions):
            yield price.of(low, 0), price.of(high, 0)


def _asked(use: Use[Any], models: Models) -> Iterator[tuple[float, float]]:
    """Of every question that a model is asked."""
    price = use.settings.price_in(models)
    for request in use.resolve(PublishedMemory()).missing:
        chat = use.ask(request, [])
        tokens = zip(estimate(chat.system + chat.user), use.output_tokens(request), strict=True)
        low, high = (price.of(sent, round(answered)) for sent, answered in tokens)
        yield low, high
