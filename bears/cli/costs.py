"""What is known of the times and the price of a system."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from bears.config import parse, read_ledger
from bears.config.ledger.entries import Ledger
from bears.config.shape import Choice
from bears.config.typed import configured
from bears.errors import BearsError
from bears.evaluation.timing import timing_of
from bears.files.digest import sha256_of
from bears.files.records import read_questions
from bears.layout import ledger_of
from bears.llm.embedding import token_range
from bears.llm.kept import KeptReplies
from bears.llm.models import Models, estimate, models_of
from bears.llm.use import Use
from bears.publishing.report.advice import Sentence
from bears.publishing.report.words import signed
from bears.results.revision import JUDGEMENTS, WITHIN
from bears.results.system import System
from bears.retrieval.models.hosted_settings import HostedSettings, hosted


def with_costs(system: System, translated: Path) -> System:
    """Return a system with what is known of its times and its price.

    Args:
        translated: the folder of the benchmark's records.
    """
    revision, run = system.revision, system.run
    if revision is None or run is None:
        return system
    timing: Any = timing_of(sha256_of(run)) or {}
    total = timing.get("stages_ms", {}).get("total", {})
    times = {f"{name}_ms": value for name, value in total.items()}
    times |= {name: timing[name] for name in ("others", "index_s", "index_bytes") if name in timing}
    chunks = system.chunks or run
    priced = dollars(revision.config, translated, chunks, revision.output(WITHIN))
    paid = zip(("usd_low", "usd_high"), priced or (), strict=False)
    return replace(system, cost={**times, **dict(paid)})


def label_notes(systems: Sequence[System]) -> list[Sentence]:
    """Return what differences of pass rates are worth, for systems with judged answers."""
    from bears.answers.judging.pairs import Pair, judged_in

    judged: dict[str, dict[str, dict[str, str]]] = {}
    for system in systems:
        if system.revision and "pass_rate" in system.values:
            file = system.revision.output(JUDGEMENTS)
            judged |= {system.name: judged_in(file, system.name)} if file else {}
    path = ledger_of(str(systems[0].benchmark.get("name", ""))) if systems else Path()
    labels = parse(Ledger, read_ledger(path), str(path)).labels if judged else ()
    judges = sorted({str(s.revision.selection.get("judge")) for s in systems if s.revision})
    notes: list[Sentence] = []
    for a, b in combinations(judged, 2):
        pair = Pair(judged[a], judged[b])
        about = {"a": a, "b": b, "judge": judges, "of": len(pair.questions)}
        found, worth = pair.corrected(labels)
        if found is None:
            notes.append(("labels_none", about))
            continue
        # One hundred more, of a finite set.
        rest = max(len(pair.questions) - found.n, 1)
        more = min(100, rest)
        narrower = math.sqrt(found.n / (found.n + more) * (rest - more) / rest)
        about |= {"worth": f"{100 * (worth or 1):.0f}", "difference": signed(found.value)}
        about |= {"low": signed(found.low), "high": signed(found.high), "more": more, "n": found.n}
        notes.append(("labels_some", {**about, "half": (found.high - found.low) / 2 * narrower}))
    known = [note for note in notes if note[0] == "labels_some"]
    return known or notes[:1]


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
            uses.append(configured(read_answering, config)(*records))
        questions = [question.question for question in read_questions(queries)]
        costs = [(0.0, 0.0), *_of_vectors(retriever, questions, models)]
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
