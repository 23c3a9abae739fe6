"""Sources that are benchmarks already: each shape, broken in each way, and the real files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bears.config.shape import Part, Source
from bears.errors import FormatError, MalformedRow, SourceError
from bears.files.records import read_json, read_lines, write_records
from bears.files.rows import open_rows
from bears.sources import beir, location, pandachat, science_ko
from bears.sources.convert import convert
from bears.sources.folder.read import read_own
from bears.sources.location import locate
from bears.sources.parts import Reader, own_question, pool_document, pool_question
from bears.types import Answer, Document, Question, SourceQuestion, Turn
from stages import download, sample, translate, verify
from tests.desk import Desk, checkout
from tests.sources.files import Row, Rows, array, lines, put, without

Files = dict[str, str | bytes]
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


def write(folder: Path, files: Files) -> None:
    put(folder / "in", files)


def rows(folder: Path, reader: Reader, given: Source) -> list[Any]:
    """Return the records of a source, which can be read back."""
    convert(given, reader, None, folder, folder / "out")
    found = open_rows(folder, "out")
    return [*found.documents, *(replace(each, row=0) for each in found.questions)]


document, question = partial(pool_document, "s"), partial(pool_question, "s")


# ---------------------------------------------------------------------------------- BEIR's layout

CORPUS: Rows = [
    {"_id": "d1", "title": "Tea", "text": "Leaves in water.", "metadata": {}},
    {"_id": "d2", "title": "", "text": "No title.\u2028One line."},
    {"_id": 3, "text": "A number for an id."},
]
QUERIES: Rows = [{"_id": "q1", "text": "what is tea?"}, {"_id": "q2", "text": "titles"}]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\t3\t-1\n"
BEIR: Files = {
    "corpus.jsonl": lines(CORPUS),
    "queries.jsonl": lines(QUERIES),
    "qrels/test.tsv": QRELS,
}
BEIR_ROWS = [
    document("d1", "Tea Leaves in water."),
    document("d2", "No title.\u2028One line."),
    document("3", "A number for an id."),
    question("q1", "what is tea?", gold={"d1": 2}, not_relevant=(("d2", 0),)),
    question("q2", "titles", judged=False, lacks="relevant", not_relevant=(("3", -1),)),
]


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
        "score\tcorpus-id\tquery-id\n2\td1\tq1\n0\td2\tq1\n-1\t3\tq2\n",
        "docid\tqid\trel\nd1\tq1\t2\nd2\tq1\t0\n3\tq2\t-1\n",
    ],
    ids=["header", "bare", "windows", "trec", "spaces", "floats", "repeated", "order", "names"],
)
def test_a_folder_in_beirs_layout(tmp_path: Path, qrels: str) -> None:
    write(tmp_path, {**BEIR, "qrels/test.tsv": qrels})
    found = rows(tmp_path, beir.read_beir, source(BEIR_PARTS))
    assert found == BEIR_ROWS


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("corpus.jsonl", lines([*CORPUS, CORPUS[0]]), "row 4, field _id: 'd1' is in an"),
        ("corpus.jsonl", lines([without(CORPUS[0], "_id")]), "row 1, field _id: Field required"),
        ("corpus.jsonl", lines([without(CORPUS[0], "text")]), "row 1, field text: Field required"),
        ("corpus.jsonl", lines([{**CORPUS[0], "_id": " "}]), "row 1, field _id: is empty"),
        ("corpus.jsonl", "[1, 2]\n", "corpus.jsonl, row 1, field (row): not an object but 1"),
        ("queries.jsonl", lines([*QUERIES, QUERIES[1]]), "row 3, field _id: 'q2' is in an"),
        ("queries.jsonl", lines([{"_id": "q", "text": " \n"}]), "row 1, field text: is empty"),
        ("qrels/test.tsv", QRELS + "q1\td3\thigh\n", "row 5, field score: 'high' is not a whole"),
        ("qrels/test.tsv", QRELS + "q1\td3\t0.5\n", "row 5, field score: '0.5' is not a whole"),
        ("qrels/test.tsv", QRELS + "q1\td3\n", "row 5, field (row): 2 columns; expected"),
        ("qrels/test.tsv", QRELS + "q1\t\t1\n", "row 5, field corpus-id: is missing"),
        ("qrels/test.tsv", QRELS + "q9\td3\t1\n", "row 5, field query-id: the query 'q9' is not"),
        ("qrels/test.tsv", QRELS + "q1\td1\t1\n", "row 5, field score: 1, but an earlier row"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n", "no row in test.tsv"),
        ("qrels/test.tsv", "query-id\ttext\tscore\nq1\td1\t1\n", "row 2, field corpus-id: is miss"),
        *(
            ("qrels/test.tsv", QRELS + f"q1\td3\t{grade}\n", "is not a whole number")
            for grade in ("nan", "1_000", "١", str(10**30))
        ),
        ("queries.jsonl", lines([{"_id": "q", "text": "\u200b"}]), "row 1, field text: is empty"),
        ("queries.jsonl", '{"_id": "q1", "text": "a", "text": "b"}\n', "a key is repeated"),
        ("corpus.csv", "id,text\n", "part corpus: there is no row in corpus.csv"),
        (
            "qrels.jsonl",
            lines([{"query-id": "q1", "corpus-id": True, "score": 1}]),
            "row 1, field corpus-id: True is neither text nor a whole number",
        ),
    ],
)
def test_a_broken_file_of_beirs_layout_is_named(
    tmp_path: Path, file: str, text: str | bytes, message: str
) -> None:
    write(tmp_path, {**BEIR, file: text})
    part = re.split(r"[./]", file)[0]
    with pytest.raises(SourceError) as caught:
        rows(tmp_path, beir.read_beir, source({**BEIR_PARTS, part: Part((file,))}))
    assert message in str(caught.value)
    assert Path(file).name in str(caught.value)
    assert not (tmp_path / "out.documents.jsonl").exists()


@pytest.mark.slow
def test_the_training_half_of_scifact_is_complete(shared_data: Path, tmp_path: Path) -> None:
    path = str(shared_data / "scifact")
    found = rows(tmp_path, beir.read_beir, source(BEIR_PARTS, path=path, split="train"))
    asked = [row.question for row in found if isinstance(row, SourceQuestion)]
    gold = sum(len(each.gold_doc_ids) for each in asked)
    assert [len(found) - len(asked), len(asked), gold] == [5183, 1109, 919]


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
    # A file that is not called after a split is not found by another one.
    with pytest.raises(SourceError) as caught:
        locate(source({**BEIR_PARTS, "corpus": Part(("no.jsonl",))}), None, tmp_path)
    assert "part corpus: no file matches no.jsonl in" in str(caught.value)
    assert "split=NAME" not in str(caught.value)
    with pytest.raises(SourceError, match="no is not a folder; it should hold corpus"):
        locate(source(BEIR_PARTS, path="no"), None, tmp_path)


def test_without_a_folder_or_a_hub_the_message_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        locate(source(OWN_PARTS, path="", name="own"), None, tmp_path)
    assert "-S mirror=FOLDER" in str(caught.value)
    assert "sources.own.path=FOLDER" in str(caught.value)


def test_parts_come_from_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pin = {"hub": "BeIR/tiny", "revision": "1" * 40}
    # The judgements name their dataset, like those of BEIR's sets.
    parts = {**BEIR_PARTS, "qrels": Part(("no.tsv", "{split}.tsv"), "BeIR/tiny-qrels", "2" * 40)}
    there = {
        "BeIR/tiny": ["corpus.jsonl", "queries.jsonl.gz"],
        "BeIR/tiny-qrels": ["test.tsv", "train.tsv"],
    }
    for name in (*there["BeIR/tiny"], *there["BeIR/tiny-qrels"]):
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(location, "fetched", lambda hub, *_: (tmp_path, there[hub]))
    found = locate(source(parts, path="", **pin), None, tmp_path, tmp_path / "kept")
    assert {name: [path.name for path in paths] for name, paths in found.items()} == {
        "corpus": ["corpus.jsonl"],
        "queries": ["queries.jsonl.gz"],
        "qrels": ["test.tsv"],
    }
    seen = json.loads((tmp_path / "kept/fetched.json").read_text())
    assert [*seen] == [
        f"BeIR/tiny-qrels@{'2' * 40}/test.tsv",
        f"BeIR/tiny@{'1' * 40}/corpus.jsonl",
        f"BeIR/tiny@{'1' * 40}/queries.jsonl.gz",
    ]


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
    found = rows(tmp_path, read_own, source(OWN_PARTS))
    assert found == [*OWN_DOCUMENTS, *map(own_question, OWN_QUESTIONS)]


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("corpus.json", lambda d: d + d, "row 3, field doc_id: 'a' is in an earlier"),
        ("queries.json", lambda q: q + q, "row 4, field question_id: 'q' is in an earlier"),
        ("queries.json", lambda q: [{**q[0], "question": ""}], "row 1, field question: is empty"),
        ("queries.json", lambda q: [{**q[0], "gold": []}], "record 1: gold: "),
        ("corpus.json", lambda d: d[0], "expected a JSON array"),
    ],
)
def test_a_broken_file_of_our_own_is_named(
    tmp_path: Path, file: str, change: Callable[[Any], Any], message: str
) -> None:
    write_records(tmp_path / "in/queries.json", OWN_QUESTIONS)
    write_records(tmp_path / "in/corpus.json", OWN_DOCUMENTS)
    path = tmp_path / "in" / file
    path.write_bytes(array(change(json.loads(path.read_bytes()))))
    with pytest.raises((FormatError, MalformedRow)) as caught:
        rows(tmp_path, read_own, source(OWN_PARTS))
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
    document("web.1", PAGE_WITHOUT),
    document("web.2", "<p>Tu."),
    # uuid5(NAMESPACE_DNS, "q:s:Kaj je čaj?") and so on.
    question("5c7019e5-e336-567e-9d82-e937dc6bdda7", "Kaj je čaj?", "Listi v vodi.", {"web.1": 1}),
    question("a8e86a30-3cfa-5b7f-a26c-b595bdcba805", "Kdaj ga piti?", "Zjutraj.", {"web.1": 1}),
    question("3c534f8b-1860-51e9-bc00-18196bf067c0", "Kje?", "Tu.", {"web.2": 1}),
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
    assert rows(tmp_path, pandachat.read_pandachat, source(PANDA_PARTS)) == PANDA_ROWS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([*PANDA, PANDA[0]], "row 4, field query: 'Kaj je čaj?' is in an earlier row too"),
        ([PANDA[0], {**PANDA[1], "text": "x"}], "row 2, field text: the page 'web.1'"),
        ([{**PANDA[0], "query": float("nan")}], "row 1, field query: "),
        ([{**PANDA[0], "text": " "}], "row 1, field text: is empty"),
        ([without(PANDA[0], "document")], "row 1, field document: Field required"),
        ({"df": PANDA}, "field query: Field required; there: df"),
        ([], "there is no row in "),
    ],
)
def test_a_broken_file_of_pandachat_is_named(tmp_path: Path, content: Any, message: str) -> None:
    write(tmp_path, {"p.json": json.dumps(content)})
    with pytest.raises(SourceError) as caught:
        rows(tmp_path, pandachat.read_pandachat, source(PANDA_PARTS))
    assert message in str(caught.value)


def test_the_rule_gives_the_published_text_of_every_page(shared_data: Path, tmp_path: Path) -> None:
    """`text_without_Q` of all 206 rows can be made from `text` and the page's questions."""
    panda = source(PANDA_PARTS, name="pandachat", language="sl")
    asked = replace(panda, path=str(shared_data / "pandachat"))
    published = rows(tmp_path, pandachat.read_pandachat, asked)
    [path] = (shared_data / "pandachat").glob("*.json")
    content = json.loads(path.read_bytes())
    bare = [{k: v for k, v in row.items() if k != "text_without_Q"} for row in content]
    write(tmp_path, {"p.json": json.dumps(bare)})
    assert rows(tmp_path, pandachat.read_pandachat, panda) == published

    texts = {row.doc_id: row.content for row in published if isinstance(row, Document)}
    questions = [row.question for row in published if isinstance(row, SourceQuestion)]
    assert (len(texts), len(questions)) == (160, 206)
    assert not [q for q in questions if q.question in texts[q.gold_doc_ids[0]]]


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


def korean(folder: Path, questions: Rows) -> list[Any]:
    write(folder, {"documents.jsonl": lines(KO_DOCUMENTS), "test.jsonl": lines(questions)})
    return rows(folder, science_ko.read_science_ko, source(KO_PARTS, language="ko"))


def test_conversations_with_one_gold_document_several_or_none(tmp_path: Path) -> None:
    assert korean(tmp_path, KO) == [
        document("k1", "수소는 가볍다."),
        document("k2", "산소는 무겁다."),
        question("0", "수소가 뭐야?", gold={"k1": 1}),
        question("7", "무거워?", gold={"k2": 1, "k1": 1}, turns=TURNS),
        question("x", "수소가 뭐야?"),
        question("9", "수소가 뭐야?"),
        question("10", "수소가 뭐야?"),
        question("11", "수소가 뭐야?", gold={"k2": 1}),
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**KO[0], "msg": []}, "field msg: does not end with a message of the user"),
        ({**KO[0], "msg": TALK[:2]}, "field msg: does not end with a message of the user"),
        ({**KO[0], "msg": [{"role": "user", "content": " "}]}, "field msg: does not end"),
        ({**KO[0], "msg": [{"role": "user"}]}, "field msg.0.content: Field required"),
        ({**KO[0], "msg": "수소가 뭐야?"}, "field msg: "),
        ({"doc_id": "k1", "msg": ASKED}, "field eval_id: Field required"),
        ({"eval_id": 7, "msg": TALK}, "field doc_id: is missing; null means that no"),
        ({**KO[0], "doc_id": 5}, "field doc_id"),
        ({**KO[0], "doc_id": [None]}, "field doc_id"),
        (KO[0], "field eval_id: '0' is in an earlier row too"),
    ],
)
def test_a_broken_conversation_is_named(tmp_path: Path, row: Row, message: str) -> None:
    with pytest.raises(MalformedRow) as caught:
        korean(tmp_path, [KO[0], row])
    assert f"test.jsonl, row 2, {message}" in str(caught.value)


def test_the_korean_task_is_complete(shared_data: Path, tmp_path: Path) -> None:
    folder = str(shared_data / "science_ko")
    asked = source(KO_PARTS, language="ko", path=folder, split="validation_eval_199_with_docid")
    found = rows(tmp_path, science_ko.read_science_ko, asked)
    ids = {row.doc_id for row in found if isinstance(row, Document)}
    gold = [row.question.gold_doc_ids for row in found if isinstance(row, SourceQuestion)]
    assert (len(ids), len(gold)) == (4272, 199)
    assert all(len(each) == 1 and each[0] in ids for each in gold)
    settings = {"judged": False}
    task = source(KO_PARTS, language="ko", path=folder, split="eval", settings=settings)
    found = rows(tmp_path, science_ko.read_science_ko, task)
    questions = [row.question for row in found if isinstance(row, SourceQuestion)]
    assert sorted(len(each.turns) for each in questions) == [0] * 200 + [2] * 20
    assert not any(each.judged or each.gold_doc_ids for each in questions)


# ----------------------------------------------------------- through the stages, up to `verify`


PROGRAMS = {"download": download, "sample": sample, "translate": translate, "verify": verify}
By = Callable[..., Desk]


@pytest.fixture
def stages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> By:
    """Return a function that makes a desk with these overrides."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.delenv("DVC_ROOT", raising=False)
    checkout(tmp_path / "desk")
    return lambda *words: Desk(tmp_path / "desk", words)


def through(at: Desk, code: int = 0) -> Path:
    """Run all stages, of which the last ends with this status; return the benchmark's folder."""
    benchmark = at.overrides[0].removeprefix("benchmark=")
    memory = at.root / "data/memory"
    (memory / "made").mkdir(parents=True)
    (memory / f"{benchmark}.jsonl").touch()
    for name, program in PROGRAMS.items():
        at.stage(name, program.main, code=code if name == "verify" else 0)
    return at.root / "data" / benchmark


def findings(folder: Path) -> list[tuple[str, str, str]]:
    rows = read_lines(folder / "verified/findings.jsonl")
    return [(row["check"], row["severity"], row["record_id"]) for _, row in rows]


def test_a_users_folder_goes_through_untouched(tmp_path: Path, stages: By) -> None:
    write(tmp_path, BEIR)
    folder = through(stages("benchmark=beir", f"sources.beir.path={tmp_path / 'in'}"))
    assert findings(folder) == []
    for name in ("queries", "corpus"):
        sampled = (folder / f"sampled/{name}_raw.json").read_bytes()
        assert (folder / f"translated/{name}.json").read_bytes() == sampled
    usual = {"gold_answer": "", "source_dataset": "beir", "question_type": "ad-hoc"}
    first = {"question_id": "q1", "question": "what is tea?", "gold_doc_ids": ["d1"]}
    second = {"question_id": "q2", "question": "titles", "gold_doc_ids": []}
    assert read_json(folder / "translated/queries.json") == [
        {**usual, **first, "gold_grades": [2], "not_relevant": [["d2", 0]]},
        {**usual, **second, "judged": False, "not_relevant": [["3", -1]]},
    ]
    assert read_json(folder / "sampled/notes.json")["judged_without_relevant"] == 1


def test_a_path_may_be_relative_to_the_users_checkout(
    tmp_path: Path, stages: By, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A temporary workspace of DVC has only what git has."""
    write(tmp_path / "checkout", BEIR)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path / "checkout"))
    stages("benchmark=beir", "sources.beir.path=in").stage("download", download.main)


def test_what_is_wrong_with_the_benchmark_is_found(tmp_path: Path, stages: By) -> None:
    repeated = {"_id": "d4", "text": "A number for an id."}
    empty = {"_id": "d5", "text": ""}
    files: Files = {
        "corpus.jsonl": lines([*CORPUS, repeated, empty]),
        "qrels/test.tsv": QRELS + "q2\tnowhere\t1\n",
    }
    write(tmp_path, {**BEIR, **files})
    by_hand = stages("benchmark=beir", f"sources.beir.path={tmp_path / 'in'}")
    folder = through(by_hand, code=1)
    [read] = read_json(by_hand.root / "data/raw/beir/sources.json")
    assert read["notes"] == {"documents without a text": 1}
    assert [file["rows"] for file in read["files"]] == [5, 2, 5]
    # Some of BEIR's corpora have such documents, so they are accepted.
    assert findings(folder) == [
        ("gold_not_in_pool", "error", "q2"),
        ("duplicate_content", "accepted", "d4"),
        ("empty", "accepted", "d5"),
    ]


@pytest.mark.slow
def test_another_language_can_be_asked_for(tmp_path: Path, stages: By) -> None:
    write(tmp_path, BEIR)
    at = stages("benchmark=beir", f"sources.beir.path={tmp_path / 'in'}")
    through(at)
    told = at.stage("translate", translate.main, "benchmark.language=zh-Hant-TW", code=1)
    assert "translations into zh-Hant-TW by published (3 content" in told
    told = at.stage("translate", translate.main, "benchmark.language=jp", code=1)
    assert "benchmark.language is 'jp'" in told
    # In its own language there is nothing to translate.
    at.stage("translate", translate.main, "sources.beir.language=zh-Hant-TW")


@pytest.mark.slow
def test_the_published_bears_by_its_path_is_the_same_to_the_byte(
    shared_data: Path, stages: By
) -> None:
    given = shared_data / "bears-published"
    words = (f"sources.own.path={given}", "sources.own.language=zh-Hant-TW")
    folder = through(stages("benchmark=own", *words))
    for name in ("queries.json", "corpus.json"):
        assert (folder / "translated" / name).read_bytes() == (given / name).read_bytes()


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
    shared_data: Path, stages: By, language: str, message: str
) -> None:
    path = f"sources.own.path={shared_data / 'bears-published'}"
    at = stages("benchmark=own", path, f"sources.own.language={language}")
    assert message in at.stage("download", download.main, code=1)
    assert not [*at.root.rglob("own.documents.jsonl")]


def test_some_documents_in_another_language_are_told(tmp_path: Path, stages: By) -> None:
    foreign = [{"_id": f"f{n}", "text": "茶葉在水中。"} for n in range(2)]
    write(tmp_path, {**BEIR, "corpus.jsonl": lines([*CORPUS, *foreign])})
    by_hand = stages("benchmark=beir", f"sources.beir.path={tmp_path / 'in'}")
    message = "warning: source beir: its language is en, but 40% of the first 5 documents do not"
    assert message in by_hand.stage("download", download.main)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("benchmark", "questions", "documents", "gold", "accepted"),
    [
        pytest.param("scifact", 300, 5183, 339, 0, marks=pytest.mark.slow),
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
    folder = through(stages(f"benchmark={benchmark}", f"mirror={shared_data}"))
    found = read_json(folder / "translated/queries.json")
    assert len(found) == questions
    assert len(read_json(folder / "translated/corpus.json")) == documents
    assert sum(len(question["gold_doc_ids"]) for question in found) == gold
    # QASPER's papers quote Japanese and Chinese, which gives warnings.
    found = [severity for check, severity, _ in findings(folder) if check != "language"]
    assert found == ["accepted"] * accepted
