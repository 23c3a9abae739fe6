"""Sources: one truth in several shapes and forms, and what is said when a file is not right."""

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
from bears.sources.records import Article, ParagraphQuestion, PassageRow, SourceParagraph
from bears.sources.rows import read_rows
from bears.sources.source import Source
from bears.types import Passage

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
DRCD = [
    Article(
        "1147",
        "梵文",
        (
            SourceParagraph(
                "1147-5",
                "波你尼的《八篇書》成形於公元前四世紀。",
                (ParagraphQuestion("1147-5-1", "《八篇書》是誰的？", ("波你尼",)),),
            ),
            SourceParagraph("1147-6", "沒有問題的段落。", ()),
        ),
    ),
    Article("2", "空", ()),
]

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
HOTPOT = [
    PassageRow(
        id="5a8b57f2",
        question="Were Scott Derrickson and Ed Wood of the same nationality?",
        answer="yes",
        question_type="multi-hop",
        kind="comparison",
        passages=(
            Passage("Ed Wood", "Ed Wood was American.  He made films.", True),
            Passage("Woodson, Arkansas", "A town.", False),
            Passage("Ed Wood", "", True),
        ),
    )
]

WIKI_HUB: Rows = [
    {
        "id": "8813f87c",
        "question": "Who is the mother of the director of film Polish-Russian War?",
        "answer": "Małgorzata Braunek",
        "type": "compositional",
        "supporting_facts": {"title": ["Xawery Żuławski"], "sent_id": [2]},
        "context": {
            "title": ["Xawery Żuławski", "Snow White and Russian Red"],
            "sentences": [["Son of", "Małgorzata Braunek."], ["A film."]],
        },
        "evidences": [{"fact": "Xawery", "relation": "mother", "entity": "Małgorzata"}],
    }
]
WIKI_OFFICIAL: Rows = [
    {
        "_id": "8813f87c",
        "question": "Who is the mother of the director of film Polish-Russian War?",
        "answer": "Małgorzata Braunek",
        "type": "compositional",
        "supporting_facts": [["Xawery Żuławski", 2]],
        "context": [
            ["Xawery Żuławski", ["Son of", "Małgorzata Braunek."]],
            ["Snow White and Russian Red", ["A film."]],
        ],
        "evidences": [["Xawery", "mother", "Małgorzata"]],
    }
]
WIKI = [
    PassageRow(
        id="8813f87c",
        question="Who is the mother of the director of film Polish-Russian War?",
        answer="Małgorzata Braunek",
        question_type="multi-hop",
        kind="compositional",
        passages=(
            Passage("Xawery Żuławski", "Son of Małgorzata Braunek.", True),
            Passage("Snow White and Russian Red", "A film.", False),
        ),
    )
]

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
SQUAD = [
    Article(
        "Normans",
        "Normans",
        (
            SourceParagraph(
                "Normans-0",
                "The Normans gave their name to Normandy.",
                (
                    ParagraphQuestion(
                        "56dd", "What was named after them?", ("Normandy", "to Normandy")
                    ),
                ),
            ),
            SourceParagraph("Normans-1", "A paragraph whose only question has no answer.", ()),
        ),
    ),
    Article(
        "Oxygen",
        "Oxygen",
        (
            SourceParagraph(
                "Oxygen-0",
                "Oxygen has the symbol O.",
                (ParagraphQuestion("571a", "Which symbol?", ("O",)),),
            ),
        ),
    ),
]

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
MARCO = [
    PassageRow(
        id="1102432",
        question="what is a corporation?",
        answer="A company authorized to act as one.",
        question_type="single-hop",
        kind="DESCRIPTION",
        passages=(Passage("0", "A company is born.", False), Passage("1", "Acts as one.", True)),
    ),
    PassageRow(
        id="1102431",
        question="why did rachel leave?",
        answer="",
        question_type="single-hop",
        kind="PERSON",
        passages=(Passage("0", "She left.", False),),
    ),
]


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


def read(reader: Reader, path: Path) -> list[Any]:
    return list(reader(Parts("s", {"rows": [path]})))


@pytest.mark.parametrize(("name", "write"), FORMS)
@pytest.mark.parametrize(
    ("reader", "rows", "expected"),
    [
        pytest.param(squad.read, DRCD_HUB, DRCD, id="drcd"),
        pytest.param(squad.read, DRCD_OFFICIAL["data"], DRCD, id="drcd-bare"),
        pytest.param(multi_hop, HOTPOT_HUB, HOTPOT, id="hotpotqa"),
        pytest.param(multi_hop, WIKI_HUB, WIKI, id="2wiki"),
        pytest.param(squad.read, SQUAD_HUB, SQUAD, id="squad_v2"),
        pytest.param(with_passages, MARCO_HUB, MARCO, id="ms_marco"),
    ],
)
def test_the_hubs_rows_read_the_same_from_every_form(
    tmp_path: Path, name: str, write: Writer, reader: Reader, rows: Rows, expected: list[Any]
) -> None:
    write(tmp_path / name, rows)
    assert read(reader, tmp_path / name) == expected


@pytest.mark.parametrize(
    ("reader", "write", "content", "expected"),
    [
        pytest.param(squad.read, write_array, DRCD_OFFICIAL, DRCD, id="drcd"),
        pytest.param(multi_hop, write_array, HOTPOT_OFFICIAL, HOTPOT, id="hotpotqa"),
        pytest.param(multi_hop, write_array, WIKI_OFFICIAL, WIKI, id="2wiki"),
        pytest.param(squad.read, write_array, SQUAD_OFFICIAL, SQUAD, id="squad_v2"),
        pytest.param(with_passages, write_lines, MARCO_OFFICIAL, MARCO, id="ms_marco-v1.1"),
        pytest.param(with_passages, write_array, MARCO_COLUMNS, MARCO, id="ms_marco-v2.1"),
    ],
)
def test_the_official_file_reads_as_the_hubs_rows_do(
    tmp_path: Path, reader: Reader, write: Writer, content: Any, expected: list[Any]
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
    for size in (5, 12, len(content) // 2, len(content) - 4):
        (tmp_path / f"{name}.gz").write_bytes(content[:size])
        with pytest.raises(SourceError, match="truncated or damaged"):
            read(multi_hop, tmp_path / f"{name}.gz")


def test_blank_lines_are_no_rows(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b'{"id": 1}\n\n{"id": 2}\r\n\n')
    assert list(read_rows(tmp_path / "rows.jsonl")) == [{"id": 1}, {"id": 2}]


# CMRC 2018 as its owners publish it in SQuAD's shape: three annotators, and ids for everything.
CMRC_OFFICIAL: dict[str, Any] = {
    "version": "v1.0",
    "data": [
        {
            "paragraphs": [
                {
                    "id": "DEV_0",
                    "context": "《战国无双3》是由光荣和ω-force开发的战国无双系列的正统第三续作。",
                    "qas": [
                        {
                            "question": "《战国无双3》是由哪两个公司合作开发的？",
                            "id": "DEV_0_QUERY_0",
                            "answers": [
                                {"text": "光荣和ω-force", "answer_start": 8},
                                {"text": "光荣和ω-force", "answer_start": 8},
                                {"text": "光荣", "answer_start": 8},
                            ],
                        }
                    ],
                }
            ],
            "id": "DEV_0",
            "title": "战国无双3",
        },
        {
            "paragraphs": [{"id": "DEV_1", "context": "锣鼓经。", "qas": []}],
            "id": "DEV_1",
            "title": "",
        },
    ],
}
# The hub's rows of CMRC and of XQuAD have no title.
CMRC_HUB: Rows = [
    {
        "id": f"DEV_{n}_QUERY_{m}",
        "context": context,
        "question": question,
        "answers": {"text": ["光荣", "光荣和ω-force"], "answer_start": [8, 8]},
    }
    for n, context in enumerate(["《战国无双3》是由光荣和ω-force开发的。", "锣鼓经。"])
    for m, question in enumerate(["谁开发？", "哪两个公司？"])
]
XQUAD: dict[str, Any] = {
    "data": [
        {
            "title": title,
            "paragraphs": [
                {
                    "context": f"{title} {n}：黑豹隊的防守只丟了 308 分。",
                    "qas": [
                        {
                            "id": f"{title}-{article}-{n}",
                            "question": "黑豹隊丟了多少分？",
                            "answers": [{"text": "308", "answer_start": 12}],
                        }
                    ],
                }
                for n in range(2)
            ],
        }
        for article, title in enumerate(["Super_Bowl_50", "Warsaw", "Super_Bowl_50"])
    ],
    "version": "1.1",
}


def names(articles: list[Article]) -> list[tuple[str, list[str]]]:
    return [(article.id, [p.id for p in article.paragraphs]) for article in articles]


def test_cmrc_has_every_annotators_answer_and_articles_without_a_title(tmp_path: Path) -> None:
    write_array(tmp_path / "cmrc2018_dev.json", CMRC_OFFICIAL)
    official = read(squad.read, tmp_path / "cmrc2018_dev.json")
    assert names(official) == [("DEV_0", ["DEV_0"]), ("DEV_1", ["DEV_1"])]
    [question] = official[0].paragraphs[0].questions
    assert question.answers == ("光荣和ω-force", "光荣和ω-force", "光荣")

    write_parquet(tmp_path / "cmrc.parquet", CMRC_HUB)
    hub = read(squad.read, tmp_path / "cmrc.parquet")
    assert names(hub) == [(f"DEV_{n}_QUERY_0", [f"DEV_{n}_QUERY_0-0"]) for n in range(2)]
    assert [len(article.paragraphs[0].questions) for article in hub] == [2, 2]


def test_articles_of_one_title_do_not_collide(tmp_path: Path) -> None:
    write_array(tmp_path / "xquad.zh.json", XQUAD)
    found = read(squad.read, tmp_path / "xquad.zh.json")
    assert [name for name, _ in names(found)] == ["Super_Bowl_50", "Warsaw", "Super_Bowl_50#2"]
    paragraphs = [name for _, ids in names(found) for name in ids]
    assert len(set(paragraphs)) == len(paragraphs) == 6
    assert {q.answers for a in found for p in a.paragraphs for q in p.questions} == {("308",)}


# --------------------------------------------------------------------------------- the real files


def test_both_shapes_of_drcd_hold_the_same_articles(shared_data: Path) -> None:
    articles = read(squad.read, shared_data / "raw/drcd.json")
    assert articles == read(squad.read, shared_data / "official/DRCD_test.json")

    assert len(articles) == 378
    paragraphs = [p for a in articles if isinstance(a, Article) for p in a.paragraphs]
    assert len(paragraphs) == 1000
    assert sum(len(paragraph.questions) for paragraph in paragraphs) == 3493


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
    found = [row for row in read(multi_hop, shared_data / name) if isinstance(row, PassageRow)]
    assert len(found) == rows
    assert len({row.id for row in found}) == rows
    with_some = [row for row in found if row.passages]
    assert len(with_some) == with_passages
    assert all(any(passage.is_gold for passage in row.passages) for row in with_some)


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
    rows = [*read(multi_hop, shared_data / "raw" / raw)]
    ours = {row.id: row for row in rows if isinstance(row, PassageRow) and row.passages}
    theirs = read(multi_hop, shared_data / "official" / official)
    pairs = [(row, ours[row.id]) for row in theirs if row.id in ours]
    assert len(pairs) > 50
    assert [a.passages for a, _ in pairs if isinstance(a, PassageRow)] == [
        b.passages for _, b in pairs
    ]


def test_the_real_half_of_squad(shared_data: Path) -> None:
    path = shared_data / "squad_v2/dev-v2.0.half.json"
    data = json.loads(path.read_bytes())["data"]
    articles = [a for a in read(squad.read, path) if isinstance(a, Article)]

    assert [article.title for article in articles] == [article["title"] for article in data]
    assert [len(article.paragraphs) for article in articles] == [
        len(article["paragraphs"]) for article in data
    ]
    answerable = [
        qa["id"]
        for article in data
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
        if not qa["is_impossible"]
    ]
    questions = [q for a in articles for p in a.paragraphs for q in p.questions]
    assert [question.id for question in questions] == answerable


# --------------------------------------------------------------------------------- malformed rows


def without(row: dict[str, Any], field: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != field}


def renumbered(row: Any, n: int) -> Any:
    """The row under other ids."""
    return json.loads(re.sub(r'(id": "?)(?=\w)', rf"\g<1>{n}", json.dumps(row)))


HOTPOT_ROW, WIKI_ROW, MARCO_ROW = HOTPOT_HUB[0], WIKI_OFFICIAL[0], MARCO_HUB[0]
ARTICLE = DRCD_OFFICIAL["data"][0]


@pytest.mark.parametrize(
    ("reader", "good", "bad", "field", "problem"),
    [
        (squad.read, ARTICLE, without(ARTICLE, "paragraphs"), "question", "required"),
        (squad.read, ARTICLE, {**ARTICLE, "id": 1.5}, "id", "string"),
        (squad.read, ARTICLE, {**ARTICLE, "paragraphs": [{}]}, "paragraphs.0.context", "required"),
        (squad.read, ARTICLE, {"data": None}, "(row)", "dictionary"),
        (multi_hop, HOTPOT_ROW, without(HOTPOT_ROW, "context"), "context", "required"),
        (
            multi_hop,
            HOTPOT_ROW,
            {**HOTPOT_ROW, "context": {"title": ["a", "b"], "sentences": [["c"]]}},
            "context",
            "its lists differ in length: {'title': 2, 'sentences': 1}",
        ),
        (
            multi_hop,
            WIKI_ROW,
            {**WIKI_ROW, "supporting_facts": [["a", 0, "b"]]},
            "supporting_facts.0",
            "2 items",
        ),
        (with_passages, MARCO_ROW, {**MARCO_ROW, "query_id": 1.5}, "query_id", "string"),
        (multi_hop, HOTPOT_ROW, 42, "(row)", "not an object but 42"),
        (multi_hop, HOTPOT_ROW, ["a"], "(row)", "not an object but ['a']"),
    ],
)
@pytest.mark.parametrize(("name", "write"), FORMS[1:])
def test_a_malformed_row_is_named(
    tmp_path: Path,
    name: str,
    write: Writer,
    reader: Reader,
    good: Any,
    bad: Any,
    field: str,
    problem: str,
) -> None:
    write(tmp_path / name, [good, renumbered(good, 1), bad, good])
    with pytest.raises(MalformedRow) as caught:
        read(reader, tmp_path / name)
    assert (caught.value.file, caught.value.row, caught.value.field) == (name, 3, field)
    assert problem in str(caught.value)
    assert f"{name}, row 3, field {field}: " in str(caught.value)


@pytest.mark.parametrize("name", ["query_id", "query", "query_type", "answers", "passages"])
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
        ("a.jsonl", b"", "a.jsonl: not valid JSON (empty)"),
        ("a.parquet", b"", "a.parquet: not valid parquet after row 0"),
        ("a.json", b" \n", "a.json: not valid JSON (empty). No row after 0 can be read"),
        ("a.json", b"[]", "there is no row in "),
        ("a.json", array_of(TWO)[:-9], "(parse error: premature EOF). No row after"),
        ("a.json", array_of(TWO)[:-1], "(parse error: premature EOF). No row after"),
        ("a.json", array_of(TWO) + b"]", "trailing garbage"),
        (
            "a.json",
            array_of(TWO) + b"1",
            "(parse error: trailing garbage). No row after 2",
        ),
        ("a.json", lines_of(TWO)[:-9], "a.json, line 2: not valid JSON"),
        ("a.jsonl", lines_of(TWO)[:-9], "a.jsonl, line 2: not valid JSON"),
        ("a.json", b'{"data": ' + array_of(TWO)[:-9], "premature EOF). No row after"),
        ("a.json", b'{"rows": [{"id": "1"}]}', "row 1, field question: Field required"),
        ("a.json", b'[{"id": "\xff\xfe"}]', "a.json: not UTF-8: line 1, byte 10 is 0xFF"),
        ("a.jsonl", b'{"id": "\xff\xfe"}\n', "line 1: not UTF-8: line 1, byte 9 is 0xFF"),
        ("a.jsonl", b'{"id": "\\ud800"}\n', "line 1: not valid JSON (half of a surrogate pair"),
        ("a.jsonl", b'{"id": Infinit}\n', "line 1: not valid JSON"),
        ("a.json", b'[{"id": NaN}]', "row 1, field question: Field required"),
        ("a.json", b'[{"id": Na}]', "a.json: not valid JSON"),
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
    for size in random.Random(3).sample(range(1, len(content)), 50):
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


def test_an_absent_shipped_file_is_named(tmp_path: Path) -> None:
    assert f"{tmp_path / 'no.json'} does not exist" in refused(tmp_path, shipped("no.json"))


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


def test_a_shipped_file_is_read_beside_a_mirror(tmp_path: Path) -> None:
    write_array(tmp_path / "a.json", TWO)
    expected = {"rows": [tmp_path / "a.json"]}
    assert locate(shipped("a.json"), tmp_path / "mirror", tmp_path) == expected


def test_a_mirror_without_a_candidate_shows_what_it_holds(tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    assert "(there: no folder)" in refused(tmp_path, on_hub(), mirror)

    mirror.mkdir()
    (mirror / "hotpot.json").touch()
    (mirror / "README.md").touch()
    message = refused(tmp_path, on_hub(), mirror)
    assert "exactly one of hotpotqa.parquet, hotpotqa.jsonl, hotpotqa.json" in message
    assert "found none (there: ['README.md', 'hotpot.json'])" in message


def test_a_mirror_with_two_candidates_shows_both(tmp_path: Path) -> None:
    write_array(tmp_path / "hotpotqa.json", HOTPOT_HUB)
    write_lines(tmp_path / "hotpotqa.jsonl", HOTPOT_HUB)
    message = refused(tmp_path, on_hub(), tmp_path)
    assert "found ['hotpotqa.jsonl', 'hotpotqa.json']" in message


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


def write_large_parquet(path: Path, megabytes: int) -> None:
    """One row group, which a reader must not take whole."""
    rows = list(itertools.islice(hotpot_rows(), megabytes * 154))
    table = pyarrow.Table.from_pylist(rows)
    parquet.write_table(table, path, row_group_size=len(rows))


def write_large_columns(path: Path, megabytes: int) -> None:
    def passages(row: dict[str, Any]) -> Rows:
        texts = row["context"]["sentences"]
        return [{"is_selected": 1, "passage_text": " ".join(text)} for text in texts]

    columns: dict[str, Callable[[int, dict[str, Any]], Any]] = {
        "answers": lambda _, row: [row["answer"]],
        "passages": lambda _, row: passages(row),
        "query": lambda _, row: row["question"],
        "query_id": lambda number, _: number,
        "query_type": lambda _, row: row["type"],
    }
    with path.open("w") as stream:
        for position, (name, cell) in enumerate(columns.items()):
            stream.write(f'{", " if position else "{"}"{name}": {{')
            for number, row in enumerate(itertools.islice(hotpot_rows(), megabytes * 140)):
                stream.write(f'{", " if number else ""}"{number}": {json.dumps(cell(number, row))}')
            stream.write("}")
        stream.write("}")


@linux
@pytest.mark.parametrize(
    ("reader", "name", "write", "small"),
    [
        ("multi-hop", "hotpotqa.json", write_large_array, 4),
        pytest.param(
            *("qa-with-passages", "ms_marco.json", write_large_columns, 4), marks=pytest.mark.slow
        ),
        # Arrow's allocator keeps what it has freed, so that memory is level from about 20 MB on.
        ("multi-hop", "hotpotqa.parquet", write_large_parquet, 20),
    ],
)
def test_a_larger_file_takes_no_more_memory(
    tmp_path: Path, reader: str, name: str, write: Callable[[Path, int], None], small: int
) -> None:
    peaks = {}
    for megabytes in (small, 40):
        write(tmp_path / name, megabytes)
        assert (tmp_path / name).stat().st_size == pytest.approx(megabytes * 10**6, rel=0.15)
        peaks[megabytes] = peak_megabytes(reader, tmp_path / name)
    assert peaks[40] < peaks[small] + 20


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
