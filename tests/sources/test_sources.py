"""Sources: the same data in several shapes and forms, and messages for damaged files."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from bears.errors import ConfigurationError, MalformedRow, SourceError
from bears.sources import squad
from bears.sources.convert import convert
from bears.sources.location import locate
from bears.sources.parts import Parts, Reader
from bears.sources.passage_rows import multi_hop, with_passages
from bears.sources.records import numbered_records
from bears.sources.rows import read_rows
from bears.sources.source import Source
from bears.types import Document, SourceQuestion

ROOT = Path(__file__).resolve().parents[2]
Rows = list[dict[str, Any]]

# ---------------------------------------------------------------- the same tiny data, every shape

DRCD_OFFICIAL: dict[str, Any] = {
    "version": "1.3",
    "data": [
        {
            "title": "梵文",
            "id": "1147",
            "paragraphs": [
                {
                    "context": "波你尼的《八篇書》成形於公元前四世紀。",
                    "id": "1147-5",
                    "qas": [
                        {
                            "question": "《八篇書》是誰的？",
                            "id": "1147-5-1",
                            "answers": [{"text": "波你尼", "id": "1", "answer_start": 0}],
                        }
                    ],
                },
                {"context": "沒有問題的段落。", "id": "1147-6", "qas": []},
            ],
        },
        {"title": "空", "id": "2", "paragraphs": []},
    ],
}
DRCD_HUB: Rows = [{"data": article} for article in DRCD_OFFICIAL["data"]]
DRCD = (
    [("1147-5", "波你尼的《八篇書》成形於公元前四世紀。"), ("1147-6", "沒有問題的段落。")],
    [("1147-5-1", "《八篇書》是誰的？", ("波你尼",), [0])],
)

HOTPOT_HUB: Rows = [
    {
        "id": "5a8b57f2",
        "question": "Were Scott Derrickson and Ed Wood of the same nationality?",
        "answer": "yes",
        "type": "comparison",
        "level": "hard",
        "supporting_facts": {"title": ["Ed Wood", "Ed Wood"], "sent_id": [0, 1]},
        "context": {
            "title": ["Ed Wood", "Woodson, Arkansas", "Ed Wood"],
            "sentences": [["Ed Wood was American.", " He made films."], ["A town."], []],
        },
    }
]
HOTPOT_OFFICIAL: Rows = [
    {
        "_id": "5a8b57f2",
        "question": "Were Scott Derrickson and Ed Wood of the same nationality?",
        "answer": "yes",
        "type": "comparison",
        "level": "hard",
        "supporting_facts": [["Ed Wood", 0], ["Ed Wood", 1]],
        "context": [
            ["Ed Wood", ["Ed Wood was American.", " He made films."]],
            ["Woodson, Arkansas", ["A town."]],
            ["Ed Wood", []],
        ],
    }
]
HOTPOT = (
    [
        ("5a8b57f2_Ed Wood", "Ed Wood was American.  He made films."),
        ("5a8b57f2_Woodson, Arkansas", "A town."),
        ("5a8b57f2_Ed Wood#2", ""),
    ],
    [("5a8b57f2", HOTPOT_OFFICIAL[0]["question"], ("yes",), [0, 2])],
)

SQUAD_OFFICIAL: dict[str, Any] = {
    "version": "v2.0",
    "data": [
        {
            "title": "Normans",
            "paragraphs": [
                {
                    "context": "The Normans gave their name to Normandy.",
                    "qas": [
                        {
                            "question": " What was named after them?",
                            "id": "56dd",
                            "answers": [
                                {"text": "Normandy", "answer_start": 31},
                                {"text": "to Normandy", "answer_start": 28},
                            ],
                            "is_impossible": False,
                        },
                        {
                            "question": "Who named France?",
                            "id": "5ad3",
                            "answers": [],
                            "plausible_answers": [{"text": "The Normans", "answer_start": 0}],
                            "is_impossible": True,
                        },
                    ],
                },
                {
                    "context": "A paragraph whose only question has no answer.",
                    "qas": [{"question": "Why?", "id": "5ad4", "answers": []}],
                },
            ],
        },
        {
            "title": "Oxygen",
            "paragraphs": [
                {
                    "context": "Oxygen has the symbol O.",
                    "qas": [
                        {
                            "question": "Which symbol?",
                            "id": "571a",
                            "answers": [{"text": "O", "answer_start": 22}],
                        }
                    ],
                }
            ],
        },
    ],
}
SQUAD_HUB: Rows = [
    {
        "id": qa["id"],
        "title": article["title"],
        "context": paragraph["context"],
        "question": qa["question"],
        "answers": {
            "text": [answer["text"] for answer in qa["answers"]],
            "answer_start": [answer["answer_start"] for answer in qa["answers"]],
        },
    }
    for article in SQUAD_OFFICIAL["data"]
    for paragraph in article["paragraphs"]
    for qa in paragraph["qas"]
]
SQUAD = (
    [
        ("Normans-0", "The Normans gave their name to Normandy."),
        ("Normans-1", "A paragraph whose only question has no answer."),
        ("Oxygen-0", "Oxygen has the symbol O."),
    ],
    [
        ("56dd", "What was named after them?", ("Normandy", "to Normandy"), [0]),
        ("571a", "Which symbol?", ("O",), [2]),
    ],
)

MARCO_OFFICIAL: Rows = [
    {
        "query_id": 1102432,
        "query": "what is a corporation?",
        "query_type": "DESCRIPTION",
        "answers": ["A company authorized to act as one."],
        "passages": [
            {"is_selected": 0, "passage_text": "A company is born.", "url": "http://a.example"},
            {"is_selected": 1, "passage_text": "Acts as one.", "url": "http://b.example"},
        ],
    },
    {
        "query_id": 1102431,
        "query": "why did rachel leave?",
        "query_type": "PERSON",
        "answers": ["No Answer Present."],
        "passages": [{"is_selected": 0, "passage_text": "She left.", "url": "http://c.example"}],
    },
]
MARCO_COLUMNS: dict[str, Any] = {
    name: {str(key): row[name] for key, row in enumerate(MARCO_OFFICIAL)}
    for name in ("answers", "passages", "query", "query_id", "query_type")
} | {"wellFormedAnswers": {"0": "[]", "1": "[]"}}
MARCO_HUB: Rows = [
    {
        **row,
        "passages": {
            name: [passage[name] for passage in row["passages"]]
            for name in ("is_selected", "passage_text", "url")
        },
        "wellFormedAnswers": [],
    }
    for row in MARCO_OFFICIAL
]
MARCO = (
    [
        ("1102432_0", "A company is born."),
        ("1102432_1", "Acts as one."),
        ("1102431_0", "She left."),
    ],
    [
        ("1102432", "what is a corporation?", ("A company authorized to act as one.",), [1]),
        ("1102431", "why did rachel leave?", ("",), []),
    ],
)


def write_array(path: Path, rows: Any) -> None:
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


def write_lines(path: Path, rows: Any) -> None:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    path.write_bytes("".join(lines).encode("utf-8"))


def write_parquet(path: Path, rows: Any) -> None:
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)


Writer = Callable[[Path, Any], None]
FORMS: list[tuple[str, Writer]] = [
    ("rows.parquet", write_parquet),
    ("array.json", write_array),
    ("lines.jsonl", write_lines),
    ("lines.json", write_lines),
]


def read(reader: Reader, path: Path) -> tuple[list[Any], list[Any]]:
    """Return the name and text of each document, and of each question the places of its gold."""
    found = [*numbered_records(reader(Parts("s", {"rows": [path]})))]
    return (
        [(each.original_id, each.content) for each in found if isinstance(each, Document)],
        [
            (
                each.question.question_id,
                each.question.question,
                each.references,
                [passage.place for passage in each.passages if passage.is_gold],
            )
            for each in found
            if isinstance(each, SourceQuestion)
        ],
    )


@pytest.mark.parametrize(("name", "write"), FORMS)
@pytest.mark.parametrize(
    ("reader", "rows", "expected"),
    [
        pytest.param(squad.read, DRCD_HUB, DRCD, id="drcd"),
        pytest.param(squad.read, DRCD_OFFICIAL["data"], DRCD, id="drcd-bare"),
        pytest.param(multi_hop, HOTPOT_HUB, HOTPOT, id="hotpotqa"),
        pytest.param(squad.read, SQUAD_HUB, SQUAD, id="squad_v2"),
        pytest.param(with_passages, MARCO_HUB, MARCO, id="ms_marco"),
    ],
)
def test_the_hubs_rows_read_the_same_from_every_form(
    tmp_path: Path, name: str, write: Writer, reader: Reader, rows: Rows, expected: Any
) -> None:
    write(tmp_path / name, rows)
    assert read(reader, tmp_path / name) == expected


@pytest.mark.parametrize(
    ("reader", "write", "content", "expected"),
    [
        pytest.param(squad.read, write_array, DRCD_OFFICIAL, DRCD, id="drcd"),
        pytest.param(multi_hop, write_array, HOTPOT_OFFICIAL, HOTPOT, id="hotpotqa"),
        pytest.param(squad.read, write_array, SQUAD_OFFICIAL, SQUAD, id="squad_v2"),
        pytest.param(with_passages, write_lines, MARCO_OFFICIAL, MARCO, id="ms_marco-v1.1"),
        pytest.param(with_passages, write_array, MARCO_COLUMNS, MARCO, id="ms_marco-v2.1"),
    ],
)
def test_the_official_file_reads_as_the_hubs_rows_do(
    tmp_path: Path, reader: Reader, write: Writer, content: Any, expected: Any
) -> None:
    write(tmp_path / "official.json", content)
    assert read(reader, tmp_path / "official.json") == expected


@pytest.mark.parametrize("first", ["query_id", "passages"])
def test_columns_may_come_in_any_order(tmp_path: Path, first: str) -> None:
    columns = {first: MARCO_COLUMNS[first], **MARCO_COLUMNS}
    write_array(tmp_path / "dev_v2.1.json", columns)
    assert read(with_passages, tmp_path / "dev_v2.1.json") == MARCO


def test_line_separators_inside_strings_do_not_end_a_line(tmp_path: Path) -> None:
    row = {**HOTPOT_HUB[0], "question": "one\u2028two\u2029three\u0085four"}
    write_lines(tmp_path / "hotpotqa.jsonl", [row, renumbered(row, 1)])
    source = shipped("hotpotqa.jsonl")

    convert(source, multi_hop, None, tmp_path, tmp_path / "out" / "rows")
    lines = (tmp_path / "out" / "rows.questions.jsonl").read_bytes().split(b"\n")
    assert [json.loads(line)["question"]["question"] for line in lines[:-1]] == [
        row["question"]
    ] * 2


@pytest.mark.parametrize("name", ["array.json", "lines.json", "lines.jsonl"])
def test_a_packed_file_reads_as_the_unpacked_one(tmp_path: Path, name: str) -> None:
    (write_array if name.startswith("array") else write_lines)(tmp_path / name, HOTPOT_HUB)
    content = gzip.compress((tmp_path / name).read_bytes())
    (tmp_path / f"{name}.gz").write_bytes(content)
    assert read(multi_hop, tmp_path / f"{name}.gz") == HOTPOT
    (tmp_path / f"{name}.gz").write_bytes(content[: len(content) // 2])
    with pytest.raises(SourceError, match="truncated or damaged"):
        read(multi_hop, tmp_path / f"{name}.gz")


def test_blank_lines_are_no_rows(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b'{"id": 1}\n\n{"id": 2}\r\n\n')
    assert list(read_rows(tmp_path / "rows.jsonl")) == [{"id": 1}, {"id": 2}]


def article(title: str, *paragraphs: tuple[str, list[str]]) -> dict[str, Any]:
    """An article in SQuAD's shape: the text of each paragraph, and the answers to its question."""
    return {
        "title": title,
        "paragraphs": [
            {
                "context": context,
                "qas": [
                    {"id": context, "question": "?", "answers": [{"text": a} for a in answers]}
                ],
            }
            for context, answers in paragraphs
        ],
    }


def test_articles_of_one_title_or_none_do_not_collide(tmp_path: Path) -> None:
    titles = ["Super_Bowl_50", "Warsaw", "Super_Bowl_50", ""]
    articles = [
        article(title, (f"{n} a", ["x", "x", "y"]), (f"{n} b", []))
        for n, title in enumerate(titles)
    ]
    write_array(tmp_path / "xquad.zh.json", {"data": articles, "version": "1.1"})
    documents, questions = read(squad.read, tmp_path / "xquad.zh.json")
    names = ["Super_Bowl_50", "Warsaw", "Super_Bowl_50#2", "3 a"]
    assert [name for name, _ in documents] == [f"{name}-{n}" for name in names for n in range(2)]
    assert [row[2:] for row in questions] == [(("x", "x", "y"), [n * 2]) for n in range(4)]


# --------------------------------------------------------------------------------- the real files


def test_both_shapes_of_drcd_hold_the_same_articles(shared_data: Path) -> None:
    found = read(squad.read, shared_data / "raw/drcd.json")
    assert found == read(squad.read, shared_data / "official/DRCD_test.json")
    assert [len(records) for records in found] == [1000, 3493]


@pytest.mark.parametrize(
    ("name", "rows", "with_passages"),
    [
        ("raw/hotpotqa.json", 7405, 1835),
        ("raw/2wiki.json", 12576, 206),
        ("official/hotpot_dev_distractor_v1.sample.json", 600, 600),
        ("official/2wiki_dev.sample.json", 100, 100),
    ],
)
def test_the_real_multihop_files(
    shared_data: Path, name: str, rows: int, with_passages: int
) -> None:
    _, questions = read(multi_hop, shared_data / name)
    assert len({row[0] for row in questions}) == len(questions) == rows
    assert sum(bool(gold) for *_, gold in questions) == with_passages


@pytest.mark.parametrize(
    ("official", "raw"),
    [
        ("hotpot_dev_distractor_v1.sample.json", "hotpotqa.json"),
        ("2wiki_dev.sample.json", "2wiki.json"),
    ],
)
def test_a_question_in_both_real_shapes_brings_the_same_passages(
    shared_data: Path, official: str, raw: str
) -> None:
    def gold(path: Path) -> dict[str, list[tuple[str, str]]]:
        documents, questions = read(multi_hop, path)
        return {row[0]: [documents[n] for n in row[3]] for row in questions if row[3]}

    ours, theirs = gold(shared_data / "raw" / raw), gold(shared_data / "official" / official)
    both = ours.keys() & theirs.keys()
    assert len(both) > 50
    assert {name: ours[name] for name in both} == {name: theirs[name] for name in both}


def test_the_real_half_of_squad(shared_data: Path) -> None:
    path = shared_data / "squad_v2/dev-v2.0.half.json"
    data = json.loads(path.read_bytes())["data"]
    documents, questions = read(squad.read, path)
    paragraphs = [paragraph for article in data for paragraph in article["paragraphs"]]
    assert [text for _, text in documents] == [paragraph["context"] for paragraph in paragraphs]
    assert [(name, gold) for name, *_, gold in questions] == [
        (qa["id"], [n])
        for n, paragraph in enumerate(paragraphs)
        for qa in paragraph["qas"]
        if not qa["is_impossible"]
    ]


# --------------------------------------------------------------------------------- malformed rows


def without(row: dict[str, Any], field: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != field}


def renumbered(row: Any, n: int) -> Any:
    """The row under other ids."""
    return json.loads(re.sub(r'(id": "?)(?=\w)', rf"\g<1>{n}", json.dumps(row)))


HOTPOT_ROW, HOTPOT_FACTS = HOTPOT_HUB[0], HOTPOT_OFFICIAL[0]
ARTICLE = DRCD_OFFICIAL["data"][0]


@pytest.mark.parametrize(
    ("reader", "good", "bad", "field", "problem"),
    [
        (squad.read, ARTICLE, {**ARTICLE, "paragraphs": [{}]}, "paragraphs.0.context", "required"),
        (squad.read, ARTICLE, {"data": None}, "(row)", "dictionary"),
        (
            multi_hop,
            HOTPOT_FACTS,
            {**HOTPOT_FACTS, "supporting_facts": [["a", 0, "b"]]},
            "supporting_facts.0",
            "2 items",
        ),
        (multi_hop, HOTPOT_ROW, ["a"], "(row)", "not an object but ['a']"),
    ],
)
def test_a_malformed_row_is_named(
    tmp_path: Path, reader: Reader, good: Any, bad: Any, field: str, problem: str
) -> None:
    write_lines(tmp_path / "x.jsonl", [good, renumbered(good, 1), bad, good])
    with pytest.raises(MalformedRow, match=r"x\.jsonl, row 3, field ") as caught:
        read(reader, tmp_path / "x.jsonl")
    assert (caught.value.row, caught.value.field) == (3, field)
    assert problem in str(caught.value)


@pytest.mark.parametrize("name", ["query_id", "passages"])
def test_a_column_that_is_absent_or_too_short_is_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / "dev_v2.1.json"
    for column, row in [({}, 1), ({"0": MARCO_COLUMNS[name]["0"]}, 2)]:
        write_array(path, {**MARCO_COLUMNS, name: column})
        with pytest.raises(MalformedRow, match=f"row {row}, field {name}: this column"):
            read(with_passages, path)


def test_columns_of_different_rows_are_refused(tmp_path: Path) -> None:
    columns = {**MARCO_COLUMNS, "query": {"0": "a", "7": "b"}}
    write_array(tmp_path / "dev_v2.1.json", columns)
    with pytest.raises(SourceError, match="columns hold different row keys"):
        read(with_passages, tmp_path / "dev_v2.1.json")


# ---------------------------------------------------------------------------------- damaged files


def shipped(path: str, **more: Any) -> Source:
    return Source(
        name="hotpotqa",
        reader="bears.sources.passage_rows.multi_hop",
        language="en",
        licence="CC-BY-SA-4.0",
        path=path,
        **more,
    )


def refused(folder: Path, source: Source, mirror: Path | None = None) -> str:
    """The message of a conversion that fails, having left nothing where its result would be."""
    out = folder / "out" / "hotpotqa.jsonl"
    with pytest.raises(SourceError) as caught:
        convert(source, multi_hop, mirror, folder, out)
    assert not out.parent.exists() or not any(out.parent.iterdir())
    return str(caught.value)


def array_of(rows: Rows) -> bytes:
    return json.dumps(rows).encode()


def lines_of(rows: Rows) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


TWO = [HOTPOT_ROW, renumbered(HOTPOT_ROW, 1)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", b"", "a.json: not valid JSON (empty)"),
        ("a.parquet", b"", "a.parquet: not valid parquet after row 0"),
        ("a.json", b" \n", "a.json: not valid JSON (empty). No row after 0 can be read"),
        ("a.json", b"[]", "there is no row in "),
        ("a.json", array_of(TWO)[:-9], "not valid JSON"),
        (
            "a.json",
            array_of(TWO) + b"1",
            "trailing garbage). No row after 2",
        ),
        ("a.jsonl", lines_of(TWO)[:-9], "a.jsonl, line 2: not valid JSON"),
        ("a.json", b'{"data": ' + array_of(TWO)[:-9], "not valid JSON"),
        (
            "a.json",
            b'{"rows": [{"id": "1"}]}',
            "row 1, field question: Field required; there: rows",
        ),
        ("a.json", b'[{"id": "\xff\xfe"}]', "a.json: not UTF-8: line 1, byte 10 is 0xFF"),
        ("a.jsonl", b'{"id": "\xff\xfe"}\n', "not UTF-8: line 1, byte 9 is 0xFF"),
        ("a.jsonl", b'{"id": "\\ud800"}\n', "line 1: not valid JSON (half of a surrogate pair"),
        ("a.json", b'[{"id": NaN}]', "row 1, field question: Field required"),
        ("a.json", b"<html>Too many requests</html>", "a.json, line 1: not valid JSON"),
        ("a.csv", b"id,question\n1\n", "a.csv, line 2: 1 cells, expected 2: id, question"),
        ("a.parquet", array_of(TWO), "Parquet magic bytes not found"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    found = refused(tmp_path, shipped(name))
    assert message in found
    assert "\n" not in found


def test_a_parquet_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    write_parquet(tmp_path / "whole.parquet", HOTPOT_HUB * 200)
    content = (tmp_path / "whole.parquet").read_bytes()
    for size in random.Random(3).sample(range(1, len(content)), 10):
        (tmp_path / "cut.parquet").write_bytes(content[:size])
        assert "cut.parquet" in refused(tmp_path, shipped("cut.parquet"))


def test_what_was_converted_before_survives_a_failure(tmp_path: Path) -> None:
    out = tmp_path / "out"
    files = [tmp_path / "out.documents.jsonl", tmp_path / "out.questions.jsonl"]
    write_array(tmp_path / "a.json", TWO)
    convert(shipped("a.json"), multi_hop, None, tmp_path, out)
    before = [path.read_bytes() for path in files]

    (tmp_path / "a.json").write_bytes(array_of(TWO)[:-9])
    with pytest.raises(SourceError):
        convert(shipped("a.json"), multi_hop, None, tmp_path, out)
    assert [path.read_bytes() for path in files] == before
    assert sorted(tmp_path.iterdir()) == [tmp_path / "a.json", *files]


# --------------------------------------------------------------------- where files are, and checks


def test_provenance_says_what_was_read(tmp_path: Path) -> None:
    write_array(tmp_path / "a.json", TWO)
    content = (tmp_path / "a.json").read_bytes()
    digest = sha256(content).hexdigest()
    source = shipped("a.json", sha256={"a.json": digest}, rows=2)

    assert convert(source, multi_hop, None, tmp_path, tmp_path / "out.jsonl") == {
        "source": "hotpotqa",
        "licence": "CC-BY-SA-4.0",
        "path": "a.json",
        "rows_expected": 2,
        "files": [{"name": "a.json", "sha256": digest, "bytes": len(content), "rows": 2}],
    }


def test_another_digest_than_expected_is_refused_and_the_file_stays(tmp_path: Path) -> None:
    write_array(tmp_path / "a.json", TWO)
    found = sha256((tmp_path / "a.json").read_bytes()).hexdigest()
    message = refused(tmp_path, shipped("a.json", sha256={"a.json": "0" * 64}))
    assert f"a.json has sha256 {found}, expected {'0' * 64}" in message
    assert "left where it is" in message
    assert (tmp_path / "a.json").exists()


def test_a_digest_under_another_name_would_check_nothing(tmp_path: Path) -> None:
    write_array(tmp_path / "a.json", TWO)
    message = refused(tmp_path, shipped("a.json", sha256={"b.json": "0" * 64}))
    assert "sha256 names b.json, but the files are a.json" in message


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for folder, rows in (("dev", TWO[:1]), ("test", TWO[1:])):
        (tmp_path / "in" / folder).mkdir(parents=True)
        write_array(tmp_path / "in" / folder / "rows.json", rows)
    found = convert(shipped("in"), multi_hop, None, tmp_path, tmp_path / "out.jsonl")
    digests = {file["name"]: file["sha256"] for file in found["files"]}
    assert [*digests] == ["dev/rows.json", "test/rows.json"]
    pinned = shipped("in", sha256=digests, rows=2)
    assert convert(pinned, multi_hop, None, tmp_path, tmp_path / "out.jsonl")["files"]
    write_array(tmp_path / "in" / "test" / "rows.json", [{**TWO[1], "id": 7.5}])
    assert "test/rows.json has sha256" in refused(tmp_path, pinned)
    assert "test/rows.json, row 1, field id" in refused(tmp_path, shipped("in"))


def test_another_number_of_rows_than_known_is_refused(tmp_path: Path) -> None:
    write_array(tmp_path / "a.json", TWO)
    message = refused(tmp_path, shipped("a.json", rows=3))
    assert "2 rows, expected 3; the file is truncated or not the pinned one" in message


def on_hub(revision: str = "1908d6afbbead072334abe2965f91bd2709910ab", **more: Any) -> Source:
    return Source(
        name="hotpotqa",
        reader="bears.sources.passage_rows.multi_hop",
        language="en",
        licence="CC-BY-SA-4.0",
        hub="hotpotqa/hotpot_qa",
        revision=revision,
        **{"files": ("distractor/validation-*.parquet",), "rows": 7405, **more},
    )


@pytest.mark.parametrize("revision", ["", "main", "v1.0", "1908d6a", "1908D6AF" * 5, "g" * 40])
def test_a_revision_that_can_move_is_refused(revision: str) -> None:
    with pytest.raises(ConfigurationError, match="40 hexadecimal digits of a commit"):
        on_hub(revision)


def test_a_source_is_either_on_the_hub_or_a_file() -> None:
    with pytest.raises(ConfigurationError, match="either hub or path"):
        on_hub(path="a.json")
    with pytest.raises(ConfigurationError, match="hub needs files"):
        on_hub(files=())


@pytest.mark.parametrize(("name", "write"), FORMS)
def test_a_mirror_stands_in_for_the_hub(tmp_path: Path, name: str, write: Writer) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    path = mirror / f"hotpotqa{Path(name).suffix}"
    write(path, HOTPOT_HUB)

    assert locate(on_hub(), mirror, tmp_path) == {"rows": [path]}
    # A mirror may hold a part, and in another form: the pinned files' digests and rows do not bind.
    digests = {"validation-00000-of-00001.parquet": "c2" * 32}
    out = tmp_path / "out.jsonl"
    provenance = convert(on_hub(sha256=digests), multi_hop, mirror, tmp_path, out)
    assert provenance["mirror_of"] == "hotpotqa/hotpot_qa"
    assert provenance["files"][0]["rows"] == 1


def test_a_mirror_without_a_candidate_shows_what_it_holds(tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "hotpot.json").touch()
    (mirror / "README.md").touch()
    message = refused(tmp_path, on_hub(), mirror)
    assert "exactly one of hotpotqa.parquet, hotpotqa.jsonl, hotpotqa.json" in message
    assert "found nothing; there: README.md, hotpot.json" in message


def test_a_mirror_with_two_candidates_shows_both(tmp_path: Path) -> None:
    write_array(tmp_path / "hotpotqa.json", HOTPOT_HUB)
    write_lines(tmp_path / "hotpotqa.jsonl", HOTPOT_HUB)
    message = refused(tmp_path, on_hub(), tmp_path)
    assert "found hotpotqa.jsonl, hotpotqa.json" in message


# ---------------------------------------------------------------------------------- memory and time

# VmHWM, since a child's ru_maxrss starts from its parent's.
CONVERT = """
import sys
from pathlib import Path
from bears.sources.convert import convert
from bears.sources.source import Source, reader_of
path = Path(sys.argv[2])
source = Source("tried", "en", "CC0-1.0", sys.argv[1], path=path.name)
convert(source, reader_of(source), None, path.parent, path.with_suffix(".out"))
status = Path("/proc/self/status").read_text()
print(status.partition("VmHWM:")[2].split()[0])
"""

linux = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="peak memory is read from Linux's /proc"
)


def peak_megabytes(reader: str, path: Path) -> float:
    """Convert ``path`` in a process of its own; return the most memory it ever held."""
    done = subprocess.run(
        [sys.executable, "-c", CONVERT, reader, str(path)],
        check=True,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    for kind in ("documents", "questions"):
        path.with_suffix(f".out.{kind}.jsonl").unlink()
    return int(done.stdout) / 1024


def hotpot_rows() -> Iterator[dict[str, Any]]:
    """Rows of about 7 kB, each another, that do not compress."""
    rng = random.Random(11)
    for number in itertools.count():
        words = [rng.randbytes(80).hex() for _ in range(40)]
        yield {
            **HOTPOT_ROW,
            "id": f"q{number}",
            "context": {
                "title": [f"Title {number}-{n}" for n in range(10)],
                "sentences": [words[n * 4 : n * 4 + 4] for n in range(10)],
            },
        }


def write_large_array(path: Path, megabytes: int) -> None:
    with path.open("wb") as stream:
        stream.write(b"[")
        for row in hotpot_rows():
            stream.write(json.dumps(row).encode())
            if stream.tell() > megabytes * 10**6:
                break
            stream.write(b", ")
        stream.write(b"]")


@linux
def test_a_larger_file_takes_no_more_memory(tmp_path: Path) -> None:
    peaks = {}
    for megabytes in (2, 22):
        write_large_array(tmp_path / "hotpotqa.json", megabytes)
        peaks[megabytes] = peak_megabytes("multi-hop", tmp_path / "hotpotqa.json")
    assert peaks[22] < peaks[2] + 20


@linux
@pytest.mark.slow
def test_a_gigabyte_is_converted_in_little_memory(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    path = tmp_path / "hotpotqa.json"
    write_large_array(path, 1000)
    started = time.monotonic()
    peak = peak_megabytes("multi-hop", path)
    speed = 1000 / (time.monotonic() - started)
    record_property("peak_megabytes", round(peak))
    record_property("megabytes_per_second", round(speed, 1))
    assert peak < 300
    path.unlink()
