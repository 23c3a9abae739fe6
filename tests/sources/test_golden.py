"""Golden sets beside a folder of documents, in the shapes that people keep them in."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook
from pyarrow import parquet

from bears.errors import SourceError
from bears.identity import identifier_of, path_of
from bears.sources.folder.named import Files
from bears.sources.folder.read import read_own
from bears.types import Question, SourceQuestion
from tests.sources.files import parts_of

DOCUMENTS = {
    "hr/Leave policy.md": "Employees get 24 days of paid leave each year. Unused days lapse.",
    "hr/remote_work.md": "Remote work is possible after 60 days. Core hours begin at ten.",
    "Ausgaben 2026.txt": "Belege sind ab 40 Euro nötig. Das Tagegeld beträgt 55 Euro.",
    "Überstunden/regeln.txt": "Überstunden werden im Folgemonat ausgeglichen. Der Betrieb ruht.",
    "安全/密碼.txt": "密碼至少要有十四個字元,而且每年更換一次。事件須在一小時內通報。",
}
GOLD = [
    ("How many days of leave are there?", "24 days", 0, "Employees get 24 days of paid leave"),
    ("When is remote work possible?", "after 60 days", 1, "Remote work is possible after 60 days."),
    ("Ab wann braucht man einen Beleg?", "ab 40 Euro", 2, "Belege sind ab 40 Euro nötig."),
    ("Wann werden Überstunden ausgeglichen?", "im Folgemonat", 3, "Überstunden werden im Fol"),
    ("密碼至少要幾個字元?", "十四個字元", 4, "密碼至少要有十四個字元,而且每年更換一次。"),
]
QUOTED = {2: GOLD[2][3]} | {
    0: "Employees get 24 days of paid leave each year.",
    1: GOLD[1][3],
    3: "Überstunden werden im Folgemonat ausgeglichen.",
    4: GOLD[4][3],
}
WAYS: dict[str, Callable[[str], str]] = {
    "path": lambda path: path,
    "name": lambda path: Path(path).name,
    "stem": lambda path: Path(path).stem,
    "whole stem": lambda path: str(Path(path).with_suffix("")),
    "address": lambda path: f"https://wiki.example.org/x/{quote(path)}?v=2#top",
    "windows": lambda path: path.replace("/", "\\"),
    "dot": lambda path: f"./{path}",
    "percent": quote,
    "upper": str.upper,
    "mounted": lambda path: f"/mnt/data/documents/{path}",
    "section": lambda path: f"{Path(path).stem}:3",
    "page": lambda path: f"{path}, page 4",
    "fragment": lambda path: f"{path}#part-two",
}
NOISE: dict[str, Any] = {
    "id": lambda n: f"q{n + 1:03}",
    "nr": lambda n: n + 1,
    "difficulty": lambda n: ("easy", "hard")[n % 2],
    "tags": lambda n: ["hr", "it"][: n % 3],
    "reviewed": lambda n: n % 2 == 0,
    "created": lambda n: f"2026-0{n + 1}-01",
    "weight": lambda n: 0.5 + n,
    "meta": lambda n: {"author": ("ann", "bo")[n % 2], "version": 2},
}
NAMES = {
    "question": ["question", "query", "user_input", "Frage", "text", "vprašanje", "x1"],
    "answer": ["answer", "expected_answer", "ground_truth", "reference", "Antwort", "ideal"],
    "document": ["expected_doc", "source", "gold_files", "docId", "Datei", "ref", "y7", "where"],
    "quotation": ["evidence", "excerpt", "context", "gold_span", "Zitat", "snippet"],
}


def read(folder: Path, file: Path, fields: dict[str, str] | None = None) -> list[Question]:
    with TemporaryDirectory() as kept:
        return asked(folder, file, fields, Path(kept))


def asked(folder: Path, file: Path, fields: dict[str, str] | None, kept: Path) -> list[Question]:
    parts = parts_of("own", {"folder": [folder]}, kept, questions=str(file))
    if fields:
        parts.source = replace(parts.source, fields=fields)
    records = (record for row in read_own(parts) for record in row)
    return [each.question for each in records if isinstance(each, SourceQuestion)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden") / "documents"
    for name, text in DOCUMENTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def cell(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else json.dumps(value)


def write(path: Path, form: str, rows: list[dict[str, Any]]) -> Path:
    """Write rows in a form."""
    path = path / f"golden.{form.split()[0]}"
    names = list(dict.fromkeys(name for each in rows for name in each))
    table = [[cell(each.get(name, "")) for name in names] for each in rows]
    if form == "json":
        path.write_text(json.dumps(rows, ensure_ascii=False, indent=1), "utf-8")
    elif form == "json wrapped":
        whole = {"version": "1.0", "meta": {"by": "us"}, "data": {"cases": rows}}
        path.write_text(json.dumps(whole), "utf-8")
    elif form == "json keyed":
        path.write_text(json.dumps({f"case-{n}": each for n, each in enumerate(rows)}), "utf-8")
    elif form in ("json columns", "json split", "json pandas"):
        columns = {name: [each.get(name) for each in rows] for name in names}
        keyed = {name: dict(enumerate(column)) for name, column in columns.items()}
        forms = {"columns": columns, "split": {"test": columns}, "pandas": keyed}
        path.write_text(json.dumps(forms[form.split()[1]]), "utf-8")
    elif form in ("jsonl", "json lines"):
        path.write_text("".join(f"{json.dumps(each)}\n" for each in rows), "utf-8")
    elif form == "yaml":
        path.write_text(yaml.safe_dump({"tests": rows}, allow_unicode=True), "utf-8")
    elif form in ("csv", "tsv"):
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file, delimiter="," if form == "csv" else "\t")
            writer.writerows([names, *table])
    elif form == "xlsx":
        book = Workbook()
        assert book.active is not None
        for line in [names, *table]:
            book.active.append(line)
        book.save(path)
    else:
        columns = {name: [each.get(name) for each in rows] for name in names}
        parquet.write_table(pa.table(columns), path)
    return path


FORMS = ["json", "json wrapped", "json keyed", "json columns", "json pandas"]
FORMS += ["json split", "jsonl", "json lines"]
FORMS += ["yaml", "csv", "tsv", "xlsx", "parquet"]


@st.composite
def shapes(draw: st.DrawFn) -> tuple[str, list[dict[str, Any]], dict[str, bool]]:
    """A form, rows in some shape, and which of answer, document and quotation they have."""
    has = {role: draw(st.booleans()) for role in ("answer", "document", "quotation")}
    if not has["document"]:
        has["quotation"] = True
    names = {role: draw(st.sampled_from(every)) for role, every in NAMES.items()}
    way = WAYS[draw(st.sampled_from(sorted(WAYS)))]
    lists, nested, inner, boxed = (draw(st.booleans()) for _ in range(4))
    form = draw(st.sampled_from(FORMS))
    # A cell of Parquet has one type.
    noise = draw(st.lists(st.sampled_from(sorted(NOISE)), max_size=4, unique=True))
    rows = []
    for n, (question, answer, document, _) in enumerate(GOLD):
        gold: dict[str, Any] = {}
        if has["document"]:
            value = way([*DOCUMENTS][document])
            gold[names["document"]] = [value] if lists and not nested else value
        if has["quotation"]:
            words: Any = QUOTED[n]
            gold[names["quotation"]] = [[words, "words of no file"]] if inner else words
        each: dict[str, Any] = {names["question"]: question}
        if has["answer"]:
            each[names["answer"]] = {"text": [answer], "start": [n]} if boxed else answer
        each |= {"references": [gold]} if nested else gold
        rows.append({**{name: NOISE[name](n) for name in noise}, **each})
    order = draw(st.permutations(list(rows[0])))
    return form, [{name: each[name] for name in order} for each in rows], has


@pytest.mark.slow
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shapes())
def test_a_set_of_any_shape_is_read_by_its_values(
    folder: Path, shape: tuple[str, list[dict[str, Any]], dict[str, bool]]
) -> None:
    form, rows, has = shape
    found = {each.question: each for each in read(folder, write(folder.parent, form, rows))}
    assert set(found) == {question for question, *_ in GOLD}
    for n, (question, answer, document, _) in enumerate(GOLD):
        each = found[question]
        assert each.gold_answer == (answer if has["answer"] else "")
        assert [unquote(doc_id) for doc_id in each.gold_doc_ids] == [[*DOCUMENTS][document]]
        spans = [span.quotation for span in each.gold_spans]
        assert spans == ([QUOTED[n]] if has["quotation"] else [])


def test_the_shapes_of_public_sets_are_read(shared_data: Path) -> None:
    for each in sorted((shared_data / "doors/golden").iterdir()):
        (file,) = (path for path in each.iterdir() if path.stem not in ("documents", "expected"))
        expected = json.loads((each / "expected.json").read_text("utf-8"))
        # Two of them expect the answers of the others.
        has_answers = str(expected[0]["answer"]) in file.read_text("utf-8").replace(
            "24 days of", ""
        )
        found = read(each / "documents", file)
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            gold = [unquote(doc_id) for doc_id in ours.gold_doc_ids]
            assert ours.question == theirs["question"]
            assert ours.gold_answer == (theirs["answer"] or "" if has_answers else "")
            assert gold == ([theirs["document"]] if theirs["document"] else [])
            quoted = [span.quotation for span in ours.gold_spans]
            assert quoted == ([theirs["quotation"]] if theirs["quotation"] else [])
            silent = [answer.type for answer in ours.answers] == ["unanswerable"]
            assert silent == theirs.get("unanswerable", False)
            assert ours.judged == bool(gold or silent)


Q = "How many days of leave are there?", "When is remote work possible?"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        # Two fields that name documents, and say different things.
        (
            [
                {"question": Q[0], "gold_doc": "Leave policy.md", "found_doc": "regeln.txt"},
                {"question": Q[1], "gold_doc": "remote_work.md", "found_doc": "密碼.txt"},
            ],
            "document may be gold_doc or found_doc; say which: --set document=gold_doc",
        ),
        ([{"question": q, "doc_id": f"x-{n}"} for n, q in enumerate(Q)],
         "no value of doc_id is a file of the folder, such as 'x-0'.*--set document="),
        ([{"question": q, "doc": d} for q, d in zip(Q, ("Leave policy.md", "remote.md"),
                                                  strict=True)],
         "record 2: there is no file 'remote.md'; the nearest name is 'hr/remote_work.md'"),
        ([{"topic": "leave"}, {"topic": "work"}], "no field has questions; its fields are topic"),
        ([{"ask_1": q, "ask_2": q[:-1] + " now?"} for q in Q], "question may be ask_1 or ask_2"),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_a_question_to_the_user(
    folder: Path, tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(SourceError, match=message):
        read(folder, write(tmp_path, "json", rows))


def test_a_person_says_which_field_is_meant(folder: Path, tmp_path: Path) -> None:
    gold = [{"question": Q[0], "gold_doc": "Leave policy.md", "found_doc": "regeln.txt"}]
    gold.append({"question": Q[1], "gold_doc": "remote_work.md", "found_doc": "密碼.txt"})
    file = write(tmp_path, "json", gold)
    found = [read(folder, file, {"document": name}) for name in ("gold_doc", "found_doc", "")]
    ids = [[each.gold_doc_ids for each in questions] for questions in found]
    assert ids[0] == [("hr/Leave%20policy.md",), ("hr/remote_work.md",)]
    assert ids[1] == [("Überstunden/regeln.txt",), ("安全/密碼.txt",)]
    assert [each.judged for each in found[2]] == [False, False]
    with pytest.raises(SourceError, match="no field 'gold' for document; there are question, gold"):
        read(folder, file, {"document": "gold"})


def test_several_references_have_each_its_own_document(folder: Path, tmp_path: Path) -> None:
    both = [
        {"doc": "remote_work", "words": QUOTED[1]},
        {"doc": "Leave policy", "words": QUOTED[0]},
        {"doc": "regeln", "words": None},
    ]
    rows = [{"question": Q[0], "refs": both}, {"question": Q[1], "refs": both[:1]}]
    first, second = read(folder, write(tmp_path, "json", rows))
    assert [span.doc_id for span in first.gold_spans] == [
        "hr/remote_work.md",
        "hr/Leave%20policy.md",
    ]
    assert set(first.gold_doc_ids) == {
        *("hr/remote_work.md", "hr/Leave%20policy.md", "Überstunden/regeln.txt"),
    }
    assert second.gold_doc_ids == ("hr/remote_work.md",)


@pytest.mark.parametrize("outer", ["ground_truth_documents", "gold_answer_files", "answerDocs"])
@pytest.mark.parametrize("inner", ["content", "body", "text"])
def test_a_documents_own_words_are_a_quotation_whatever_else_its_object_is_called(
    folder: Path, tmp_path: Path, outer: str, inner: str
) -> None:
    rows = [
        {"q": q, "ground_truth": a, outer: [{inner: words}]}
        for q, a, words in zip(Q, ("24 days", "Mondays"), (QUOTED[0], QUOTED[1]), strict=True)
    ]
    found = read(folder, write(tmp_path, "json columns", rows))
    assert [each.gold_answer for each in found] == ["24 days", "Mondays"]
    assert [[span.quotation for span in each.gold_spans] for each in found] == [
        [QUOTED[0]],
        [QUOTED[1]],
    ]


@pytest.mark.parametrize(
    ("silent", "answerable"),
    [
        ({"answerable": False}, {"answerable": True}),
        ({"kind": "unanswerable"}, {"kind": "direct"}),
        ({"answer": "Not answerable from these documents."}, {"answer": "24 days"}),
        ({"is_unanswerable": "yes"}, {"is_unanswerable": "no"}),
    ],
)
def test_a_question_without_an_answer_says_so_by_a_flag_or_a_word(
    folder: Path, tmp_path: Path, silent: dict[str, Any], answerable: dict[str, Any]
) -> None:
    rows = [{"question": Q[0], "docs": ["Leave policy"], **answerable}]
    rows += [{"question": "Who pays for parking?", "docs": [], **silent}]
    first, second = read(folder, write(tmp_path, "json", rows))
    assert first.judged
    assert first.gold_doc_ids
    assert (second.judged, second.question_type) == (True, "no-retrieval")
    assert [answer.type for answer in second.answers] == ["unanswerable"]
    del rows[1][next(iter(silent))]
    assert not read(folder, write(tmp_path, "json", rows))[1].judged


def test_neighbors_of_these_shapes(folder: Path, tmp_path: Path) -> None:
    """A list of messages, a page after the name, and a word that only has *answer* in it."""
    rows: list[dict[str, Any]] = [
        {
            "messages": [{"role": "user", "content": q}, {"role": "assistant", "content": a}],
            "at": f"{doc} p. 3",
            "note": "see the main answer",
        }
        for q, a, doc in zip(Q, ("24 days", "60 days"), ("Leave policy.md", "x"), strict=True)
    ]
    rows[1]["at"] = None
    first, second = read(folder, write(tmp_path, "json", rows))
    assert (first.question, second.question) == Q
    assert first.gold_doc_ids == ("hr/Leave%20policy.md",)
    assert not second.judged
    both = {"doc": ["Leave policy", "absent.md"], "words": QUOTED[0], "question": Q[0]}
    with pytest.raises(SourceError, match=r"there is no file 'absent\.md'"):
        read(folder, write(tmp_path, "json", [both]))


LETTERS = st.sampled_from("abAB12é中 _-.%#")


@given(st.sets(st.text(LETTERS, min_size=1, max_size=6).map(str.strip), min_size=1, max_size=6))
def test_a_whole_path_is_its_file_whatever_the_others_are_called(names: set[str]) -> None:
    ids = {name: identifier_of(name) for name in names if name.strip(". ")}
    files = Files(ids.values())
    for name, doc_id in ids.items():
        assert files.find(name) == [doc_id]


@given(st.text(min_size=1, max_size=20).filter(lambda text: text.isprintable()))
def test_people_read_the_path_of_a_file_and_not_its_id(path: str) -> None:
    assert path_of(identifier_of(path)) == path
    assert path_of("minutes%2017%20über%20mobile.md") == "minutes 17 über mobile.md"
    # An id of another origin, which is no such path.
    assert path_of("100%") == "100%"
    assert path_of("a%2Fb") == "a%2Fb"
