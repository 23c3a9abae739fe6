"""An export is complete, matches its metadata, and is proven to be what a checkout makes."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from markdown_it import MarkdownIt

from bears.cli import main
from bears.files.benchmark_state import records_digest
from bears.files.records import (
    digest_files,
    digest_of,
    read_json,
    sha256_of,
    write_json,
    write_lines,
    write_records,
)
from bears.publishing.attestation import attest, differences
from bears.publishing.export import card, strictest, write_export
from bears.publishing.finished import Finished, read_finished
from bears.selection.configuration import records_of
from bears.types import Document, Question
from tests.publishing.pushing_hub import pushed_to
from tests.workspace import ROOT

QUESTIONS = [
    Question("q1", "Who?", "A bear", ("d1", "d2"), "s", "ad-hoc", gold_grades=(2, 1)),
    Question("q2", "你好嗎？", "", (), "s", "no-retrieval"),
    Question("q3", "Unknown?", "", (), "s", "ad-hoc", judged=False),
]
DOCUMENTS = [
    Document("d1", "One | with a bar", "s", "1", True),
    Document("d2", "Zwei\u2028Zeilen", "s", "2", True, group="g"),
    Document("d3", "three", "t", "3", False),
]
CONFIG: dict[str, Any] = {
    "benchmark": {"name": "small", "language": "en"},
    "accepted": [],
    "publication": {
        **{"licence": "CC0-1.0", "cite_as": "A. Bear, Small", "date_published": "2026-11-22"},
    },
    "language": {"name": "en"},
    "sample": {"_target_": "bears.sampling.whole.Whole"},
    "translator": {"name": "published", "concurrency": 8},
    "rewriter": {"name": "none"},
    "generator": {"name": "none"},
    "judge": {"name": "none"},
    **{"replacements": [], "edits": [], "reviews": [], "judgements": [], "nuggets": []},
    "evaluate": {"measures": ["mrr"], "curve": []},
    "retrieve": {"depth": 100, "score_threshold": None, "ignore_identical_ids": False},
    "sources": {
        "s": {"name": "s", "licence": "CC-BY-SA-3.0", "language": "en", "path": "/mine/s.json"},
        "t": {"name": "t", "licence": "Apache-2.0", "language": "en", "revision": "a" * 40},
    },
}


@pytest.fixture
def finished(tmp_path: Path) -> Finished:
    data = tmp_path / "data"
    translated = data / "small" / "translated"
    write_records(translated / "queries.json", QUESTIONS)
    write_records(translated / "corpus.json", DOCUMENTS)
    files = [translated / "queries.json", translated / "corpus.json"]
    write_json(data / "small" / "verified" / "digest.json", digest_files(files))
    finding = {"check": "empty", "severity": "warning", "record_id": "d1", "message": "m"}
    write_lines(data / "small" / "verified" / "findings.jsonl", [finding])
    file = {"name": "t.json", "sha256": "b" * 64, "rows": 1}
    rows = [
        {"source": "s", "licence": "CC-BY-SA-3.0", "language": "en", "path": "s.json", "files": []},
        {"source": "t", "licence": "Apache-2.0", "hub": "owner/t", "files": [file]},
    ]
    write_json(data / "raw" / "small" / "sources.json", rows)
    return read_finished(CONFIG, data)


def rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def test_beir_and_parquet_hold_every_record_and_grade(finished: Finished, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_export(finished, out)
    assert [row["_id"] for row in rows(out / "corpus.jsonl")] == ["d1", "d2", "d3"]
    assert rows(out / "corpus.jsonl")[1]["text"] == "Zwei\u2028Zeilen"
    queries = rows(out / "queries.jsonl")
    assert [row["_id"] for row in queries] == ["q1", "q2", "q3"]
    assert [row["metadata"].get("no_retrieval") for row in queries] == [None, True, None]
    qrels = (out / "qrels" / "test.tsv").read_text(encoding="utf-8")
    assert qrels == "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\n"
    folder = out / "parquet"
    contents = pq.read_table(folder / "corpus.parquet").column("text").to_pylist()
    assert contents == [document.content for document in DOCUMENTS]
    queries = pq.read_table(folder / "queries.parquet").to_pylist()
    assert [(row["_id"], row["text"]) for row in queries] == [
        (question.question_id, question.question) for question in QUESTIONS
    ]
    assert [row["judged"] for row in queries] == [True, True, False]
    qrels = pq.read_table(folder / "qrels.parquet").to_pylist()
    assert [tuple(row.values()) for row in qrels] == [("q1", "d1", 2), ("q1", "d2", 1)]


def test_the_card_says_licence_composition_and_findings(finished: Finished) -> None:
    text = card(finished, attest(finished))
    front = yaml.safe_load(text.split("---")[1])
    assert front["license"] == "cc-by-sa-3.0"
    assert front["size_categories"] == ["n<1K"]
    assert "3 questions over 3 documents" in text
    assert "owner/t" in text
    assert "t.json sha256 " + "b" * 64 in text
    assert any(line.split() == ["|", "s", "|", "2", "|", "2", "|"] for line in text.splitlines())
    assert any("warning" in line and "empty" in line for line in text.splitlines())


EVIL = "<img src=x onerror=alert(1)> [x](http://evil.com) @name www.evil.com |\n# h"


def test_no_text_of_a_benchmark_acts_on_its_card(finished: Finished) -> None:
    config = json.loads(json.dumps(CONFIG))
    config["benchmark"]["language"] = EVIL
    config["sources"]["s"]["licence"] = EVIL
    evil = replace(
        finished,
        config=config,
        questions=[replace(q, source_dataset=EVIL) for q in QUESTIONS],
        documents=[replace(d, original_source=EVIL) for d in DOCUMENTS],
        provenance=[
            dict.fromkeys(("source", "hub", "revision", "licence"), EVIL)
            | {"files": [{"name": EVIL, "sha256": EVIL}]}
        ],
        findings=[dict.fromkeys(("check", "severity", "record_id", "message"), EVIL)],
    )
    text = card(evil, attest(finished))
    body = text.split("---\n", 2)[2]
    html = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(body)
    tags = set(re.findall(r"<(\w+)", html))
    known = {"h1", "h2", "p", "strong", "pre", "code"}
    assert tags <= known | {"table", "thead", "tbody", "tr", "th", "td"}
    assert html.count("<h1>") == 1
    assert len(re.findall("```", body)) == 2
    assert not re.search(r"@n|p://|www\.e", re.sub(r"```.*?```", "", body, flags=re.DOTALL))
    assert yaml.safe_load(text.split("---\n", 2)[1])["language"] == [EVIL]


@pytest.mark.parametrize(
    ("licences", "expected", "remark"),
    [
        (["CC0-1.0"], "CC0-1.0", ""),
        (["CC-BY-SA-3.0", "CC-BY-SA-4.0", "Apache-2.0"], "CC-BY-SA-4.0", ""),
        (["CC-BY-4.0", "CC-BY-NC-2.0"], "CC-BY-NC-2.0", ""),
        (["CC-BY-SA-4.0", "CC-BY-NC-2.0"], "CC-BY-NC-2.0", "cannot both be met"),
        (["CC0-1.0", "NOASSERTION"], "NOASSERTION", "has to be asked"),
        (["CC0-1.0", "LicenseRef-X"], "LicenseRef-X", "its own terms"),
        (["LicenseRef-X", "none stated"], "NOASSERTION", "has to be asked"),
    ],
)
def test_the_strictest_licence_follows(licences: list[str], expected: str, remark: str) -> None:
    name, remarks = strictest(licences)
    assert name == expected
    assert (remark in " ".join(remarks)) if remark else not remarks


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda c: c["sample"].update(seed=7), ["configuration"]),
        (lambda c: c.update(edits=[{"record_id": "q1"}]), ["ledger"]),
        (lambda c: c["sources"]["t"].update(revision="c" * 40), ["sources"]),
        # Where files are, and how fast a model is asked, change nothing.
        (lambda c: c["publication"].update(date_published="2030-01-01"), []),
        (lambda c: c["sources"]["s"].update(path="/yours/s.json"), []),
        (lambda c: c["translator"].update(concurrency=1), []),
    ],
)
def test_the_root_depends_on_each_setting_that_changes_records(
    finished: Finished, change: Callable[[dict[str, Any]], None], expected: list[str]
) -> None:
    config = json.loads(json.dumps(CONFIG))
    change(config)
    assert differences(attest(finished), attest(replace(finished, config=config))) == expected


def test_the_root_depends_on_each_file(finished: Finished) -> None:
    first, replies, corpus = attest(finished), finished.files.replies(), finished.files.corpus
    replies.parent.mkdir(parents=True)
    replies.write_text("{}\n", encoding="utf-8")
    assert differences(first, attest(finished)) == ["replies"]
    replies.unlink()
    corpus.write_bytes(corpus.read_bytes() + b"\n")
    assert differences(first, attest(finished)) == ["corpus"]


@pytest.fixture
def checkout(
    finished: Finished,  # noqa: ARG001  # it writes the files
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """Rename `small` to mini, and add the project's own configuration."""
    shutil.copytree(ROOT / "conf", tmp_path / "conf")
    shutil.copy(ROOT / "params.yaml", tmp_path)
    for name in ("small", "raw/small"):
        (tmp_path / "data" / name).rename(tmp_path / "data" / name.replace("small", "mini"))
    write_json(tmp_path / "data/mini/translated/sidecar.json", {"language": "zh-Hant-TW"})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_export_is_attested_until_anything_changes(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(command: str, message: str) -> None:
        assert main(command.split()) == 1
        assert message in capsys.readouterr().err

    assert main(["export", "out"]) == 0
    assert main(["attest", "out"]) == 0
    assert "out is what this project makes" in capsys.readouterr().out
    refused("export out", "exists already")

    raw = checkout / "data" / "raw" / "mini" / "sources.json"
    raw.write_bytes(raw.read_bytes().replace(b'"source": "t"', b'"source": "drcd"'))
    assert main(["attest", "out"]) == 1
    printed = capsys.readouterr().err
    assert "the records are the same (" in printed
    assert "sources: this project's differs" in printed

    raw.write_bytes(raw.read_bytes().replace(b'"source": "drcd"', b'"source": "t"'))
    (checkout / "out" / "queries.jsonl").write_text("{}\n", encoding="utf-8")
    refused("attest out", "queries.jsonl: differs from what this project exports")
    (checkout / "out" / "extra.txt").write_text("more", encoding="utf-8")
    refused("attest out", "extra.txt: differs from what this project exports")

    attestation = checkout / "out" / "attestation.json"
    values = json.loads(attestation.read_bytes())
    values["files"]["../params.yaml"] = "0" * 64
    attestation.write_text(json.dumps(values), encoding="utf-8")
    refused(
        "attest out",
        "attestation.json: its records, roots or digests are not of its parts and files",
    )

    translated = checkout / "data" / "mini" / "translated"
    write_json(translated / "sidecar.json", {"language": "ko"})
    refused("export korean", "is in ko, but the configuration says 'zh-Hant-TW'")
    assert not (checkout / "korean").exists()

    corpus = translated / "corpus.json"
    corpus.write_bytes(corpus.read_bytes().replace(b"three", b"four "))
    refused("attest out", "on the present file first")


def _forge(out: Path, name: str, old: bytes, new: bytes, **parts: str) -> None:
    """Change a file, and every digest of the attestation that can be computed again."""
    file, attestation = out / name, out / "attestation.json"
    text = file.read_bytes()
    assert old in text
    file.write_bytes(text.replace(old, new, 1))
    values = json.loads(attestation.read_bytes())
    values["files"][name] = sha256_of(file)
    values["parts"] |= parts
    for part in ("queries", "corpus"):
        values["parts"][part] = sha256_of(out / f"{part}.json")
    values["records"] = records_digest(values["parts"]["queries"], values["parts"]["corpus"])
    values["root"] = digest_of(values["parts"])
    values["exported"] = digest_of({name: values[name] for name in ("root", "files")})
    attestation.write_text(json.dumps(values), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("queries.json", b"Who?", b"When"),
        ("corpus.json", b"three", b"four "),
        ("queries.jsonl", b"Who?", b"When"),
        ("corpus.jsonl", b"three", b"four "),
        ("qrels/test.tsv", b"\t1\n", b"\t2\n"),
        ("README.md", b"licences", b"licence "),
        ("benchmark.json", b"ndcg@10", b"ndcg@20"),
    ],
)
def test_a_forged_file_is_refused_even_if_all_digests_fit(
    checkout: Path, capsys: pytest.CaptureFixture[str], name: str, old: bytes, new: bytes
) -> None:
    assert main(["export", "out"]) == 0
    _forge(checkout / "out", name, old, new)
    assert main(["attest", "out"]) == 1
    assert name in capsys.readouterr().err


def test_a_forged_parquet_file_is_refused_and_one_of_another_version_is_not(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "out"]) == 0
    name, out = "parquet/qrels.parquet", checkout / "out"
    rows = pq.read_table(out / name)
    _forge(out, name, (out / name).read_bytes(), _parquet(rows, "zstd"))
    assert main(["attest", "out"]) == 0
    capsys.readouterr()
    grades = pa.array([grade.as_py() + 1 for grade in rows["score"]])
    changed = rows.set_column(rows.schema.get_field_index("score"), "score", grades)
    _forge(out, name, (out / name).read_bytes(), _parquet(changed, "zstd"))
    assert main(["attest", "out"]) == 1
    assert name in capsys.readouterr().err


def _parquet(table: pa.Table, compression: str) -> bytes:
    stream = pa.BufferOutputStream()
    pq.write_table(table, stream, compression=compression)
    return bytes(stream.getvalue())


def test_an_export_is_pushed_to_the_hub(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pushed_to(monkeypatch) as hub:
        assert main(["export", "out", "--push", "me/mini"]) == 0
    assert f"pushed to {hub.url}/datasets/me/mini" in capsys.readouterr().out
    out = checkout / "out"
    kept = {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    assert hub.files == kept
    assert hub.made == [
        {"name": "mini", "organization": "me", "type": "dataset", "visibility": "private"}
    ]


@pytest.mark.parametrize(
    ("token", "name", "status", "message"),
    [
        ("", "me/mini", 200, "the hub takes nothing without a token; set HF_TOKEN"),
        ("hf_x", "me/mini", 403, "the hub did not take 'me/mini': 403 Forbidden: no right"),
        ("hf_x", "me/mini", 401, "the hub did not take 'me/mini': "),
        ("hf_x", "a/b/c", 200, "the hub did not take 'a/b/c'"),
    ],
)
def test_a_push_that_fails_says_why_in_a_sentence_and_leaves_nothing(
    checkout: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    token: str,
    name: str,
    status: int,
    message: str,
) -> None:
    with pushed_to(monkeypatch, token, status) as hub:
        assert main(["export", "out", "--push", name]) == 1
    told = capsys.readouterr().err
    assert message in told
    assert "hf_x" not in told
    assert len(told.splitlines()) == 1
    assert not hub.files
    assert not (checkout / "out").exists()


PARTS = ("ledger", "sources", "configuration", "replies")
LINKS = ("link to a file", "link to a folder", "link for a file")


@pytest.mark.parametrize("part", ["", *PARTS])
@pytest.mark.parametrize("name", ["README.md", "benchmark.json", "queries.jsonl", "qrels/test.tsv"])
def test_a_forged_file_is_found_whatever_part_is_forged_with_it(
    checkout: Path, capsys: pytest.CaptureFixture[str], name: str, part: str
) -> None:
    assert main(["export", "out"]) == 0
    content = (checkout / "out" / name).read_bytes()
    _forge(checkout / "out", name, content, content + b" ", **({part: "0" * 64} if part else {}))
    assert main(["attest", "out"]) == 1
    printed = capsys.readouterr()
    assert f"out/{name}: differs from what this project exports" in printed.err
    assert (f"{part}: this project's differs" in printed.err) == bool(part)
    assert "is what this project makes" not in printed.out


@pytest.mark.parametrize("kind", LINKS)
def test_a_link_is_not_attested(
    checkout: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    assert main(["export", "out"]) == 0
    out, name = checkout / "out", "extra"
    if kind == "link for a file":
        name = "README.md"
        (out / name).rename(checkout / "moved")
    to = {"link for a file": checkout / "moved", "link to a file": checkout / "params.yaml"}
    (out / name).symlink_to(to.get(kind, checkout / "conf"))
    assert main(["attest", "out"]) == 1
    assert f"out/{name}: differs from what this project exports" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["root", "records", "exported"])
def test_a_root_that_is_not_of_its_parts_is_refused(
    checkout: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["export", "out"]) == 0
    attestation = checkout / "out" / "attestation.json"
    values = json.loads(attestation.read_bytes()) | {name: "0" * 64}
    attestation.write_text(json.dumps(values), encoding="utf-8")
    assert main(["attest", "out"]) == 1
    assert "are not of its parts and files" in capsys.readouterr().err


def test_an_export_has_peoples_decisions_but_not_their_names(
    finished: Finished, tmp_path: Path
) -> None:
    write_export(finished, tmp_path / "without")
    assert "ledger" not in read_json(tmp_path / "without" / "benchmark.json")
    said = {"question_id": "q1", "doc_id": "d3", "decision": "partial"}
    judgements = [{**said, "author": "Ann", "reason": "private"}]
    write_export(replace(finished, config={**CONFIG, "judgements": judgements}), tmp_path / "with")
    assert read_json(tmp_path / "with" / "benchmark.json")["ledger"] == {"judgements": [said]}
    fact = {"question_id": "q1", "nugget_id": "n", "text": "A bear.", "importance": "vital"}
    config = {**CONFIG, "nuggets": [{**fact, "author": "Ann"}]}
    without = read_json(tmp_path / "without" / "attestation.json")
    attested = write_export(replace(finished, config=config), tmp_path / "facts")
    assert read_json(tmp_path / "facts" / "benchmark.json")["ledger"] == {"nuggets": [fact]}
    # The facts are attested, and the records stay the same.
    assert attested.parts["ledger"] != without["parts"]["ledger"]
    assert attested.records == without["records"]
    records = records_of("", tmp_path / "facts")
    assert [nugget.text for nugget in records.nuggets] == ["A bear."]


def test_an_export_scores_answers_against_all_annotators(
    finished: Finished, tmp_path: Path
) -> None:
    assert not finished.files.lineage.exists()
    lineage = tmp_path / "data" / "small" / "sampled" / "lineage.jsonl"
    write_lines(lineage, [{"record_id": "q1", "references": ["A bear", "Ursa"]}])
    out, answers = tmp_path / "out", tmp_path / "answers.json"
    write_export(read_finished(CONFIG, tmp_path / "data"), out)
    answers.write_text('{"q1": "Ursa"}', encoding="utf-8")
    command = ["answers", "score", str(answers), "--folder", str(out), "--out", str(tmp_path / "s")]
    assert main(command) == 0
    scores = json.loads((tmp_path / "s").read_bytes())
    # The other questions have no gold answer, and no answer.
    assert scores["all"]["exact_match"] == 1
    assert scores["faults"] == {"missing": 2, "reference": 2}
