"""retrieve: rewritten questions and index → TREC runs, and how long a question takes."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import fmean
from time import perf_counter
from typing import Any

import numpy as np

from bears.config.pipeline import Paths, exit_with
from bears.config.shape import Choice
from bears.config.typed import build
from bears.evaluation.timing import Clock, kept_timing, used_by_others
from bears.files.chunk_run import chunk_run_writer, read_places
from bears.files.progress import Progress
from bears.files.records import read_json, read_questions, sha256_of, write_json
from bears.files.rewritten import read_rewritten
from bears.files.shown import complain
from bears.files.trec import run_writer
from bears.retrieval.cut import Cut, Limited, as_rows, cuts_below, messages, summed
from bears.retrieval.index_files import PLACES, check_made_from
from bears.retrieval.levels import OpenIndex, SearchResult
from bears.retrieval.retriever import Finishing, Query, RetrieveSettings, Stopwatch
from bears.retrieval.vectors import Approximate
from bears.types import Question

BATCH = 64
"""How many questions are searched together."""

TIMED = 100
"""How many questions are searched one by one, as a user asks them, to measure the latency."""


def main(paths: Paths, *, retrieve: RetrieveSettings, retriever: Choice) -> None:
    """Search every question in all documents and, if it has a group, in those of its group."""
    questions, clock = read_questions(paths["queries"]), Clock()
    retrieve.check(questions)
    questions = _searched(questions, paths["rewritten"])
    density = check_made_from(paths["index"], paths["corpus"])
    started = perf_counter()
    searcher = build(retriever, "retriever").open(paths["index"])
    loaded = perf_counter() - started
    sample = Random(0).sample(questions, min(TIMED, len(questions)))
    search = OpenIndex(searcher, density, read_places(paths["index"] / PLACES), retrieve).search
    stopwatches = [Stopwatch() for _ in sample]
    timed: dict[str, SearchResult] = {}
    others, began = used_by_others(), perf_counter()
    for question, stopwatch in zip(sample, stopwatches, strict=True):
        timed |= search({question.question_id: Query(question.question)}, stopwatch)
    passed = (perf_counter() - began) * (os.cpu_count() or 1)
    # The system counts in steps of 10 ms, which says nothing of a shorter time than a second.
    others = max(used_by_others() - others, 0.0) / max(passed, 1.0)
    cuts: list[Cut] = []
    with (
        run_writer(paths["run"], retriever.name) as run,
        chunk_run_writer(paths["chunks"]) as chunks,
        run_writer(paths["within"], retriever.name) as within,
    ):
        for question, anywhere, in_group in _rankings(search, questions, timed):
            question_id = question.question_id
            run(question_id, anywhere.documents)
            chunks(question_id, anywhere.chunks)
            within(question_id, in_group.documents)
            if isinstance(searcher, Limited):
                cuts = summed([*cuts, *searcher.cut(question.question, anywhere.named)])
        # Before the runs get their names.
        outside = searcher.finish() if isinstance(searcher, Finishing) else {}
    seconds = [each.seconds["total"] for each in stopwatches]
    measured: dict[str, Any] = {
        "run_sha256": sha256_of(paths["run"]),
        **clock.work(),
        "questions": len(questions),
        "load_s": round(loaded, 3),
        "timed_questions": len(sample),
        "seconds_per_question": round(fmean(seconds or [0.0]), 6),
        "seconds_by_question": {
            question.question_id: round(spent, 6)
            for question, spent in zip(sample, seconds, strict=True)
        },
        "stages_ms": _percentiles(stopwatches),
        # The share of the processors that other programs used meanwhile.
        "others": round(others, 3),
        "texts_cut": as_rows(cuts),
        **outside,
    }
    if sample and isinstance(searcher, Approximate):
        texts = [question.question for question in sample]
        measured["search"] = searcher.exactness(texts, retrieve.depth)
    write_json(paths["timing"], measured)
    # By the digest of the run, so that other runs do not replace it.
    indexing = paths["index"].with_name(f"{paths['index'].name}.timing.json")
    index = read_json(indexing) if indexing.is_file() else {}
    kept = {name: index[name] for name in ("index_s", "index_bytes") if name in index}
    write_json(kept_timing(measured["run_sha256"]), {**measured, **kept})
    for line in messages([*cuts_below(paths["index"]), *cuts]):
        complain(f"retrieve: {line}")


def _searched(questions: Sequence[Question], rewritten: Path) -> list[Question]:
    """Return the questions that are searched, each with the text that is searched."""
    queries = read_rewritten(rewritten, questions)
    return [
        replace(question, question=queries[question.question_id].standalone_query)
        for question in questions
        if queries[question.question_id].search
    ]


Search = Callable[[dict[str, Query], Stopwatch], dict[str, SearchResult]]
"""From queries by question_id to what is found for them."""


def _rankings(
    search: Search, questions: Sequence[Question], known: dict[str, SearchResult]
) -> Iterator[tuple[Question, SearchResult, SearchResult]]:
    """Yield each question with what is found in all documents and, if it has one, in its group."""
    bar = Progress(total=len(questions), unit=" questions")
    for first in range(0, len(questions), BATCH):
        batch = questions[first : first + BATCH]
        texts = {one.question_id: one.question for one in batch}
        unknown = {key: Query(text) for key, text in texts.items() if key not in known}
        anywhere = {**known, **search(unknown, Stopwatch())}
        grouped = {
            one.question_id: Query(texts[one.question_id], one.group) for one in batch if one.group
        }
        in_group = {**anywhere, **search(grouped, Stopwatch())}
        for one in batch:
            yield one, anywhere[one.question_id], in_group[one.question_id]
        bar.update(len(batch))


def _percentiles(stopwatches: Iterable[Stopwatch]) -> dict[str, dict[str, float]]:
    """Return the p50 and p95 of each stage over the questions, in milliseconds."""
    seconds: dict[str, list[float]] = {}
    for stopwatch in stopwatches:
        for stage, spent in stopwatch.seconds.items():
            seconds.setdefault(stage, []).append(spent)
    return {
        stage: {f"p{p}": round(float(np.percentile(spent, p)) * 1000, 3) for p in (50, 95)}
        for stage, spent in seconds.items()
    }


if __name__ == "__main__":
    exit_with("retrieve", main)
