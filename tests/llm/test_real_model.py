"""Fill from a real model on loopback: what must hold however poor its translations are."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bears.config import compose, read_selection
from bears.config.typed import configured
from bears.files.records import write_lines, write_records
from bears.language.gates import check
from bears.language.text import Text
from bears.llm.client import Connection
from bears.llm.fill import FillReport
from bears.llm.workflow import Workflow
from bears.sources.passage_rows import multi_hop
from bears.translation.glossary import occurs
from bears.translation.spans import read_back
from bears.translation.task import TranslationTask, read_task
from bears.types import Document
from benchmarks.small_model import NAME, is_installed, served
from tests.sampled import collected
from tests.sources.files import parts_of

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not is_installed(ROOT), reason="no real model: `make model` installs it"),
]

ASKS = 2
PRICE = (1.0, 2.0)
Row = dict[str, Any]


class Exchange(NamedTuple):
    """One request and its answer."""

    request: Mapping[str, Any]
    status: int
    answer: dict[str, Any]


@contextmanager
def recorded() -> Iterator[list[Exchange]]:
    """Record the exchanges between client and server."""
    exchanges: list[Exchange] = []
    send = Connection._send

    async def recording(self: Connection[Any, Any], path: str, body: Mapping[str, Any]) -> Any:
        came = await send(self, path, body)
        exchanges.append(Exchange(body, came.status_code, json.loads(came.content)))
        return came

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Connection, "_send", recording)
        yield exchanges


@dataclass(frozen=True)
class Filled:
    """A benchmark that was filled once, its journal, the exchanged messages, and the cost."""

    workflow: Workflow[TranslationTask]
    severities: Mapping[str, Any]
    report: FillReport
    rows: list[Row]
    exchanges: list[Exchange]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """A question of mini, its gold documents and a hard negative, cut to one sentence each."""
    folder = tmp_path_factory.mktemp("real_model")
    _write_benchmark(folder / "sampled")
    (folder / "conf").mkdir()
    shutil.copy(ROOT / "conf" / "models.yaml", folder / "conf")
    # Half of the context for each: a model that loops stops after a few hundred tokens.
    with served(ROOT, context=2048) as (address, _), recorded() as exchanges:
        overrides = _overrides(address)
        config = compose(ROOT / "conf", read_selection(ROOT / "params.yaml"), overrides)
        task = configured(read_task, config)(folder / "sampled", folder)
        workflow = Workflow(task, folder / "memory.jsonl", folder)
        report = workflow.fill()
    rows = list(workflow.journal.rows())
    # Shown where a test fails.
    print(f"{report.answered} answers, {report.stored} stored, {report.missing} missing")
    for row in rows:
        text = f"{row['text']!r:.70} → {row['translation']!r:.70}"
        print(row["kind"], row["record_id"], row["field"], text, row["reasons"])
    return Filled(workflow, config["gates"], report, rows, exchanges)


def _overrides(url: str) -> list[str]:
    settings = [f"model={NAME}", f'base_url="{url}"', "api_key_env=''", f"asks={ASKS}"]
    settings += ["concurrency=2", "timeout_s=300", f"price={{input:{PRICE[0]},output:{PRICE[1]}}}"]
    chosen = ("benchmark=mini", "language=zh-Hant-TW", "translator=gpt-4.1")
    return [*chosen, *(f"translator.{each}" for each in settings), "+translator.request.seed=7"]


def _write_benchmark(folder: Path) -> None:
    """Write a question with its gold documents and a hard negative."""
    file = ROOT / "data" / "local" / "mini" / "2wiki.json"
    source = collected(multi_hop(parts_of("2wiki", {"rows": [file]})))
    row_id = "mini-2wiki-07"
    row = next(row for row in source.questions if row.question.question_id == row_id)
    documents = []
    # Gold comes first.
    for passage in sorted(row.passages, key=lambda passage: not passage.is_gold):
        sentence = source.documents[passage.place].content.partition(". ")[0].rstrip(".") + "."
        name = passage.key.replace("_", "/", 1)
        documents.append(Document(name, sentence, "2wiki", row_id, passage.is_gold))
    ids = tuple(document.doc_id for document in documents if document.is_gold)
    documents = documents[: len(ids) + 1]
    write_records(folder / "queries_raw.json", [replace(row.question, gold_doc_ids=ids)])
    write_records(folder / "corpus_raw.json", documents)
    lineage = ({"record_id": each.doc_id, "questions": [row_id]} for each in documents)
    write_lines(folder / "lineage.jsonl", lineage)


def test_every_request_is_answered_in_the_schema(filled: Filled) -> None:
    for exchange in filled.exchanges:
        assert exchange.status == 200
        asked = exchange.request["response_format"]["json_schema"]["schema"]["required"]
        assert exchange.answer["model"] == exchange.request["model"] == NAME
        assert exchange.request["seed"] == 7
        choice = exchange.answer["choices"][0]
        assert choice["finish_reason"] in ("stop", "length")
        if choice["finish_reason"] == "stop":
            assert list(json.loads(choice["message"]["content"])) == asked


def test_the_servers_counts_are_journalled_and_charged(filled: Filled) -> None:
    usage = [exchange.answer["usage"] for exchange in filled.exchanges]
    answers = [row for row in filled.rows if "model" in row]
    assert len(answers) == len(usage) == filled.report.answered > 0
    counts = sorted((u["prompt_tokens"], u["completion_tokens"]) for u in usage)
    assert counts == sorted((row["input_tokens"], row["output_tokens"]) for row in answers)
    dollars = sum(PRICE[0] * sent + PRICE[1] * answered for sent, answered in counts) / 1e6
    assert filled.report.usd == pytest.approx(dollars)


def test_every_stored_text_passes_the_gates(filled: Filled) -> None:
    task, used = filled.workflow.use, filled.workflow.resolve().used
    known = {row["key"]: row for row in filled.rows if row["kind"] == "translation"}
    assert len(known) == filled.report.stored
    assert known.keys() == used.keys(), "everything stored is used, and nothing else"
    for row in known.values():
        if row["field"] == "terms":
            assert list(json.loads(row["translation"])) == ["terms"]
        else:
            assert _errors(filled, row, task) == []
    terms = task.resolve(filled.workflow.known()).terms
    for question in task.source_texts.questions:
        for source, rendering in terms.get(question.question_id, ()):
            assert rendering
            assert any(occurs(source, row["text"]) for row in known.values())


def _errors(filled: Filled, row: Row, task: TranslationTask) -> list[str]:
    """Return the errors of the gates for a journalled translation."""
    source, translation = read_back(row["text"])[0], read_back(row["translation"])[0]
    text = Text(row["field"], source, translation, "en", task.language.name)
    flags = check(text, task.language, filled.severities)
    return [flag.message for flag in flags if flag.severity == "error"]
