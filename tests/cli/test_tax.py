"""What translation costs a retriever, held against values that others measured."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest

from bears.cli import main
from bears.files.records import read_documents, write_records
from tests.workspace import ROOT

Tax = Callable[[Sequence[str]], dict[str, Any]]


@pytest.fixture
def tax(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Tax:
    monkeypatch.chdir(ROOT)

    def run(words: Sequence[str]) -> dict[str, Any]:
        status = main(["tax", *words, "--format", "json"])
        told = capsys.readouterr()
        assert status == 0, told.err
        return json.loads(told.out)  # type: ignore[no-any-return]

    return run


@pytest.mark.parametrize(
    ("retriever", "before", "after"),
    [
        ("bm25", 0.709, 0.735),
        pytest.param("wordllama", 0.572, 0.397, marks=pytest.mark.slow),
        pytest.param("hybrid", 0.658, 0.593, marks=pytest.mark.slow),
    ],
)
def test_published_bears_costs_what_others_measured(
    retriever: str, before: float, after: float, shared_data: Path, tax: Tax
) -> None:
    folder = shared_data / "bears-published"
    words = ["--benchmark", "bears-published", "--folder", str(folder)]
    found = tax([*words, "--retriever", retriever])
    sizes = (found["questions"], found["documents"], found["original_languages"])
    assert sizes == (40, 390, ["en"])
    assert (round(found["original"], 3), round(found["translated"], 3)) == (before, after)
    assert found["low"] < found["difference"] < found["high"]
    assert row_of(retriever, found) in (ROOT / "docs/translation.md").read_text(encoding="utf-8")


def row_of(retriever: str, found: dict[str, float]) -> str:
    """The row of docs/translation.md."""
    told = f"{found['difference']:+.3f} [{found['low']:+.3f}, {found['high']:+.3f}]"
    cells = f"{found['original']:.3f}", f"{found['translated']:.3f}", told.replace("-", "−")
    return f"| `{retriever}` | {' | '.join(cells)} |"


def copied(shared_data: Path, folder: Path, untranslated: bool = False) -> Path:
    """The published set; with its original texts on both sides if that is asked for."""
    there = shared_data / "bears-published"
    for name in ("queries", "corpus"):
        copyfile(there / f"{name}_raw.json", folder / f"{name}_raw.json")
        copyfile(there / f"{name}{'_raw' * untranslated}.json", folder / f"{name}.json")
    return folder


@pytest.mark.slow
def test_texts_that_stayed_as_they_were_cost_a_dense_retriever_nothing(
    shared_data: Path, tmp_path: Path, tax: Tax
) -> None:
    folder = copied(shared_data, tmp_path, untranslated=True)
    found = tax(["--benchmark", "bears", "--folder", str(folder), "--retriever", "wordllama"])
    assert found["original"] == found["translated"] > 0.4
    assert found["difference"] == 0


@pytest.mark.slow
def test_what_cannot_be_compared_is_refused(
    shared_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    folder = copied(shared_data, tmp_path)
    another = str(shared_data / "bears-27c6c30")
    refused = {
        "no question was translated": ["--benchmark", "scifact", "--folder", str(folder)],
        "does not know the source 'squad'": ["--benchmark", "bears", "--folder", another],
        "have different records: 1 ": ["--benchmark", "bears", "--folder", str(folder)],
    }
    for said, words in refused.items():
        if "different records" in said:
            write_records(folder / "corpus.json", read_documents(folder / "corpus.json")[1:])
        assert main(["tax", *words]) == 1
        assert said in capsys.readouterr().err
