"""Every door for what comes from outside, and the same evils at each.

A door is a function of ours that is given a file (or a server's bytes); its name begins with the
module that enters `bears.files.intake` for it. tests/files/test_doors.py checks that nothing else
opens files.
"""

import ast
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bears.answers.judging.labels import read_labels
from bears.answers.judging.model import read_ruling
from bears.answers.ragas.rows import read_rows as read_rows_of_ragas
from bears.cli import main
from bears.cli.source import pin
from bears.config import compose, read_ledger, read_mapping, read_selection
from bears.config.pipeline import run
from bears.config.reads import reads_of
from bears.config.typed import parse
from bears.errors import BearsError
from bears.evaluation.answers.predictions import read_answers
from bears.evaluation.timing import read_timing
from bears.files import records
from bears.files.benchmark_state import generated_in
from bears.files.chunk_run import read_chunk_run
from bears.files.intake.files import json_value
from bears.files.manifest import read_manifest
from bears.files.qrels import read_qrels
from bears.files.records import check_digest
from bears.files.rewritten import read_rewritten
from bears.files.rows import RowFile
from bears.files.traces import read_traces
from bears.files.trec import read_table
from bears.llm.faults import read_problem
from bears.llm.models import Access, environment, load_models
from bears.llm.use import load
from bears.publishing.attestation import Attestation
from bears.questions.readings import draft_of
from bears.results.board import read_board
from bears.results.origins import system_at, system_in_csv
from bears.results.pool import read_judgements
from bears.results.recorded_files import read_recorded
from bears.results.revision import Revision
from bears.results.row import row_of
from bears.results.submission import read_submission
from bears.results.system import System
from bears.results.values import read_values
from bears.retrieval.outside.matching import PassageMatcher
from bears.retrieval.rewriting.model import SHAPE
from bears.selection.configuration import language_of, records_of
from bears.sources.folder.asked import Places
from bears.sources.folder.asked import questions as read_asked
from bears.sources.folder.documents import read_document
from bears.sources.location import first_seen
from bears.sources.rows import read_rows
from bears.translation.glossary import parse_terms, read_glossary
from bears.translation.review import read_decisions
from bears.types import Document
from tests.evils import evils, outcomes
from tests.modules import trees
from tests.workspace import ROOT

Read = Callable[[Path], Any]


def content(read: Callable[[bytes], object], suffix: str = ".json") -> tuple[str, Read]:
    """A door that is given bytes, which no folder and no pipe has."""
    return suffix, lambda path: read(path.read_bytes() if path.is_file() else b"")


def beside(name: str, read: Callable[[Path], object]) -> Read:
    """A door that looks for a file of this name in a folder."""

    def look(path: Path) -> object:
        there = path.parent / name
        there.parent.mkdir(exist_ok=True)
        path.rename(there)
        return read(path.parent)

    return look


def in_folder(read: Callable[[], object]) -> Read:
    """A door that looks where the process is."""

    def look(folder: Path) -> object:
        with chdir(folder):
            return read()

    return look


def definitions() -> int:
    """Run a stage that does not exist, as a stage by hand reads it first."""
    with redirect_stderr(StringIO()) as told:
        status = run("boil", lambda *_: None, [])
    assert status == 1, told.getvalue()
    raise BearsError(told.getvalue())


def show() -> None:
    """The command, which looks into the metrics."""
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()) as told:
        status = main(["show"])
    assert status == 1, told.getvalue()
    raise BearsError(told.getvalue())


def each(name: str, read: Read, *suffixes: str) -> dict[str, tuple[str, Read]]:
    """The same door for files of several kinds."""
    return {f"{name}: {suffix}": (suffix, read) for suffix in suffixes}


ACCESS = Access("http://localhost", "key")
DOORS: dict[str, tuple[str, Read]] = {
    "config: params.yaml": (".yaml", read_selection),
    "config: any mapping": (".yaml", lambda path: read_mapping(path, "make it")),
    "config: a ledger": (".yaml", read_ledger),
    "config: all of conf/": (".yaml", beside("conf.yaml", lambda conf: compose(conf, {}))),
    "config.pipeline: dvc.yaml": (".yaml", beside("dvc.yaml", in_folder(definitions))),
    "llm.models: conf/models.yaml": (".yaml", load_models),
    "llm.models: .env": ("", beside(".env", environment)),
    "llm.faults: an error": content(lambda data: read_problem(500, data)),
    "files.records: questions": (".json", records.read_questions),
    "files.records: documents": (".json", records.read_documents),
    "files.records: documents, streamed": (".json", records.stream_documents),
    "files.records: small JSON": (".json", records.read_json),
    "files.records: JSON Lines": (".jsonl", records.read_lines),
    "files.rewritten: what is searched": (".jsonl", lambda path: read_rewritten(path, [])),
    "files.rows: rows of ours": (".jsonl", lambda path: list(RowFile(path, Document))),
    "files.benchmark_state: whether questions were generated": (".json", generated_in),
    "files.qrels: judgments": (".txt", read_qrels),
    "files.trec: a run": (".trec", lambda path: read_table(path, {"q"})),
    "files.records: a record": (".json", lambda path: check_digest(ROOT / "README.md", path)),
    "files.manifest: a manifest": (".json", read_manifest),
    "questions.readings: an answer": content(
        lambda data: draft_of(data.decode("utf-8", "replace"), "key")
    ),
    **each("sources.rows", read_rows, ".json", ".jsonl", ".parquet", ".csv"),
    "cli.source: a source": (".yaml", pin),
    **each(
        "sources.folder.documents",
        lambda path: read_document(path, "", path.parent),
        *(".txt", ".md", ".html", ".docx"),
    ),
    "sources.pdf_text: PDF": (".pdf", lambda path: read_document(path, "", path.parent)),
    **each(
        "sources.folder.asked",
        lambda path: read_asked(path, "own", "own", Places({"a": "text"}, {}, {})),
        *(".csv", ".xlsx"),
    ),
    "sources.location: digests": (
        ".json",
        beside("fetched.json", lambda folder: first_seen(folder, "o/n@1/a", str)),
    ),
    "evaluation.timing: a timing": (".json", lambda path: read_timing(path, "")),
    **each("evaluation.answers.predictions", read_answers, ".json", ".jsonl", ".csv", ".xlsx"),
    "answers.judging.model: a verdict": content(lambda data: read_ruling(data.decode("latin-1"))),
    **each("answers.judging.labels", read_labels, ".csv", ".json", ".jsonl"),
    "answers.ragas.rows: CSV": (".csv", read_rows_of_ragas),
    "results.system: judgements": (
        ".csv",
        lambda path: System("", "", pd.DataFrame(), files=(path, path)).judged,
    ),
    **each(
        "results.recorded_files",
        lambda path: read_recorded([path], PassageMatcher({})),
        ".json",
        ".jsonl",
    ),
    "files.traces": (".jsonl", lambda path: list(read_traces(path))),
    **each("results.submission", read_submission, ".json", ".trec"),
    "results.values: CSV": (".csv", read_values),
    "results.revision: dvc.lock": (
        ".yaml",
        beside("dvc.lock", in_folder(lambda: Revision("workspace").outputs)),
    ),
    "results.origins: metrics": (
        ".json",
        beside("metrics/retrieval.json", in_folder(lambda: system_at(Revision("workspace")))),
    ),
    "results.origins: CSV": (".csv", system_in_csv),
    "files.spreadsheet: a leaderboard": (".csv", read_board),
    "results.board: a leaderboard": (".csv", read_board),
    "results.revision: metrics": (
        ".json",
        beside("metrics/retrieval.json", in_folder(lambda: row_of(Revision("workspace")))),
    ),
    "selection.configuration: an export": (
        ".json",
        beside("benchmark.json", lambda folder: records_of("", folder)),
    ),
    "selection.configuration: a sidecar": (".json", beside("sidecar.json", language_of)),
    "cli.attest: an attestation": (
        ".json",
        lambda path: parse(Attestation, json_value(path), str(path)),
    ),
    "cli.show: metrics": (".json", beside("metrics/retrieval.json", in_folder(show))),
    "files.chunk_run: a run of chunks": (".parquet", lambda path: read_chunk_run(path, {"q"})),
    "llm.use: kept replies": (".jsonl", lambda path: load(path, "translation")),
    "llm.shape: a kept reply": content(lambda data: SHAPE.kept(data.decode("latin-1"), "it")),
    "translation.glossary: CSV": (".csv", read_glossary),
    "translation.glossary: an answer": content(
        lambda data: parse_terms(data.decode("latin-1"), "")
    ),
    "config.reads": (".yaml", beside("data/reads.yaml", lambda _: reads_of("f", Path()))),
    "config.ledger.sheet: translations": (".csv", lambda path: read_decisions(path, {})),
    **each(
        "config.ledger.sheet",
        lambda path: read_judgements(path, {}, {}),
        *(".csv", ".xlsx", ".json", ".html"),
    ),
}
ELSEWHERE = {
    "llm.client": "hands what a server answers to the read of a request; tests/llm/test_client.py",
    "translation.task": "lineage.jsonl, sealed by its manifest, and an answer of a model; "
    "tests/translation/test_reply_check.py",
    "evaluation.answers.score": "lineage.jsonl, sealed by its manifest",
    "selection.systems": "candidates, sealed by their manifest",
    "evaluation.clusters": "the lineage, sealed by its manifest",
    "publishing.export": "tests/publishing/test_publishing.py",
    "stages.config": "its own earlier output; tests/config/test_configuration.py",
    "stages.retrieve": "the index's timing, whose fields are checked when they are read again",
    "cli.init": "files of the package",
    "cli.upgrade": "dvc.yaml and params.yaml as they stand, to compare; tests/cli/test_init.py",
    "config.packaged": "a file of the package",
    "answers.judging.files": "sidecar.json, sealed by its manifest",
    "answers.judging.model": "a kept reply; tests/answers/test_judge_model.py",
    "answers.judging.tables": "our own column of items",
    "cli.nuggets": "read as the door for JSON Lines; tests/evaluation/test_nuggets.py",
    "publishing.report.benchmark": "records, sealed by their manifests",
    "files.page": "a file of the package",
    "publishing.finished": "records, sealed by their manifests",
    "results.recorded": "values within traces; tests/results/test_traces.py",
    "selection.uses": "answers that the pipeline wrote, sealed by their manifest",
    "answers.ragas.run": "what ragas prints, and kept replies; tests/answers/test_ragas.py",
    "stages.judge": "metrics/retrieval.json, which DVC keeps",
    "stages.verify": "notes and sidecar, sealed by their manifests",
    "sources.beir": "tests/sources/test_shapes.py",
    "sources.chunking": "tests/sources/test_shapes.py",
    "sources.qasper": "tests/sources/test_qasper.py",
}
"""Modules that enter the intake for what is not walked here, and what covers that."""


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_no_evil_passes_a_door_as_anything_but_a_sentence(door: str, tmp_path: Path) -> None:
    suffix, read = DOORS[door]
    found = outcomes(suffix, tmp_path, read)
    assert list(found) == [name for name, _ in evils(suffix)]
    assert {name: what for name, what in found.items() if what not in ("refused", "taken")} == {}


READERS = {
    *("json_value", "lines", "items", "yaml_value", "csv_rows"),
    *("opened", "read_whole", "read_text", "decoded", "numbered_lines", "parquet_rows"),
    *("read_json", "read_lines", "read_cells", "read_named", "read_mapping", "qrels_rows"),
}
"""Functions of `bears.files.intake`, and those that hand them on."""


def enters_the_intake(tree: ast.Module) -> bool:
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return any(
        (node.module or "").startswith("bears.") and {name.name for name in node.names} & READERS
        for node in imports
    )


def test_no_door_is_forgotten() -> None:
    known = {name.partition(":")[0] for name in DOORS} | ELSEWHERE.keys()
    modules = set()
    for path, tree in trees().items():
        words = Path(path).with_suffix("").parts
        # An index is sealed by its manifest, and its stores have tests of what is damaged.
        ours = words[:3] == ("bears", "files", "intake") or words[:2] == ("bears", "retrieval")
        if not ours and enters_the_intake(tree):
            inside = words[1:] if words[0] == "bears" else words
            modules.add(".".join(inside).removesuffix(".__init__"))
    assert modules == known
