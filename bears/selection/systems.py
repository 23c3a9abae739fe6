"""The systems that the words of a command name."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from bears.config import Config
from bears.config.typed import parse
from bears.errors import FormatError
from bears.evaluation.settings import EvaluationSettings
from bears.files.records import read_lines
from bears.files.visible import one_line
from bears.layout import BenchmarkFiles, traced_of
from bears.results.origins import ran_on, system_of
from bears.results.records import Records
from bears.results.row import MAIN
from bears.results.system import System, system_of_traces
from bears.selection.configuration import composed, files_of, made, records_of, selected
from bears.types import Chunk, ChunkHit, ChunkRanking, ChunkRun

AUDIT = "audit"
"""The stage whose candidates take the place of a run."""


def chosen(words: Sequence[str], benchmark: str, least: int = 2) -> list[System]:
    """Return the named systems. Raises FormatError if there are fewer than ``least``."""

    @cache
    def records() -> Records:
        return records_of(benchmark or selected(composed()).benchmark.name)

    if twice := [word for word in words if words.count(word) > 1]:
        raise FormatError(f"{twice[0]} is named twice")
    systems = [system_of(word, records, benchmark) for word in words]
    if len(systems) < least:
        raise FormatError("one system cannot be compared; name two or more, or none for all")
    names = [system.name for system in systems]
    # Files with the same name get their whole paths.
    unique = [
        name if names.count(name) == 1 and name not in words else word
        for name, word in zip(names, words, strict=True)
    ]
    return [
        replace(system, name=one_line(name, 500))
        for system, name in zip(systems, unique, strict=True)
    ]


def main_of(systems: Sequence[System]) -> str:
    """Return the measure that orders the benchmark, according to its configuration."""
    name = next((str(s.benchmark["name"]) for s in systems if s.benchmark), "")
    if not name:
        return MAIN
    return parse(EvaluationSettings, composed(name)["evaluate"], "evaluate").main


def with_traced(systems: Sequence[System], benchmark: str) -> list[System]:
    """Return the systems of a benchmark, and the one whose traces it was drawn from.

    Where the traces or the records are not here, there is no such system.
    """
    path = traced_of(benchmark)
    if not (path.is_file() and BenchmarkFiles(benchmark).queries.is_file()):
        return [*systems]
    records = records_of(benchmark)
    state = records.state.as_dict()["state"]
    if any(system.benchmark.get("state") != state for system in systems):
        return [*systems]
    return [*systems, replace(system_of_traces(path, records), name=str(path))]


def runs_to_judge(words: Sequence[str], config: Config, records: Records) -> dict[str, ChunkRun]:
    """Return the name and the rankings of each run that the words name, or of all.

    Raises:
        FormatError: a word names nothing, or nothing ran.
    """
    name = records.benchmark.name
    systems = {word: system_of(word, lambda: records, name) for word in words if word != AUDIT}
    if not words:
        found = with_traced(ran_on(records, all_commits=True, older=True), name)
        systems = {each.name: each for each in found}
    runs: dict[str, ChunkRun] = {word: system.found for word, system in systems.items()}
    runs |= {AUDIT: _candidates(config)} if AUDIT in words else {}
    if not runs:
        raise FormatError(f"nothing ran on {name} as it is now; run `dvc repro`")
    return runs


def _candidates(config: Config) -> ChunkRun:
    """Return what `audit` found. Raises as `made`."""
    [folder] = made(config, AUDIT, files_of(config).audited)
    found: dict[str, ChunkRanking] = {}
    for _, row in read_lines(folder / "candidates.jsonl"):
        key, chunk = row["question_id"], Chunk(row["doc_id"], row["start"], row["end"])
        found[key] = (*found.get(key, ()), ChunkHit(chunk, 0.0))
    return found
