"""Sources that are benchmarks already: each shape, broken in each way, and the real files."""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from importlib import import_module
from itertools import permutations
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from bears.config.pipeline import run
from bears.errors import ConfigurationError, FormatError, MalformedRow, SourceError
from bears.files.records import write_records
from bears.files.rows import open_rows
from bears.sources import beir, own, pandachat, science_ko
from bears.sources.convert import convert
from bears.sources.location import locate
from bears.sources.parts import Parts, Reader
from bears.sources.records import PoolDocument, PoolQuestion, SourceRow, records
from bears.sources.source import Part, Source
from bears.types import (
    Answer,
    Document,
    Judgement,
    Question,
    SourceQuestion,
    Turn,
)
from tests.hub_server import Hub, serve
from tests.workspace import ROOT

Rows = list[dict[str, Any]]

BEIR_PARTS = {
    "corpus": Part(("corpus.jsonl", "corpus.jsonl.gz", "corpus/*.parquet")),
    "queries": Part(("queries.jsonl", "queries.jsonl.gz", "queries/*.parquet")),
    "qrels": Part(("qrels/{split}.tsv", "qrels/{split}*.parquet")),
}
OWN_PARTS = {"folder": Part((".",))}
PANDA_PARTS = {"questions": Part(("*.json",))}
KO_PARTS = {"documents": Part(("documents.jsonl",)), "questions": Part(("{split}.jsonl",))}


def source(parts: dict[str, Part], **more: Any) -> Source:
    fields = {"name": "s", "reader": "-", "language": "en", "licence": "CC0-1.0", "split": "test"}
    return Source(**{**fields, "path": "in", "parts": parts, **more})


def lines(rows: Rows) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "in" / name).write_text(text, encoding="utf-8")


def rows(folder: Path, reader: Reader, asked: Source) -> list[Any]:
    """What the reader gives; it is what can be read back."""
    given: list[Any] = []

    def read(parts: Parts) -> Iterator[SourceRow]:
        for row in reader(parts):
            given.append(row)
            yield row

    convert(asked, read, None, folder, folder / "out")
    found = open_rows(folder, "out")
    expected = list(records(given, asked.name))
    assert [*found.documents] == [each for each in expected if isinstance(each, Document)]
    assert [*found.questions] == [each for each in expected if isinstance(each, SourceQuestion)]
    return given


# ---------------------------------------------------------------------------------- BEIR's layout

CORPUS: Rows = [
    {"_id": "d1", "title": "Tea", "text": "Leaves in water.", "metadata": {}},
    {"_id": "d2", "title": "", "text": "No title.\u2028One line."},
    {"_id": 3, "text": "A number for an id."},
]
QUERIES: Rows = [{"_id": "q1", "text": "what is tea?"}, {"_id": "q2", "text": "titles"}]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\t3\t-1\n"
BEIR = {"corpus.jsonl": lines(CORPUS), "queries.jsonl": lines(QUERIES), "qrels/test.tsv": QRELS}
BEIR_ROWS = [
    PoolDocument("d1", "Tea Leaves in water."),
    PoolDocument("d2", "No title.\u2028One line."),
    PoolDocument("3", "A number for an id."),
    PoolQuestion("q1", "what is tea?", gold=(("d1", 2),)),
    PoolQuestion("q2", "titles", judged=False, lacks="relevant"),
]
JUDGED = [Judgement("q1", "d1", 2), Judgement("q1", "d2", 0), Judgement("q2", "3", -1)]


@pytest.mark.parametrize(
    "qrels",
    [
        QRELS,
        QRELS.partition("\n")[2],
        "\ufeff" + QRELS.replace("\n", "\r\n"),
        "q1\t0\td1\t2\nq1\t0\td2\t0\nq2\t0\t3\t-1\n",
        "q1 0 d1 2\nq1 Q0 d2 0\n\nq2  0  3  -1\n",
        QRELS.replace("\t2\n", "\t2.0\n"),
        QRELS + "q1\td1\t2\n",
    ],
    ids=["header", "bare", "windows", "trec", "spaces", "floats", "repeated"],
)
def test_a_folder_in_beirs_layout(tmp_path: Path, qrels: str) -> None:
    write(tmp_path, {**BEIR, "qrels/test.tsv": qrels})
    found = rows(tmp_path, beir.read, source(BEIR_PARTS))
    assert list(dict.fromkeys(found)) == BEIR_ROWS


def test_packed_and_parquet_parts_read_the_same(tmp_path: Path) -> None:
    for name in ("corpus", "qrels"):
        (tmp_path / "in" / name).mkdir(parents=True)
    packed = gzip.compress(BEIR["queries.jsonl"].encode())
    (tmp_path / "in" / "queries.jsonl.gz").write_bytes(packed)
    named = [{**row, "_id": str(row["_id"])} for row in CORPUS]
    tables: dict[str, Rows] = {
        "corpus/scifact-corpus.parquet": [
            {"_id": row["_id"], "title": row.get("title"), "text": row["text"]} for row in named
        ],
        # The hub's ids of judgements can be numbers, and grades of any width.
        "qrels/test-00000.parquet": [
            {"query-id": row.question_id, "corpus-id": row.doc_id, "score": row.grade}
            for row in JUDGED
        ],
    }
    for name, table in tables.items():
        parquet.write_table(pyarrow.Table.from_pylist(table), tmp_path / "in" / name)
    assert rows(tmp_path, beir.read, source(BEIR_PARTS)) == BEIR_ROWS


def test_mteb_calls_ids_by_another_name_and_has_judgements_as_json_lines(tmp_path: Path) -> None:
    renamed = [{"id": str(row["_id"]), **row} for row in [*CORPUS, *QUERIES]]
    bare = [{k: v for k, v in row.items() if k != "_id"} for row in renamed]
    judged = [
        {"query-id": row.question_id, "corpus-id": row.doc_id, "score": float(row.grade)}
        for row in JUDGED
    ]
    files = {"corpus.jsonl": lines(bare[:3]), "queries.jsonl": lines(bare[3:])}
    write(tmp_path, {**files, "qrels/test.jsonl": lines(judged)})
    asked = source({}, reader="", shape="beir")
    assert rows(tmp_path, beir.read, asked) == BEIR_ROWS


def without(row: dict[str, Any], field: str) -> Rows:
    return [{key: value for key, value in row.items() if key != field}]


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("corpus.jsonl", lines([*CORPUS, CORPUS[0]]), "row 4, field _id: 'd1' stands in an"),
        ("corpus.jsonl", lines(without(CORPUS[0], "_id")), "row 1, field _id: Field required"),
        ("corpus.jsonl", lines(without(CORPUS[0], "text")), "row 1, field text: Field required"),
        ("corpus.jsonl", lines([{**CORPUS[0], "_id": 1.5}]), "row 1, field _id"),
        ("corpus.jsonl", lines([{**CORPUS[0], "_id": True}]), "row 1, field _id"),
        ("corpus.jsonl", lines([{**CORPUS[0], "_id": " "}]), "row 1, field _id: is empty"),
        ("corpus.jsonl", lines([{**CORPUS[0], "text": None}]), "row 1, field text"),
        ("corpus.jsonl", lines(CORPUS)[:-9], "corpus.jsonl, line 3: not valid JSON"),
        ("corpus.jsonl", "[1, 2]\n", "corpus.jsonl, row 1, field (row): not an object but 1"),
        ("corpus.jsonl", "", "corpus.jsonl: not valid JSON (empty)"),
        ("queries.jsonl", lines([*QUERIES, QUERIES[1]]), "row 3, field _id: 'q2' stands in an"),
        ("queries.jsonl", lines([{"_id": "q", "text": " \n"}]), "row 1, field text: is empty"),
        ("qrels/test.tsv", QRELS + "q1\td3\thigh\n", "row 5, field score: 'high' is no whole"),
        ("qrels/test.tsv", QRELS + "q1\td3\t0.5\n", "row 5, field score: '0.5' is no whole"),
        ("qrels/test.tsv", QRELS + "q1\td3\t\n", "row 5, field (row): 2 columns; expected"),
        ("qrels/test.tsv", QRELS + "q1\td3\n", "row 5, field (row): 2 columns; expected"),
        ("qrels/test.tsv", QRELS + "q1\t\t1\n", "row 5, field corpus-id: is missing"),
        ("qrels/test.tsv", QRELS + "q9\td3\t1\n", "row 5, field query-id: the query 'q9' is not"),
        ("qrels/test.tsv", QRELS + "q1\td1\t1\n", "row 5, field score: 1, but an earlier row"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n", "no row in test.tsv"),
        (
            "qrels/test.tsv",
            "query-id\ttext\tscore\n",
            "row 1, field corpus-id: names query-id, text",
        ),
        ("qrels/test.tsv", "qid\tquery\tdocid\tscore\n", "row 1, field query-id: names qid, query"),
        *(
            ("qrels/test.tsv", QRELS + f"q1\td3\t{grade}\n", "is no whole number")
            for grade in ("nan", "inf", "0x1", "1_000", "1e0", "١", str(10**30))
        ),
        ("queries.jsonl", lines([{"_id": "q", "text": "\u200b"}]), "row 1, field text: is empty"),
        ("queries.jsonl", '{"_id": "q1", "text": "a", "text": "b"}\n', "the key stands twice"),
    ],
)
def test_a_broken_file_of_beirs_layout_is_named(
    tmp_path: Path, file: str, text: str, message: str
) -> None:
    write(tmp_path, {**BEIR, file: text})
    with pytest.raises(SourceError) as caught:
        rows(tmp_path, beir.read, source(BEIR_PARTS))
    assert message in str(caught.value)
    assert Path(file).name in str(caught.value)
    assert not (tmp_path / "out.documents.jsonl").exists()


@pytest.mark.parametrize(
    ("part", "file", "text", "message"),
    [
        ("corpus", "corpus.csv", "", "part corpus: there is no row in corpus.csv"),
        ("corpus", "corpus.csv", "id,text\n", "part corpus: there is no row in corpus.csv"),
        (
            "qrels",
            "qrels.jsonl",
            lines([{"query-id": "q1", "corpus-id": True, "score": 1}]),
            "qrels.jsonl, row 1, field corpus-id: True is neither text nor whole number",
        ),
    ],
)
def test_a_broken_table_of_another_form_is_named(
    tmp_path: Path, part: str, file: str, text: str, message: str
) -> None:
    write(tmp_path, {**BEIR, file: text})
    with pytest.raises(SourceError, match=message):
        rows(tmp_path, beir.read, source({**BEIR_PARTS, part: Part((file,))}))


@pytest.mark.parametrize("order", list(permutations(["query-id", "corpus-id", "score"])))
def test_a_header_gives_the_order_of_the_judgements(tmp_path: Path, order: tuple[str, ...]) -> None:
    named, *judged = (line.split("\t") for line in QRELS.splitlines())
    table = [dict(zip(named, cells, strict=True)) for cells in judged]
    qrels = "\n".join(
        "\t".join(cells) for cells in [order, *([r[n] for n in order] for r in table)]
    )
    write(tmp_path, {**BEIR, "qrels/test.tsv": qrels})
    assert rows(tmp_path, beir.read, source(BEIR_PARTS)) == BEIR_ROWS


def test_a_document_without_a_text_is_counted(tmp_path: Path) -> None:
    """Some of BEIR's corpora have them, so verification decides."""
    write(tmp_path, {**BEIR, "corpus.jsonl": lines([*CORPUS, {"_id": "d4", "text": ""}])})
    found = convert(source(BEIR_PARTS), beir.read, None, tmp_path, tmp_path / "o")
    assert found["notes"] == {"documents without a text": 1}
    assert [(file["name"], file["rows"]) for file in found["files"]] == [
        ("corpus.jsonl", 4),
        ("queries.jsonl", 2),
        ("test.tsv", 4),
    ]


def test_scifact_is_complete(shared_data: Path, tmp_path: Path) -> None:
    counts = {}
    for split in ("test", "train"):
        asked = source(BEIR_PARTS, path=str(shared_data / "scifact"), split=split)
        found = rows(tmp_path, beir.read, asked)
        counts[split] = [
            sum(isinstance(row, kind) for row in found) for kind in (PoolDocument, PoolQuestion)
        ]
        asked_of = [row for row in found if isinstance(row, PoolQuestion)]
        counts[split].append(sum(len(row.gold) for row in asked_of))
    assert counts == {"test": [5183, 1109, 339], "train": [5183, 1109, 919]}


# ------------------------------------------------------------------------------- where files are


def test_the_first_pattern_that_matches_is_taken(tmp_path: Path) -> None:
    write(tmp_path, {"b.json": "{}", "a/2.json": "{}", "a/1.json": "{}"})
    folder = tmp_path / "in"
    one = {"papers": Part(("no.json", "a/*.json", "*.json"))}
    expected = {"papers": [folder / "a/1.json", folder / "a/2.json"]}
    assert locate(source(one), None, tmp_path) == expected
    assert locate(source(one, path="", name="in"), tmp_path, Path("/no")) == expected
    # The only part may be given as a file, and a file may lie anywhere.
    for found in (
        source(one, path="in/b.json"),
        source({"papers": Part((str(folder / "b.json"),))}),
    ):
        assert locate(found, None, tmp_path) == {"papers": [folder / "b.json"]}


def test_a_part_that_is_not_there_is_named_with_what_is(tmp_path: Path) -> None:
    write(tmp_path, {"corpus.jsonl": "", "queries.jsonl": "", "qrels/dev.tsv": ""})
    with pytest.raises(SourceError) as caught:
        locate(source(BEIR_PARTS), None, tmp_path)
    message = str(caught.value)
    assert "part qrels: no file matches qrels/test.tsv or qrels/test*.parquet in" in message
    assert "there: corpus.jsonl, qrels, qrels/dev.tsv, queries.jsonl" in message
    assert "sources.s.split=NAME" in message
    with pytest.raises(SourceError, match="no is no folder; it should hold corpus"):
        locate(source(BEIR_PARTS, path="no"), None, tmp_path)


def test_without_a_folder_or_a_hub_the_message_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        locate(source(OWN_PARTS, path="", name="own"), None, tmp_path)
    assert "-S mirror=FOLDER" in str(caught.value)
    assert "sources.own.path=FOLDER" in str(caught.value)


def test_a_local_file_is_held_against_its_digest(tmp_path: Path) -> None:
    write(tmp_path, BEIR)
    right = sha256(BEIR["corpus.jsonl"].encode()).hexdigest()
    assert locate(source(BEIR_PARTS, sha256={"corpus.jsonl": right}), None, tmp_path)
    with pytest.raises(SourceError, match=f"corpus.jsonl has sha256 {right}, expected 0000"):
        locate(source(BEIR_PARTS, sha256={"corpus.jsonl": "0" * 64}), None, tmp_path)


FETCH = """
import json, sys
from pathlib import Path
from bears.config import parse
from bears.sources.source import Source
from bears.sources.location import locate
found = locate(parse(Source, json.loads(sys.argv[1]), "s"), None, Path("."))
print(json.dumps({name: [path.read_text() for path in paths] for name, paths in found.items()}))
"""


def test_parts_come_from_the_hub(tmp_path: Path) -> None:
    """In a process of its own: the hub's client reads its environment when it is imported."""
    pin = {"hub": "BeIR/tiny", "revision": "1" * 40}
    # The judgements name their dataset, as those of BEIR's sets do.
    parts = {**BEIR_PARTS, "qrels": Part(("no.tsv", "{split}.tsv"), **pin)}
    asked = source(parts, path="", **pin)
    files = {"corpus.jsonl": "c", "queries.jsonl.gz": "q", "test.tsv": "t", "train.tsv": "r"}
    with serve(Hub("BeIR/tiny", "1" * 40, {n: t.encode() for n, t in files.items()})) as hub:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("HF_")},
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(tmp_path),
            "NO_PROXY": "127.0.0.1",
        }
        done = subprocess.run(
            [sys.executable, "-c", FETCH, json.dumps(dataclasses.asdict(asked))],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        assert "train.tsv" not in hub.downloads
    assert json.loads(done.stdout) == {"corpus": ["c"], "queries": ["q"], "qrels": ["t"]}


# ---------------------------------------------------------------------------------- our own format

OWN_DOCUMENTS = [
    Document("a", "Tea.", "drcd", "1-2", True, "g"),
    Document("b", "Coffee.", "2wiki", "x_y", False),
]
OWN_QUESTIONS = [
    Question("q", "Which?", "Tea", ("a",), "drcd", "single-hop"),
    Question(
        question_id="r",
        question="And now?",
        gold_answer="",
        gold_doc_ids=("a",),
        source_dataset="chat",
        question_type="ad-hoc",
        gold_grades=(3,),
        turns=(Turn("user", "Tea?"), Turn("assistant", "Yes.")),
        answers=(Answer("free-form", "Tea", ("a",)),),
        group="g",
    ),
    Question("n", "Hello!", "", (), "chat", "no-retrieval"),
]


def test_a_folder_in_our_own_format_is_taken_unchanged(tmp_path: Path) -> None:
    write_records(tmp_path / "in/queries.json", OWN_QUESTIONS)
    write_records(tmp_path / "in/corpus.json", OWN_DOCUMENTS)
    found = rows(tmp_path, own.read, source(OWN_PARTS))
    assert found == [*OWN_DOCUMENTS, *OWN_QUESTIONS]
    kinds = [row for row in found if isinstance(row, Document)]
    write_records(tmp_path / "again.json", kinds)
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "in/corpus.json").read_bytes()


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("corpus.json", lambda d: d + d, "row 3, field doc_id: 'a' stands in an earlier"),
        ("queries.json", lambda q: q + q, "row 4, field question_id: 'q' stands in an earlier"),
        ("queries.json", lambda q: [{**q[0], "question": ""}], "row 1, field question: is empty"),
        ("queries.json", lambda q: [{**q[0], "question": "\u200b\u3164"}], "question: is empty"),
        ("queries.json", lambda q: [{**q[0], "gold_grades": [10**30]}], "integer overflow"),
        ("queries.json", lambda q: [{**q[0], "gold": []}], "record 1: gold: "),
        *(
            ("queries.json", lambda q, g=g: [{**q[0], "gold_grades": [g]}], "gold_grades.0: ")
            for g in (0, -1, 7.0, True, 10**9)
        ),
        ("corpus.json", lambda d: [{**d[0], "is_gold": "yes"}], "record 1: is_gold: "),
        ("corpus.json", lambda d: d[0], "expected a JSON array"),
    ],
)
def test_a_broken_file_of_our_own_is_named(
    tmp_path: Path, file: str, change: Callable[[Any], Any], message: str
) -> None:
    write_records(tmp_path / "in/queries.json", OWN_QUESTIONS)
    write_records(tmp_path / "in/corpus.json", OWN_DOCUMENTS)
    path = tmp_path / "in" / file
    path.write_text(json.dumps(change(json.loads(path.read_text()))), encoding="utf-8")
    with pytest.raises((FormatError, MalformedRow)) as caught:
        rows(tmp_path, own.read, source(OWN_PARTS))
    assert message in str(caught.value)
    assert file in str(caught.value)


# -------------------------------------------------------------------------------- PandaChat's file

PAGE = "Čaj<p>Kaj je čaj?<p>Listi v vodi.<p>Kdaj ga piti? Zjutraj. Kaj je čaj? Listi."
PAGE_WITHOUT = "Čaj<p><p>Listi v vodi.<p> Zjutraj.  Listi."
PANDA: Rows = [
    {"query": "Kaj je čaj?", "answer": "Listi v vodi.", "document": "web.1", "text": PAGE},
    {"query": "Kdaj ga piti?", "answer": "Zjutraj.", "document": "web.1", "text": PAGE},
    {"query": "Kje?", "answer": "Tu.", "document": "web.2", "text": "Kje?<p>Tu."},
]
PANDA_ROWS = [
    PoolDocument("web.1", PAGE_WITHOUT),
    PoolDocument("web.2", "<p>Tu."),
    # uuid5(NAMESPACE_DNS, "q:s:Kaj je čaj?") and so on.
    PoolQuestion(
        "5c7019e5-e336-567e-9d82-e937dc6bdda7", "Kaj je čaj?", "Listi v vodi.", (("web.1", 1),)
    ),
    PoolQuestion(
        "a8e86a30-3cfa-5b7f-a26c-b595bdcba805", "Kdaj ga piti?", "Zjutraj.", (("web.1", 1),)
    ),
    PoolQuestion("3c534f8b-1860-51e9-bc00-18196bf067c0", "Kje?", "Tu.", (("web.2", 1),)),
]


@pytest.mark.parametrize("given", [True, False])
def test_a_page_is_indexed_without_any_question_asked_of_it(tmp_path: Path, given: bool) -> None:
    content: Rows = [{**row, "multi_questions_doc": float("nan")} for row in PANDA]
    if given:
        texts = {"web.1": PAGE_WITHOUT, "web.2": "<p>Tu."}
        content = [{**row, "text_without_Q": texts[row["document"]]} for row in content]
    text = json.dumps(content)
    assert "NaN" in text
    write(tmp_path, {"p.json": text})
    assert rows(tmp_path, pandachat.read, source(PANDA_PARTS)) == PANDA_ROWS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([*PANDA, PANDA[0]], "row 4, field query: 'Kaj je čaj?' stands in an earlier row too"),
        ([PANDA[0], {**PANDA[1], "text": "x"}], "row 2, field text_without_Q: the page 'web.1'"),
        ([{**PANDA[0], "query": float("nan")}], "row 1, field query: "),
        ([{**PANDA[0], "text": " "}], "row 1, field text: is empty"),
        (without(PANDA[0], "document"), "row 1, field document: Field required"),
        ({"df": PANDA}, "expected a JSON array of rows, found dict"),
        ([], "there is no row in "),
    ],
)
def test_a_broken_file_of_pandachat_is_named(tmp_path: Path, content: Any, message: str) -> None:
    write(tmp_path, {"p.json": json.dumps(content)})
    with pytest.raises(SourceError) as caught:
        rows(tmp_path, pandachat.read, source(PANDA_PARTS))
    assert message in str(caught.value)


def test_a_cut_file_of_pandachat_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"p.json": json.dumps(PANDA)[:-9]})
    with pytest.raises(SourceError, match=r"p\.json: not valid JSON .* truncated or damaged"):
        rows(tmp_path, pandachat.read, source(PANDA_PARTS))


def test_the_rule_gives_the_published_text_of_every_page(shared_data: Path, tmp_path: Path) -> None:
    """`text_without_Q` of all 206 rows can be made from `text` and the page's questions."""
    panda = source(PANDA_PARTS, name="pandachat", language="sl")
    asked = dataclasses.replace(panda, path=str(shared_data / "pandachat"))
    published = rows(tmp_path, pandachat.read, asked)
    [path] = (shared_data / "pandachat").glob("*.json")
    content = json.loads(path.read_bytes())
    bare = [{k: v for k, v in row.items() if k != "text_without_Q"} for row in content]
    write(tmp_path, {"p.json": json.dumps(bare)})
    assert rows(tmp_path, pandachat.read, panda) == published

    documents = [row for row in published if isinstance(row, PoolDocument)]
    questions = [row for row in published if isinstance(row, PoolQuestion)]
    assert (len(documents), len(questions)) == (160, 206)
    texts = {document.id: document.text for document in documents}
    assert not [q for q in questions if q.question in texts[q.gold[0][0]]]


# ---------------------------------------------------------------------------------- Korean science

KO_DOCUMENTS: Rows = [
    {"docid": "k1", "src": "ko_mmlu", "content": "수소는 가볍다."},
    {"docid": "k2", "src": "ko_arc", "content": "산소는 무겁다."},
]
ASKED = [{"role": "user", "content": "수소가 뭐야?"}]
TALK = [
    {"role": "user", "content": "수소 알아?"},
    {"role": "assistant", "content": "네."},
    {"role": "user", "content": "무거워?"},
]
KO: Rows = [
    {"val_id": 0, "doc_id": "k1", "msg": ASKED},
    {"eval_id": 7, "doc_id": ["k2", "k1", "k2"], "msg": TALK},
    {"eval_id": "x", "doc_id": None, "msg": ASKED},
    {"eval_id": 9, "doc_id": [], "msg": ASKED},
    {"eval_id": 10, "doc_id": "", "msg": ASKED},
    {"eval_id": 11, "ground_truth_doc_id": "k2", "msg": ASKED},
]
TURNS = (Turn("user", "수소 알아?"), Turn("assistant", "네."))


def korean(folder: Path, questions: str, **more: Any) -> list[Any]:
    write(folder, {"documents.jsonl": lines(KO_DOCUMENTS), "test.jsonl": questions})
    return rows(folder, science_ko.read, source(KO_PARTS, language="ko", **more))


def test_conversations_with_one_gold_document_several_or_none(tmp_path: Path) -> None:
    assert korean(tmp_path, lines(KO)) == [
        PoolDocument("k1", "수소는 가볍다."),
        PoolDocument("k2", "산소는 무겁다."),
        PoolQuestion("0", "수소가 뭐야?", gold=(("k1", 1),)),
        PoolQuestion("7", "무거워?", gold=(("k2", 1), ("k1", 1)), turns=TURNS),
        PoolQuestion("x", "수소가 뭐야?"),
        PoolQuestion("9", "수소가 뭐야?"),
        PoolQuestion("10", "수소가 뭐야?"),
        PoolQuestion("11", "수소가 뭐야?", gold=(("k2", 1),)),
    ]


def test_conversations_without_gold_are_not_judged(tmp_path: Path) -> None:
    bare = [{"eval_id": 7, "msg": TALK}]
    found = korean(tmp_path, lines(bare), settings={"judged": False})
    assert found[2:] == [PoolQuestion("7", "무거워?", turns=TURNS, judged=False)]
    with pytest.raises(MalformedRow, match=r"row 1, field doc_id: is missing; null says that no"):
        korean(tmp_path, lines(bare))
    with pytest.raises(ConfigurationError, match=r"sources\.s\.settings\.judge: "):
        korean(tmp_path, lines(bare), settings={"judge": False})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**KO[0], "msg": []}, "field msg: does not end with a message of the user"),
        ({**KO[0], "msg": TALK[:2]}, "field msg: does not end with a message of the user"),
        ({**KO[0], "msg": [{"role": "user", "content": " "}]}, "field msg: does not end"),
        ({**KO[0], "msg": [{"role": "user"}]}, "field msg.0.content: Field required"),
        ({**KO[0], "msg": "수소가 뭐야?"}, "field msg: "),
        ({"doc_id": "k1", "msg": ASKED}, "field eval_id: neither it nor val_id is there"),
        ({**KO[0], "doc_id": 5}, "field doc_id"),
        ({**KO[0], "doc_id": [None]}, "field doc_id"),
        (KO[0], "field eval_id: '0' stands in an earlier row too"),
    ],
)
def test_a_broken_conversation_is_named(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(MalformedRow) as caught:
        korean(tmp_path, lines([KO[0], row]))
    assert f"test.jsonl, row 2, {message}" in str(caught.value)


def test_the_korean_task_is_complete(shared_data: Path, tmp_path: Path) -> None:
    folder = str(shared_data / "science_ko")
    asked = source(KO_PARTS, language="ko", path=folder, split="validation_eval_199_with_docid")
    found = rows(tmp_path, science_ko.read, asked)
    ids = {row.id for row in found if isinstance(row, PoolDocument)}
    questions = [row for row in found if isinstance(row, PoolQuestion)]
    assert (len(ids), len(questions)) == (4272, 199)
    assert all(len(question.gold) == 1 and question.gold[0][0] in ids for question in questions)
    settings = {"judged": False}
    task = source(KO_PARTS, language="ko", path=folder, split="eval", settings=settings)
    questions = [r for r in rows(tmp_path, science_ko.read, task) if isinstance(r, PoolQuestion)]
    assert len(questions) == 220
    assert sorted(len(question.turns) for question in questions) == [0] * 200 + [2] * 20


# ----------------------------------------------------------- through the stages, up to `verify`


@dataclasses.dataclass
class Stages:
    """The stages from `download` to `verify`, run by hand into a folder of the test's own."""

    folder: Path
    words: list[str]

    def run(self, stage: str, **paths: str) -> int:
        options = [f"--{name}={self.folder / path}" for name, path in paths.items()]
        return run(stage, import_module(f"stages.{stage}").main, [*self.words, *options])

    def download(self) -> int:
        return self.run("download", rows="rows", provenance="sources.json")

    def sample(self) -> int:
        return self.run("sample", rows="rows", out="sampled")

    def translate(self) -> int:
        (self.folder / "memory.jsonl").touch()
        return self.run("translate", sampled="sampled", memory="memory.jsonl", out="translated")

    def verify(self) -> int:
        return self.run(
            "verify", sampled="sampled", translated="translated", out="verified", metrics="v.json"
        )

    def all(self) -> int:
        return self.download() or self.sample() or self.translate() or self.verify()

    def read(self, path: str) -> Any:
        return json.loads((self.folder / path).read_bytes())

    def findings(self) -> list[tuple[str, str, str]]:
        content = (self.folder / "verified/findings.jsonl").read_text(encoding="utf-8")
        rows = [json.loads(line) for line in content.split("\n")[:-1]]
        return [(row["check"], row["severity"], row["record_id"]) for row in rows]


@pytest.fixture
def stages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Stages]:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.delenv("DVC_ROOT", raising=False)
    return lambda *words: Stages(tmp_path, list(words))


By = Callable[..., Stages]


def test_a_users_folder_goes_through_untouched(tmp_path: Path, stages: By) -> None:
    write(tmp_path, BEIR)
    by_hand = stages("benchmark=beir", f"sources.beir.path={tmp_path / 'in'}")
    assert by_hand.all() == 0
    assert by_hand.findings() == []
    for name in ("queries", "corpus"):
        sampled = (tmp_path / f"sampled/{name}_raw.json").read_bytes()
        assert (tmp_path / f"translated/{name}.json").read_bytes() == sampled
    assert by_hand.read("translated/queries.json") == [
        {
            "question_id": "q1",
            "question": "what is tea?",
            "gold_answer": "",
            "gold_doc_ids": ["d1"],
            "source_dataset": "beir",
            "question_type": "ad-hoc",
            "gold_grades": [2],
        },
        {
            "question_id": "q2",
            "question": "titles",
            "gold_answer": "",
            "gold_doc_ids": [],
            "source_dataset": "beir",
            "question_type": "ad-hoc",
            "judged": False,
        },
    ]
    assert by_hand.read("sampled/notes.json")["judged_without_relevant"] == 1


def test_a_path_may_be_relative_to_the_users_checkout(
    tmp_path: Path, stages: By, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A temporary workspace of DVC has only what git has."""
    write(tmp_path / "checkout", BEIR)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path / "checkout"))
    assert stages("benchmark=beir", "sources.beir.path=in").download() == 0


def test_what_is_wrong_with_the_benchmark_is_found(tmp_path: Path, stages: By) -> None:
    repeated = {"_id": "d4", "text": "A number for an id."}
    empty = {"_id": "d5", "text": ""}
    files = {
        "corpus.jsonl": lines([*CORPUS, repeated, empty]),
        "qrels/test.tsv": QRELS + "q2\tnowhere\t1\n",
    }
    write(tmp_path, {**BEIR, **files})
    by_hand = stages("benchmark=beir", f"sources.beir.path={tmp_path / 'in'}")
    assert by_hand.all() == 1
    assert by_hand.findings() == [
        ("gold_not_in_pool", "error", "q2"),
        ("duplicate_content", "accepted", "d4"),
        ("empty", "accepted", "d5"),
    ]


def test_another_language_can_be_asked_for(
    tmp_path: Path, stages: By, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, BEIR)
    words = ("benchmark=beir", f"sources.beir.path={tmp_path / 'in'}")
    by_hand = stages(*words, "benchmark.language=zh-Hant-TW")
    assert (by_hand.download(), by_hand.sample()) == (0, 0)
    assert by_hand.translate() == 1
    assert "translations into zh-Hant-TW by published (3 content" in capsys.readouterr().err
    assert stages(*words, "benchmark.language=jp").translate() == 1
    assert "benchmark.language is 'jp'" in capsys.readouterr().err
    # In its own language there is nothing to translate.
    assert stages(*words, "sources.beir.language=zh-Hant-TW").translate() == 0


def test_the_published_bears_by_its_path_is_the_same_to_the_byte(
    shared_data: Path, tmp_path: Path, stages: By
) -> None:
    folder = shared_data / "bears-published"
    by_hand = stages(
        "benchmark=own", f"sources.own.path={folder}", "sources.own.language=zh-Hant-TW"
    )
    assert by_hand.all() == 0
    for name in ("queries.json", "corpus.json"):
        assert (tmp_path / "translated" / name).read_bytes() == (folder / name).read_bytes()


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("", "sources.own.language is ''; expected the language of the texts"),
        ("jp", "sources.own.language is 'jp'; expected the language"),
        ("en", "99% of the first 300 documents do not look so (CJK/HAN script)"),
        ("zh-Hans", "of the first 300 documents do not look so (traditional characters)"),
    ],
)
def test_a_language_that_the_documents_are_not_in_is_refused(
    shared_data: Path,
    tmp_path: Path,
    stages: By,
    capsys: pytest.CaptureFixture[str],
    language: str,
    message: str,
) -> None:
    path = f"sources.own.path={shared_data / 'bears-published'}"
    assert stages("benchmark=own", path, f"sources.own.language={language}").download() == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "rows/own.documents.jsonl").exists()


def test_some_documents_in_another_language_are_told(
    tmp_path: Path, stages: By, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = [{"_id": f"f{n}", "text": "茶葉在水中。"} for n in range(2)]
    write(tmp_path, {**BEIR, "corpus.jsonl": lines([*CORPUS, *foreign])})
    by_hand = stages("benchmark=beir", f"sources.beir.path={tmp_path / 'in'}")
    assert by_hand.download() == 0
    message = "warning: source beir: its language is en, but 40% of the first 5 documents do not"
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("benchmark", "questions", "documents", "gold", "accepted"),
    [
        ("scifact", 300, 5183, 339, 0),
        ("science-ko", 199, 4272, 199, 6),
        ("science-ko-eval", 220, 4272, 0, 6),
        ("pandachat-sl", 206, 160, 206, 0),
        ("qasper", 39, 741, 48, 0),
    ],
)
def test_a_real_benchmark_goes_through(
    shared_data: Path,
    stages: By,
    benchmark: str,
    questions: int,
    documents: int,
    gold: int,
    accepted: int,
) -> None:
    by_hand = stages(f"benchmark={benchmark}", f"mirror={shared_data}")
    assert by_hand.all() == 0
    found = by_hand.read("translated/queries.json")
    assert len(found) == questions
    assert len(by_hand.read("translated/corpus.json")) == documents
    assert sum(len(question["gold_doc_ids"]) for question in found) == gold
    # Texts of another language are told of: QASPER's papers quote Japanese and Chinese.
    found = [severity for check, severity, _ in by_hand.findings() if check != "language"]
    assert found == ["accepted"] * accepted
