"""Sources: the same data in several shapes and forms, and messages for damaged files."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from bears.config.shape import Source
from bears.errors import ConfigurationError, SourceError
from bears.sources import squad
from bears.sources.convert import convert
from bears.sources.location import locate
from bears.sources.parts import Reader, numbered_records
from bears.sources.passage_rows import multi_hop, with_passages
from bears.sources.rows import read_rows
from bears.sources.source import checked
from bears.types import Document, SourceQuestion
from tests.sources.files import Row, Rows, array, article, asked, flat, lines, parts_of, put, table
from tests.workspace import ROOT

# ---------------------------------------------------------------- the same tiny data, every shape

HOTPOT_HUB: Row = {
    "id": "5a8b57f2",
    "question": "Were Scott Derrickson and Ed Wood of the same nationality?",
    "answer": "yes",
    "supporting_facts": {"title": ["Ed Wood", "Ed Wood"], "sent_id": [0, 1]},
    "context": {
        "title": ["Ed Wood", "Woodson, Arkansas", "Ed Wood"],
        "sentences": [["Ed Wood was American.", " He made films."], ["A town."], []],
    },
}
HOTPOT = (
    [
        ("5a8b57f2_Ed Wood", "Ed Wood was American.  He made films."),
        ("5a8b57f2_Woodson, Arkansas", "A town."),
        ("5a8b57f2_Ed Wood#2", ""),
    ],
    [("5a8b57f2", HOTPOT_HUB["question"], ("yes",), [0, 2])],
)

UNANSWERED = {
    "plausible_answers": [{"text": "The Normans", "answer_start": 0}],
    "is_impossible": True,
}
NAMED = asked("56dd", " What was named after them?", ("Normandy", 31), ("to Normandy", 28))
SQUAD_OFFICIAL: Rows = [
    article(
        "Normans",
        (
            "The Normans gave their name to Normandy.",
            [
                {**NAMED, "is_impossible": False},
                asked("5ad3", "Who named France?", **UNANSWERED),
            ],
        ),
        ("A paragraph whose only question has no answer.", [asked("5ad4", "Why?")]),
    ),
    article("Nitrogen"),
    article("Oxygen", ("Oxygen has the symbol O.", [asked("571a", "Which symbol?", ("O", 22))])),
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

Written = Callable[[Any], bytes]
FORMS: list[tuple[str, Written]] = [
    ("rows.parquet", table),
    ("array.json", array),
    ("lines.jsonl", lines),
    ("lines.json", lines),
]


def read(reader: Reader, path: Path) -> tuple[list[Any], list[Any]]:
    """Return the name and text of each document, and of each question the places of its gold."""
    found = [*numbered_records(reader(parts_of("s", {"rows": [path]})))]
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


def read_from(reader: Reader, path: Path, content: bytes) -> tuple[list[Any], list[Any]]:
    path.write_bytes(content)
    return read(reader, path)


@pytest.mark.parametrize(("name", "written"), FORMS)
@pytest.mark.parametrize(
    ("reader", "rows", "expected"),
    [
        pytest.param(multi_hop, [HOTPOT_HUB], HOTPOT, id="hotpotqa"),
        pytest.param(squad.read_squad, flat(SQUAD_OFFICIAL), SQUAD, id="squad_v2"),
        pytest.param(
            squad.read_squad, [{"data": each} for each in SQUAD_OFFICIAL], SQUAD, id="drcd"
        ),
    ],
)
def test_the_hubs_rows_read_the_same_from_every_form(
    tmp_path: Path, name: str, written: Written, reader: Reader, rows: Rows, expected: Any
) -> None:
    assert read_from(reader, tmp_path / name, written(rows)) == expected


@pytest.mark.parametrize(
    ("reader", "content", "expected"),
    [
        pytest.param(squad.read_squad, array({"data": SQUAD_OFFICIAL}), SQUAD, id="squad_v2"),
        pytest.param(with_passages, lines(MARCO_OFFICIAL), MARCO, id="ms_marco-v1.1"),
    ],
)
def test_the_official_file_reads_as_the_hubs_rows_do(
    tmp_path: Path, reader: Reader, content: bytes, expected: Any
) -> None:
    assert read_from(reader, tmp_path / "official.json", content) == expected


TWO = [HOTPOT_HUB, {**HOTPOT_HUB, "id": "another"}]


def test_blank_lines_are_no_rows(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b'{"id": 1}\n\n{"id": 2}\r\n\n')
    assert list(read_rows(tmp_path / "rows.jsonl")) == [{"id": 1}, {"id": 2}]


def test_articles_of_one_title_or_none_do_not_collide(tmp_path: Path) -> None:
    titles = ["Super_Bowl_50", "Warsaw", "Super_Bowl_50", ""]
    answered = asked("1", "?", ("x", 0), ("x", 0), ("y", 0))
    articles = [
        article(
            title,
            (f"{n} a", [{**answered, "id": f"{n} a"}]),
            (f"{n} b", [asked(f"{n} b", "?")]),
        )
        for n, title in enumerate(titles)
    ]
    content = array({"data": articles, "version": "1.1"})
    documents, questions = read_from(squad.read_squad, tmp_path / "xquad.zh.json", content)
    names = ["Super_Bowl_50", "Warsaw", "Super_Bowl_50#2", "3 a"]
    assert [name for name, _ in documents] == [f"{name}-{n}" for name in names for n in range(2)]
    assert [row[2:] for row in questions] == [(("x", "x", "y"), [n * 2]) for n in range(4)]


# --------------------------------------------------------------------------------- the real files


def test_both_shapes_of_drcd_hold_the_same_articles(shared_data: Path) -> None:
    found = read(squad.read_squad, shared_data / "raw/drcd.json")
    assert found == read(squad.read_squad, shared_data / "official/DRCD_test.json")
    articles = json.loads((shared_data / "raw/drcd.json").read_bytes())
    paragraphs = [each for article in articles for each in article["paragraphs"]]
    documents, questions = found
    assert documents == [(each["id"], each["context"]) for each in paragraphs]
    assert (len(documents), len(questions)) == (1000, 3493)


@cache
def hops(path: Path) -> tuple[list[Any], list[Any]]:
    return read(multi_hop, path)


@pytest.mark.slow
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
    _, questions = hops(shared_data / name)
    assert len({row[0] for row in questions}) == len(questions) == rows
    assert sum(bool(gold) for *_, gold in questions) == with_passages


@pytest.mark.slow
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
        documents, questions = hops(path)
        return {row[0]: [documents[n] for n in row[3]] for row in questions if row[3]}

    ours, theirs = gold(shared_data / "raw" / raw), gold(shared_data / "official" / official)
    both = ours.keys() & theirs.keys()
    assert len(both) > 50
    assert {name: ours[name] for name in both} == {name: theirs[name] for name in both}


def test_the_real_half_of_squad(shared_data: Path) -> None:
    path = shared_data / "squad_v2/dev-v2.0.half.json"
    data = json.loads(path.read_bytes())["data"]
    documents, questions = read(squad.read_squad, path)
    paragraphs = [paragraph for article in data for paragraph in article["paragraphs"]]
    assert [text for _, text in documents] == [paragraph["context"] for paragraph in paragraphs]
    assert [(name, gold) for name, *_, gold in questions] == [
        (qa["id"], [n])
        for n, paragraph in enumerate(paragraphs)
        for qa in paragraph["qas"]
        if not qa["is_impossible"]
    ]


# -------------------------------------------------------------------------------- malformed files


def hotpotqa(**more: Any) -> Source:
    reader = "bears.sources.passage_rows.multi_hop"
    return Source("hotpotqa", "en", "CC-BY-SA-4.0", reader=reader, **more)


def shipped(path: str, **more: Any) -> Source:
    return hotpotqa(path=path, **more)


def refused(folder: Path, source: Source, mirror: Path | None = None) -> str:
    """Return the message of a conversion that fails and leaves nothing behind."""
    out = folder / "out" / "hotpotqa.jsonl"
    with pytest.raises(SourceError) as caught:
        convert(source, multi_hop, mirror, folder, out)
    assert not out.parent.exists() or not any(out.parent.iterdir())
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.parquet", b"", "a.parquet: not valid parquet after row 0"),
        ("a.json", b" \n", "a.json: not valid JSON (empty). No row after 0 can be read"),
        ("a.json", b"[]", "there is no row in "),
        ("a.csv", b"", "there is no row in "),
        ("a.json", array(TWO) + b"1", "trailing garbage). No row after 2"),
        ("a.json", b'{"data": ' + array(TWO)[:-9], "not valid JSON"),
        ("a.json", b'{"rows": [{}]}', "row 1, field question: Field required; there: rows"),
        ("a.json", b'[{"id": NaN}]', "row 1, field question: Field required"),
        ("a.parquet", array(TWO), "Parquet magic bytes not found"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    found = refused(tmp_path, shipped(name))
    assert message in found
    assert "\n" not in found


def test_a_parquet_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    content = table([HOTPOT_HUB] * 200)
    for size in random.Random(3).sample(range(1, len(content)), 10):
        (tmp_path / "cut.parquet").write_bytes(content[:size])
        assert "cut.parquet" in refused(tmp_path, shipped("cut.parquet"))


# --------------------------------------------------------------------- where files are, and checks


def test_provenance_says_what_was_read(tmp_path: Path) -> None:
    content = array(TWO)
    put(tmp_path, {"a.json": content})
    digest = sha256(content).hexdigest()
    source = shipped("a.json", sha256={"a.json": digest}, rows=2)

    assert convert(source, multi_hop, None, tmp_path, tmp_path / "out.jsonl") == {
        "source": "hotpotqa",
        "licence": "CC-BY-SA-4.0",
        "path": "a.json",
        "rows_expected": 2,
        "files": [{"name": "a.json", "sha256": digest, "bytes": len(content), "rows": 2}],
    }


@pytest.mark.parametrize(
    ("settings", "messages"),
    [
        (
            {"sha256": {"a.json": "0" * 64}},
            [
                f"a.json has sha256 {sha256(array(TWO)).hexdigest()}, expected {'0' * 64}",
                "left where it is",
            ],
        ),
        # It would check nothing.
        (
            {"sha256": {"b.json": "0" * 64}},
            ["sha256 names b.json, but the files are a.json"],
        ),
        ({"rows": 3}, ["2 rows, expected 3; the file is truncated or not the pinned one"]),
    ],
)
def test_a_file_that_differs_from_what_is_known_of_it_is_refused_and_stays(
    tmp_path: Path, settings: dict[str, Any], messages: list[str]
) -> None:
    put(tmp_path, {"a.json": array(TWO)})
    found = refused(tmp_path, shipped("a.json", **settings))
    assert [message for message in messages if message not in found] == []
    assert (tmp_path / "a.json").exists()


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    given = {"dev/rows.json": array(TWO[:1]), "test/rows.json": array(TWO[1:])}
    put(tmp_path / "in", given)
    found = convert(shipped("in"), multi_hop, None, tmp_path, tmp_path / "out.jsonl")
    digests = {file["name"]: file["sha256"] for file in found["files"]}
    assert [*digests] == [*given]
    pinned = shipped("in", sha256=digests, rows=2)
    assert convert(pinned, multi_hop, None, tmp_path, tmp_path / "out.jsonl")["files"]
    put(tmp_path / "in", {"test/rows.json": array([{**TWO[1], "id": 7.5}])})
    assert "test/rows.json has sha256" in refused(tmp_path, pinned)
    assert "test/rows.json, row 1, field id" in refused(tmp_path, shipped("in"))


HUB: dict[str, Any] = {
    "hub": "hotpotqa/hotpot_qa",
    "revision": "1908d6afbbead072334abe2965f91bd2709910ab",
    "files": ("distractor/validation-*.parquet",),
    "rows": 7405,
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *(
            ({"revision": revision}, "40 hexadecimal digits of a commit")
            for revision in ("", "main", "v1.0", "1908d6a", "1908D6AF" * 5, "g" * 40)
        ),
        ({"path": "a.json"}, "either hub or path"),
    ],
)
def test_a_source_on_the_hub_that_can_move_or_is_unclear_is_refused(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        checked(hotpotqa(**{**HUB, **change}))


@pytest.mark.parametrize(("name", "written"), FORMS)
def test_a_mirror_stands_in_for_the_hub(tmp_path: Path, name: str, written: Written) -> None:
    path = tmp_path / "mirror" / f"hotpotqa{Path(name).suffix}"
    put(path.parent, {path.name: written([HOTPOT_HUB])})
    assert locate(hotpotqa(**HUB), path.parent, tmp_path) == {"rows": [path]}
    # A mirror may hold a part, and in another form: the pinned files' digests and rows do not bind.
    pinned = hotpotqa(**HUB, sha256={"validation-00000-of-00001.parquet": "c2" * 32})
    provenance = convert(pinned, multi_hop, path.parent, tmp_path, tmp_path / "out.jsonl")
    assert provenance["mirror_of"] == "hotpotqa/hotpot_qa"
    assert provenance["files"][0]["rows"] == 1


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["hotpot.json", "README.md"], "found nothing; there: README.md, hotpot.json"),
        (["hotpotqa.json", "hotpotqa.jsonl"], "found hotpotqa.jsonl, hotpotqa.json"),
    ],
)
def test_a_mirror_with_no_candidate_or_two_shows_what_it_holds(
    tmp_path: Path, names: list[str], message: str
) -> None:
    put(tmp_path / "mirror", dict.fromkeys(names, ""))
    found = refused(tmp_path, hotpotqa(**HUB), tmp_path / "mirror")
    assert "exactly one of hotpotqa.parquet, hotpotqa.jsonl, hotpotqa.json" in found
    assert message in found


# ------------------------------------------------------------------------------------------- memory

# VmHWM, since a child's ru_maxrss starts from its parent's.
CONVERT = """
import sys
from pathlib import Path
from bears.sources.convert import convert
from bears.config.shape import Source
from bears.sources.source import reader_of
path = Path(sys.argv[1])
source = Source("tried", "en", "CC0-1.0", "multi-hop", path=path.name)
convert(source, reader_of(source), None, path.parent, path.with_suffix(".out"))
status = Path("/proc/self/status").read_text()
print(status.partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="peak memory is read from Linux's /proc"
)
def test_a_large_file_is_converted_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "hotpotqa.json"
    rng = random.Random(11)
    text = rng.randbytes(1 << 20).hex()
    with path.open("wb") as stream:
        stream.write(b"[")
        for number in itertools.count():
            # About 7 kB, each another.
            titles = [f"Title {number}-{n}" for n in range(10)]
            starts = [[rng.randrange(len(text) - 160) for _ in range(4)] for _ in range(10)]
            sentences = [[text[at : at + 160] for at in each] for each in starts]
            context = {"title": titles, "sentences": sentences}
            stream.write(
                json.dumps({**HOTPOT_HUB, "id": f"q{number}", "context": context}).encode()
            )
            if stream.tell() > 125 * 10**6:
                break
            stream.write(b", ")
        stream.write(b"]")
    done = subprocess.run(
        [sys.executable, "-c", CONVERT, str(path)],
        check=True,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    # Of a file of 10 MB as of this one it is 156: a third of the file would show.
    assert int(done.stdout) / 1024 < 190
    for each in tmp_path.iterdir():
        each.unlink()
