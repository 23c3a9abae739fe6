"""A desk with a small benchmark that is retrieved and not yet answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from bears.files.chunk_run import chunk_run_writer
from bears.files.manifest import seal
from bears.files.records import write_records
from bears.files.trec import order, run_writer
from bears.types import Chunk, Document, Hit, Question, chunks_in_order
from stages import generate
from tests.desk import Desk, checkout
from tests.provider_server import ProviderServer

COLOURS = ("red", "green", "blue", "black")
STONES = 12
MEMORY = Path("data/memory/mini.answers.jsonl")
Ranked = Mapping[str, Sequence[str]]
Line = dict[str, Any]


def stones(count: int = STONES) -> tuple[list[Question], list[Document]]:
    """Return questions about the colour of each stone, and a document for each with the answer."""
    questions = [
        Question(f"q{n}", f"What colour is stone {n}?", colour(n), (f"d{n}",), "drcd", "single-hop")
        for n in range(count)
    ]
    documents = [document(f"d{n}", f"Stone {n} is {colour(n)}. It is old.") for n in range(count)]
    return questions, documents


def colour(n: int) -> str:
    return COLOURS[n % len(COLOURS)]


def document(doc_id: str, text: str) -> Document:
    return Document(doc_id, text, "drcd", doc_id, True)


def neighbours(count: int = STONES) -> Ranked:
    """Return rankings with each stone's document second, after that of the stone before it."""
    return {f"q{n}": [f"d{(n - 1) % count}", f"d{n}", f"d{(n + 1) % count}"] for n in range(count)}


def retrieved(
    root: Path,
    questions: Sequence[Question],
    documents: Sequence[Document],
    run: Ranked,
    within: Ranked | None = None,
) -> None:
    """Write the translated benchmark and its runs, sealed, as the stages before do."""
    translated, runs = root / "data/mini/translated", root / "data/mini/runs"
    write_records(translated / "queries.json", questions)
    write_records(translated / "corpus.json", documents)
    seal([translated], {})
    files = [runs / f"bm25.{name}" for name in ("trec", "within.trec", "chunks.parquet")]
    for file, rankings in zip(files, (run, run if within is None else within), strict=False):
        with run_writer(file, "bm25") as write:
            for question_id, doc_ids in rankings.items():
                hits = (Hit(doc_id, -place) for place, doc_id in enumerate(doc_ids))
                write(question_id, order(hits))
    with chunk_run_writer(files[2]) as write_chunks:
        for question_id, doc_ids in run.items():
            write_chunks(question_id, chunks_in_order(map(Chunk, doc_ids)))
    seal(files, {})


def made(to: Path, url: str, *overrides: str) -> Desk:
    """Return a desk with `stones`, whose generator uses the server at ``url``."""
    root = to / "desk"
    checkout(root)
    (root / MEMORY).parent.mkdir(parents=True)
    retrieved(root, *stones(), neighbours())
    usual = ("generator=gpt-4.1", f"generator.base_url={url}", "generator.api_key_env=''")
    return Desk(root, (*usual, *overrides))


def lines(at: Desk, *overrides: str) -> list[Line]:
    """Replay the published replies and return what the stage writes."""
    at.stage("generate", generate.main, *overrides)
    name = next(w for w in reversed((*at.overrides, *overrides)) if w.startswith("generator="))
    path = at.root / f"data/mini/answers/bm25.{name.removeprefix('generator=')}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def bought(at: Desk) -> list[Line]:
    """Fill, publish, and return what the stage writes from the published replies."""
    at.run("fill")
    at.run("publish")
    return lines(at)


def answers(at: Desk) -> dict[str, str]:
    """Return the published answers, markers included, by the question's text."""
    rows = map(json.loads, (at.root / MEMORY).read_text(encoding="utf-8").splitlines())
    return {row["text"]: row["answer"] for row in rows}


Answering = Callable[..., tuple[Desk, ProviderServer]]


@pytest.fixture
def answering(tmp_path: Path, provider: Callable[..., ProviderServer]) -> Answering:
    """Return a function that makes a desk beside a server with faults."""

    def begin(behaviour: str = "good", *overrides: str, **faults: Any) -> Any:
        server = provider(behaviour, **faults)
        return made(Path(mkdtemp(dir=tmp_path)), server.url, *overrides), server

    return begin


def offline(at: Desk) -> Desk:
    """Return the same desk without a server."""
    nowhere = tuple(w for w in at.overrides if "base_url" not in w and "api_key_env" not in w)
    return replace(at, overrides=nowhere)
