"""A desk with documents about stones, to make questions from."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from bears.files.manifest import seal
from bears.files.records import to_line, write_text
from bears.files.rows import files_of
from bears.sources.parts import pool_document
from bears.types import Document
from stages import sample
from tests.desk import Desk, checkout
from tests.provider_server import ProviderServer
from tests.scripted_model import text

QUESTIONS = Path("data/memory/made/made.questions.jsonl")
SAMPLED = Path("data/made/sampled")
USUAL = (
    "benchmark=made",
    "questioner=gpt-4.1-mini",
    "benchmark.language=en",
    "sources.drcd.language=en",
    "sample.passage_bytes=[10,6000]",
    *(f"questioner.{each}api_key_env=''" for each in ("", "reader.")),
)


def stones(count: int, *more: Document) -> list[Document]:
    return [*(pool_document("drcd", f"d{n}", text(n)) for n in range(count)), *more]


def made(to: Path, url: str, documents: Sequence[Document], *overrides: str) -> Desk:
    """A desk over documents, whose questioner and reader ask the server at ``url``."""
    root = to / "desk"
    checkout(root)
    (root / QUESTIONS).parent.mkdir(parents=True)
    rows = root / "data/raw/made/rows"
    of_documents, of_questions = files_of(rows, "drcd")
    write_text(of_documents, "".join(to_line(asdict(each)) for each in documents))
    write_text(of_questions, "")
    write_text(rows.parent / "sources.json", '[{"source": "drcd"}]')
    seal([rows], {})
    seal([rows.parent / "sources.json"], {})
    asking = (f"questioner.base_url={url}", f"questioner.reader.base_url={url}") if url else ()
    return Desk(root, (*USUAL, f"sample.passages={len(documents)}", *asking, *overrides))


def sampled(at: Desk, *overrides: str, code: int = 0) -> str:
    """Run the stage and return what it printed."""
    return at.stage("sample", sample.main, *overrides, code=code)


def questions(at: Desk) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((at.root / SAMPLED / "queries_raw.json").read_text())
    return found


def not_kept(at: Desk) -> list[dict[str, str]]:
    with (at.root / SAMPLED / "not_kept.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def lineage(at: Desk) -> list[dict[str, Any]]:
    """Return the lineage of the questions that were kept."""
    lines = (at.root / SAMPLED / "lineage.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, lines) if row["kind"] == "question"]


def outcomes(at: Desk, *overrides: str) -> dict[str, str]:
    """Run the stage; map each question's document to why it was dropped, or "" if it was kept."""
    sampled(at, *overrides)
    kept = {" ".join(row["written_about"]): "" for row in lineage(at)}
    return kept | {row["documents"]: row["filter"] for row in not_kept(at)}


def published(at: Desk, *overrides: str) -> Desk:
    """Fill and publish, as a person does."""
    at.run("fill", *overrides)
    at.run("publish", *overrides)
    return at


Making = Callable[..., tuple[Desk, ProviderServer]]


@pytest.fixture
def making(tmp_path: Path, provider: Callable[..., ProviderServer]) -> Making:
    """Return a function that makes a desk beside a server with faults."""

    def begin(behaviour: str, documents: Sequence[Document], *overrides: str, **faults: Any) -> Any:
        server = provider(behaviour, **faults)
        return made(Path(mkdtemp(dir=tmp_path)), server.url, documents, *overrides), server

    return begin
