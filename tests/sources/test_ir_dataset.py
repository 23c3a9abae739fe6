"""A dataset of ir_datasets, made of local files, from `bears init` to the sample."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ir_datasets
import pytest
from ir_datasets.datasets.beir import BeirTitleDoc
from ir_datasets.formats import JsonlDocs, TrecQrels, TsvQueries

from bears.cli import main
from bears.config import compose, read_selection
from bears.config.ledger.entries import Ledger
from bears.config.shape import Source
from bears.config.typed import configured
from bears.errors import SourceError
from bears.evaluation.evaluate import gold_of
from bears.files.rows import open_rows
from bears.sampling.whole import Whole, sample_whole
from bears.sources.convert import convert
from bears.sources.source import reader_of
from stages import download
from tests.sources.files import Rows, lines

NAME = "local/tiny/dev"
CORPUS: Rows = [
    {"doc_id": "d1", "title": "The tea house", "text": "It is kept in Ur, by the river."},
    {"doc_id": "d2", "title": "", "text": "The coffee of the house is cold."},
    {"doc_id": "d 3", "title": "Ur", "text": ""},
]
QUERIES = "q1\tWhere is the tea?\nq2\tIs the coffee warm?\nq3\tWho asks?\n"
QRELS = "q1 0 d1 2\nq1 0 d2 1\nq1 Q0 d2 1\nq2 0 d2 1\nq2 0 d1 0\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The files of a dataset that ir_datasets knows while a test runs."""
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "docs.jsonl").write_bytes(lines(CORPUS))
    (folder / "queries.tsv").write_text(QUERIES)
    (folder / "qrels").write_text(QRELS)
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    local = ir_datasets.util.LocalDownload
    docs = JsonlDocs(local(folder / "docs.jsonl"), BeirTitleDoc, lang="en")
    queries = TsvQueries(local(folder / "queries.tsv"))
    qrels = TrecQrels(local(folder / "qrels"), {})
    registered = ir_datasets.registry._registered
    ir_datasets.registry.register(NAME, ir_datasets.Dataset(docs, queries, qrels))
    ir_datasets.registry.register("local/tiny", ir_datasets.Dataset(docs))
    yield folder
    for name in (NAME, "local/tiny"):
        del registered[name]


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_it_is_the_benchmark_that_the_same_rows_are_in_beirs_layout(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "tiny", "--ir-dataset", NAME]) == 0
    assert "licence is unknown, see https://ir-datasets.com/local.html" in capsys.readouterr().out
    # Nothing was read, or kept, before the download.
    assert not (place / "home").exists()
    monkeypatch.chdir(place / "tiny")
    config = compose(Path("conf"), read_selection(Path("params.yaml")))
    rows, provenance = place / "rows", place / "sources.json"
    configured(download.main, config)({"rows": rows, "provenance": provenance})
    found = sample_whole(Whole("beir"), {"beir": open_rows(rows, "beir")}, Ledger())
    (entry,) = json.loads(provenance.read_text())
    assert (entry["ir_dataset"], entry["source"]) == (NAME, "tiny")
    assert {file["name"]: file["rows"] for file in entry["files"]} == {
        **{"corpus.jsonl": 3, "queries.jsonl": 3, "qrels.jsonl": 5}
    }
    texts = {document.doc_id: document.content for document in found.documents}
    assert texts == {d.doc_id: d.default_text().strip() for d in ir_datasets.load(NAME).docs_iter()}
    assert gold_of(found.questions) == {"q1": {"d1": 2, "d2": 1}, "q2": {"d1": 0, "d2": 1}}

    same = place / "same"
    same.mkdir()
    names = {"doc_id": "_id", "title": "title", "text": "text"}
    corpus = [{names[key]: value for key, value in row.items()} for row in CORPUS]
    (same / "corpus.jsonl").write_bytes(lines(corpus))
    asked = [
        dict(zip(("_id", "text"), line.split("\t"), strict=True))
        for line in QUERIES.split("\n")[:-1]
    ]
    (same / "queries.jsonl").write_bytes(lines(asked))
    (same / "qrels.trec").write_text(QRELS)
    beside = Source("tiny", "en", "NOASSERTION", "beir", path=str(same), split="dev")
    convert(beside, reader_of(beside), None, place, place / "beside" / "beir", place, "beir")
    for name in ("beir.documents.jsonl", "beir.questions.jsonl"):
        assert (place / "beside" / name).read_bytes() == (rows / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("local/tiny", "local/tiny has no queries and no qrels; choose a dataset that has all"),
        ("local/none", "ir_datasets has no 'local/none'; see `ir_datasets list`"),
    ],
)
@pytest.mark.usefixtures("files")
def test_what_is_no_benchmark_is_refused_and_leaves_nothing(
    place: Path, name: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "tiny", "--ir-dataset", name]) == 1
    assert told in capsys.readouterr().err
    assert not (place / "tiny/params.yaml").exists()


@pytest.mark.usefixtures("place")
def test_without_the_package_its_command_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    assert main(["init", "tiny", "--ir-dataset", NAME]) == 1
    assert "pip install 'bears-bench[ir-datasets]'" in capsys.readouterr().err


def test_what_fails_in_a_download_is_one_sentence(files: Path, tmp_path: Path) -> None:
    (files / "qrels").write_text("q1 d1\n")
    given: dict[str, Any] = {"shape": "beir", "split": "dev", "ir_dataset": NAME}
    source = Source("tiny", "en", "NOASSERTION", **given)
    with pytest.raises(
        SourceError, match=r"local/tiny/dev of ir_datasets cannot be read \(Runtime"
    ):
        convert(source, reader_of(source), None, tmp_path, tmp_path / "out", tmp_path)
