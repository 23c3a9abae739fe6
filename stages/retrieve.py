"""retrieve: questions and index → a TREC run, and how long each question took."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np
from tqdm import tqdm

from bears.configuration import Config, build, parse
from bears.errors import ConfigurationError
from bears.formats.digest import digest_files
from bears.formats.records import read_questions, write_json
from bears.formats.trec import write_run
from bears.pipeline import Paths, exit_with
from bears.types import Ranking


def main(config: Config, paths: Paths) -> None:
    """Ask the index every question, one at a time."""
    depth = parse(int, config["retrieve"]["depth"], "retrieve.depth")
    if depth < 1:
        raise ConfigurationError(f"retrieve.depth is {depth}; expected at least 1")
    started = perf_counter()
    searcher = build(config["retriever"], "retriever").open(paths["index"])
    loaded = perf_counter() - started
    run: dict[str, Ranking] = {}
    seconds = []
    for question in tqdm(read_questions(paths["queries"]), unit=" questions", disable=None):
        started = perf_counter()
        ranking = searcher.search(question.question, depth)
        seconds.append(perf_counter() - started)
        run[question.question_id] = ranking
    write_run(paths["run"], run, config["retriever"]["name"])
    _write_timing(paths["timing"], paths["run"], seconds, loaded)


def _write_timing(timing: Path, run: Path, seconds: list[float], loaded: float) -> None:
    milliseconds = np.array(seconds) * 1000
    measured = {
        "run_sha256": digest_files([run])[run.name],
        "questions": len(seconds),
        "load_s": round(loaded, 3),
        "p50_ms": round(float(np.percentile(milliseconds, 50)), 3),
        "p95_ms": round(float(np.percentile(milliseconds, 95)), 3),
    }
    write_json(timing, measured)


if __name__ == "__main__":
    exit_with("retrieve", main)
