"""retrieve: questions and index → TREC runs, and how long each question took."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Sequence
from statistics import fmean
from time import perf_counter
from typing import Any

import numpy as np
from tqdm import tqdm

from bears.configuration import Config, build, parse
from bears.configuration.pipeline import Paths, exit_with
from bears.formats.digest import sha256_of
from bears.formats.records import read_questions, write_json
from bears.formats.trec import write_run
from bears.retrieval.clock import Clock
from bears.retrieval.retriever import Query, Searcher
from bears.retrieval.settings import Retrieval
from bears.retrieval.vector_store import Approximate
from bears.types import Question, Ranking

Run = dict[str, Ranking]


def main(config: Config, paths: Paths) -> None:
    """Ask the index every question, one at a time; where it belongs to a group, of that as well."""
    settings = parse(Retrieval, config["retrieve"], "retrieve")
    questions = read_questions(paths["queries"])
    settings.check(questions)
    started = perf_counter()
    searcher = build(config["retriever"], "retriever").open(paths["index"])
    loaded = perf_counter() - started
    run, clocks = _ask(searcher, questions, settings)
    grouped = [question for question in questions if question.group]
    within, _ = _ask(searcher, grouped, settings, within=True) if grouped else ({}, [])
    name = config["retriever"]["name"]
    write_run(paths["run"], run, name)
    write_run(paths["within"], {**run, **within}, name)
    measured: dict[str, Any] = {
        "run_sha256": sha256_of(paths["run"]),
        "questions": len(questions),
        "load_s": round(loaded, 3),
        "seconds_per_question": round(fmean(clock.seconds["total"] for clock in clocks), 6),
        "stages_ms": _percentiles(clocks),
    }
    if isinstance(searcher, Approximate):
        texts = [settings.text(question) for question in questions]
        measured["search"] = searcher.exactness(texts, settings.depth)
    write_json(paths["timing"], measured)


def _ask(
    searcher: Searcher, questions: Sequence[Question], settings: Retrieval, within: bool = False
) -> tuple[Run, list[Clock]]:
    run: Run = {}
    clocks = []
    for question in tqdm(questions, unit=" questions", disable=None):
        query = Query(settings.text(question), question.group if within else "")
        clock = Clock()
        with clock("total"):
            ranking = searcher.search(query, settings.depth, clock)
        if any(settings.ignores(question.question_id, hit.doc_id) for hit in ranking):
            # One more, so that `depth` of them stay; asking twice is not what is timed.
            ranking = searcher.search(query, settings.depth + 1, Clock())
        clocks.append(clock)
        run[question.question_id] = settings.kept(question.question_id, ranking)
        # The collector would walk over all that is kept again and again.
        gc.freeze()
    gc.unfreeze()
    return run, clocks


def _percentiles(clocks: Iterable[Clock]) -> dict[str, dict[str, float]]:
    """Stage to its p50 and p95 over the questions, in milliseconds."""
    seconds: dict[str, list[float]] = {}
    for clock in clocks:
        for stage, spent in clock.seconds.items():
            seconds.setdefault(stage, []).append(spent)
    return {
        stage: {f"p{p}": round(float(np.percentile(spent, p)) * 1000, 3) for p in (50, 95)}
        for stage, spent in seconds.items()
    }


if __name__ == "__main__":
    exit_with("retrieve", main)
