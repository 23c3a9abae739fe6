"""Sets without code of their own: each published layout, through its shape, to a benchmark."""

import gzip
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bears.config.ledger.entries import Ledger
from bears.config.shape import Source
from bears.config.typed import parse
from bears.errors import BearsError, ConfigurationError, MalformedRow, SourceError
from bears.files.rows import SourceRecords, open_rows
from bears.sampling.lineage import Sample
from bears.sampling.mixture import Quota, Recipe
from bears.sampling.sample import sample
from bears.sampling.whole import Chosen, Whole, sample_whole
from bears.sources.convert import convert
from bears.sources.inspection import Look, _hops, inspect
from bears.sources.source import reader_of
from bears.types import ParagraphPlace, Question, SourceQuestion
from tests.sources.files import Row, Rows, array, article, asked, flat, lines, put, table

Files = Mapping[str, bytes]


def source(folder: Path, **settings: Any) -> Source:
    usual = {"name": "s", "language": "en", "licence": "CC0-1.0", "path": str(folder)}
    return parse(Source, {**usual, **settings}, "s")


def placed(folder: Path, files: Files) -> Path:
    """Write files; return the only one, or the folder of several."""
    put(folder, files)
    return folder / next(iter(files)) if len(files) == 1 else folder


def rows_of(folder: Path, files: Files, **settings: Any) -> SourceRecords:
    given = source(placed(folder / "in", files), **settings)
    convert(given, reader_of(given), None, folder, folder / "out.jsonl", folder / "kept")
    return open_rows(folder, "out.jsonl")


def looked(folder: Path, files: Files, *guess: str, **settings: Any) -> Look:
    """Inspect files, of which the shapes are tried in this order."""
    given = source(placed(folder, files), **{"shape": "squad", **settings})
    return inspect(given, guess, (), folder, folder / "kept")


def listed(found: SourceRecords) -> list[Any]:
    return [*found.documents, *found.questions]


def taken(folder: Path, files: Files, **settings: Any) -> Sample[Chosen]:
    rows = rows_of(folder, files, **settings)
    return sample_whole(Whole("s"), {"s": rows}, Ledger())


def told(benchmark: Sample[Chosen]) -> list[tuple[str, str, list[str]]]:
    """Return question, answer and texts of the gold."""
    texts = {document.doc_id: document.content for document in benchmark.documents}
    return [
        (q.question, q.gold_answer, [texts[i] for i in q.gold_doc_ids]) for q in benchmark.questions
    ]


DE = "Der Tee steht im Haus und nicht vor der Tür, denn dort ist es kalt."
DE_2 = "Das zweite Haus ist leer, und es gibt dort nichts zu trinken."
ARTICLES = [
    article("T1", (DE, [asked("1", "Wo?", ("im Haus", 14))])),
    article("T2", (DE_2, [asked("2", "Und hier?", ("nichts", 42))])),
]
NESTED = {"version": "1.1", "data": ARTICLES}
XQUAD = [{name: row[name] for name in row if name != "title"} for row in flat(ARTICLES)]
ANSWERED = [("Wo?", "im Haus", [DE]), ("Und hier?", "nichts", [DE_2])]
ZH = "《战国无双3》是由光荣和ω-force开发的战国无双系列的正统第三续作。"
CMRC_QUESTION = {
    "query_text": "谁开发？",
    "query_id": "DEV_0_0",
    "answers": ["光荣", "光荣和ω-force"],
}
CMRC: Rows = [
    {"context_id": "DEV_0", "context_text": ZH, "qas": [CMRC_QUESTION], "title": "战国无双3"}
]
KO = "차는 집 안에 있고 문 앞에는 없다."
KO_QUESTION = {"id": 7, "question": "어디에?", "answer": {"text": "집 안", "answer_start": 3}}
KORQUAD_2: Row = {"data": [{"title": "차", "context": KO, "qas": [KO_QUESTION], "raw_html": "<p>"}]}
JA = "お茶は家の中にあり、外にはない。"
JAQUAD = f'id,title,context,question,answers.text\n01,茶,{JA},どこに？,"[""家の中""]"\n'.encode()
MUSIQUE_TEXTS = [("Tea", "Tea is kept in Ur."), ("Ur (a town)", "Ur is a town of Sumer.")]
MUSIQUE_PARAGRAPHS = [
    {"idx": n, "title": title, "paragraph_text": text, "is_supporting": n < 2}
    for n, (title, text) in enumerate([*MUSIQUE_TEXTS, ("Tea", "Tea is green.")])
]
MUSIQUE: Row = {
    "id": "2hop__1_2",
    "paragraphs": MUSIQUE_PARAGRAPHS,
    "question": "Of which land is the town where tea is kept?",
    "answer": "Sumer",
    "answer_aliases": ["Šumer"],
    "answerable": True,
}
UNANSWERABLE = {**MUSIQUE, "answerable": False}
HOPS = [(MUSIQUE["question"], "Sumer", ["Tea is kept in Ur.", "Ur is a town of Sumer."])]
MARCO: Row = {
    "query": "where is tea",
    "query_id": 5,
    "query_type": "LOCATION",
    "answers": ["In Ur."],
    "passages": {
        "is_selected": [0, 1],
        "passage_text": ["No.", "In Ur, the town."],
        "url": ["", ""],
    },
    "wellFormedAnswers": [],
}
NOBODY = {**MARCO, "query_id": 6, "answers": ["No Answer Present."]}
PAIRS: Rows = [
    {"anchor": "tea?", "positive": "Tea is kept in Ur.", "negative": "Milk is not."},
    {"anchor": "milk?", "positive": "Milk is white.", "negative": "Tea is kept in Ur."},
    # A further positive of the first question, which another row calls its negative.
    {"anchor": "tea?", "positive": "Tea is green.", "negative": "Milk is white."},
]
PAIRED = [("tea?", "", ["Tea is kept in Ur.", "Tea is green."]), ("milk?", "", ["Milk is white."])]
TEVATRON = {
    "query_id": 9,
    "query": "tea?",
    "positive_passages": [{"docid": "1", "title": "Tea", "text": "It is kept in Ur."}],
    "negative_passages": [{"docid": "2", "title": "", "text": "Milk is not."}],
}
CORPUS: Rows = [
    {"_id": 1, "title": "Tea", "text": "It is kept in Ur.", "metadata": {"url": ""}},
    {"_id": 2, "title": None, "text": "Milk is white."},
    {"_id": 3, "text": "Nothing is here."},
]
QUERIES: Rows = [{"_id": "q1", "text": "tea?"}, {"_id": "q2", "text": "milk?"}]
QRELS = b"query-id\tcorpus-id\tscore\nq1\t1\t2\nq1\t2\t1\nq1\t3\t0\n"
MTEB_QRELS: Rows = [
    {"query-id": "q1", "corpus-id": n, "score": s} for n, s in (("1", 2.0), ("2", 1.0), ("3", 0.0))
]
BEIR = {"corpus.jsonl": lines(CORPUS), "queries.jsonl": lines(QUERIES), "qrels/test.tsv": QRELS}
GRADED = [("tea?", "", ["Tea It is kept in Ur.", "Milk is white."])]
CSV = f"Nr;Frage;Kontext;Antwort\n1;Wo?;{DE};im Haus\n2;Und hier?;{DE_2};nichts\n".encode()
CSV_FIELDS = {"id": "Nr", "question": "Frage", "context": "Kontext", "answers": "Antwort"}
DEEP = lines([{**row, "answers": None, "a": {"b": row["answers"]}} for row in XQUAD])


def published(name: str, shape: str, files: Files, expected: list[Any], **settings: Any) -> Any:
    return pytest.param(shape, files, settings, expected, id=name)


SETS = [
    published("XQuAD", "squad", {"x.json": array(NESTED)}, ANSWERED, language="de"),
    published("XQuAD, hub", "squad", {"0.parquet": table(XQUAD)}, ANSWERED, language="de"),
    published(
        "CMRC 2018, first",
        "squad",
        {"dev.json": array(CMRC)},
        [("谁开发？", "光荣", [ZH])],
        language="zh-Hans-CN",
    ),
    published(
        "KorQuAD 2",
        "squad",
        {"k.json": array(KORQUAD_2)},
        [("어디에?", "집 안", [KO])],
        language="ko",
    ),
    published(
        "JaQuAD", "squad", {"dev.csv": JAQUAD}, [("どこに？", "家の中", [JA])], language="ja"
    ),
    published(
        "a folder, one split",
        "squad",
        {"train.json": b"{", "data/dev-0.parquet": table(XQUAD)},
        ANSWERED,
        language="de",
        split="validation",
    ),
    published("fields", "squad", {"f.csv": CSV}, ANSWERED, language="de", fields=CSV_FIELDS),
    published(
        "a path as a field",
        "squad",
        {"f.jsonl": DEEP},
        ANSWERED,
        language="de",
        fields={"answers": "a.b"},
    ),
    published(
        "MuSiQue",
        "multi-hop",
        {"m.jsonl": lines([MUSIQUE, {**MUSIQUE, "answerable": False}])},
        HOPS,
    ),
    published("MuSiQue, hub", "multi-hop", {"m.parquet": table([MUSIQUE])}, HOPS),
    published(
        "MS MARCO",
        "qa-with-passages",
        {"m.json.gz": gzip.compress(lines([NOBODY, MARCO]), mtime=0)},
        [("where is tea", "In Ur.", ["In Ur, the town."])],
    ),
    published("triplets", "pairs", {"t.jsonl": lines(PAIRS)}, PAIRED),
    published(
        "Tevatron",
        "pairs",
        {"t.jsonl": lines([TEVATRON])},
        [("tea?", "", ["Tea It is kept in Ur."])],
    ),
    published("BEIR", "beir", BEIR, GRADED, split="test"),
    published(
        "BEIR, packed",
        "beir",
        {
            "corpus.jsonl.gz": gzip.compress(lines(CORPUS), mtime=0),
            "queries.jsonl.gz": gzip.compress(lines(QUERIES), mtime=0),
            "qrels/test.tsv": QRELS,
            "qrels/train.tsv": b"x",
        },
        GRADED,
        split="test",
    ),
    published(
        "MTEB",
        "beir",
        {
            "corpus/corpus-0.parquet": table(CORPUS),
            "queries/queries-0.parquet": table(QUERIES),
            "qrels/test-0.parquet": table(MTEB_QRELS),
        },
        GRADED,
        split="test",
    ),
    published(
        "MTEB, JSON Lines",
        "beir",
        {
            "corpus.jsonl": lines([{**row, "id": row["_id"]} for row in CORPUS]),
            "queries.jsonl": lines(QUERIES),
            "qrels/test.jsonl": lines(MTEB_QRELS),
        },
        GRADED,
        split="test",
    ),
]


@pytest.mark.parametrize(("shape", "files", "settings", "expected"), SETS)
def test_a_published_set_is_a_benchmark(
    tmp_path: Path, shape: str, files: Files, settings: dict[str, Any], expected: list[Any]
) -> None:
    benchmark = taken(tmp_path, files, shape=shape, **settings)
    assert told(benchmark) == expected
    assert all(len(document.doc_id.split()) == 1 for document in benchmark.documents)


@pytest.mark.parametrize(("shape", "files", "settings", "expected"), SETS)
def test_a_look_finds_the_shape_and_the_first_question(
    tmp_path: Path, shape: str, files: Files, settings: dict[str, Any], expected: list[Any]
) -> None:
    guess = ["beir", "multi-hop", "squad", "qa-with-passages", "pairs"][len(files) == 1 :]
    known = {"split": settings.get("split", "")}
    # The names of CSV_FIELDS can be guessed; a path cannot.
    if settings.get("fields") not in (None, CSV_FIELDS):
        known, guess = {"fields": settings["fields"]}, ["squad"]
    look = looked(tmp_path, files, *guess, **known)
    found = (look.source.shape, look.question, look.gold)
    assert found == (shape, expected[0][0], expected[0][2][0])
    assert look.source.fields == settings.get("fields")


@pytest.mark.parametrize(("field", "value"), [("answers", [{}]), ("context", 7)])
def test_a_bad_row_does_not_make_another_shape_of_a_set(
    tmp_path: Path, field: str, value: Any
) -> None:
    content = lines([*XQUAD, {**XQUAD[0], "id": "8", field: value}])
    with pytest.raises(BearsError, match=rf"^x.jsonl, row 3, field {field}"):
        looked(tmp_path, {"x.jsonl": content}, "multi-hop", "squad", "pairs")


@pytest.mark.parametrize(("name", "text"), [("e.csv", b"a,b\n"), ("e.json", b"[]")])
def test_a_set_without_a_row_is_named(tmp_path: Path, name: str, text: bytes) -> None:
    with pytest.raises(BearsError, match=f"{name}: no row has a question with gold$"):
        looked(tmp_path, {name: text}, "multi-hop", "squad", "pairs")


def test_a_field_that_is_not_needed_is_not_guessed(tmp_path: Path) -> None:
    other = {"answer_fid": 7, "fid": 7}
    rows = [{"question": f"{n}?", "golden_answer": f"It is {n}.", **other} for n in range(3)]
    look = looked(tmp_path, {"x.jsonl": lines(rows)}, "squad", "pairs")
    assert (look.source.fields, look.questions) == ({"positive": "golden_answer"}, 3)


def test_the_paragraphs_of_hotpotqa_may_be_objects(tmp_path: Path) -> None:
    row = {
        **{"id": "1", "question": "Where?", "answer": "Ur"},
        "context": [
            {"title": "Tea", "sentences": ["Tea is", "in Ur."]},
            {"title": "A", "sentences": []},
        ],
        "supporting_facts": [{"title": "Tea", "sent_id": 0}, {"title": "Gone", "sent_id": 1}],
    }
    files = {"h.jsonl": lines([row])}
    assert told(taken(tmp_path, files, shape="multi-hop")) == [("Where?", "Ur", ["Tea is in Ur."])]
    given = source(tmp_path / "in" / "h.jsonl", shape="multi-hop")
    found = convert(given, reader_of(given), None, tmp_path, tmp_path / "again.jsonl")
    assert found["notes"] == {"questions with a supporting fact that is in no paragraph": 1}


def test_a_recipe_draws_from_any_mixture(tmp_path: Path) -> None:
    sources = {
        "nf": rows_of(tmp_path / "a", BEIR, shape="beir", split="test"),
        "pairs": rows_of(tmp_path / "b", {"t.jsonl": lines(PAIRS)}, shape="pairs"),
    }
    quotas = (Quota("nf", 1), Quota("pairs", 1))
    drawn = sample(Recipe(1, 6, quotas, ("nf", "pairs")), sources, Ledger())
    texts = {document.doc_id: document.content for document in drawn.documents}
    assert len(set(texts.values())) == 6
    graded, paired = drawn.questions
    grades = {texts[doc_id]: grade for doc_id, grade in graded.grades.items()}
    assert grades == {"Tea It is kept in Ur.": 2, "Milk is white.": 1}
    assert "Nothing is here." in texts.values()
    assert paired.gold_doc_ids


def test_both_of_musiques_pairs_fill_a_pool(tmp_path: Path) -> None:
    other = [{**p, "paragraph_text": f"{p['paragraph_text']} Or not."} for p in MUSIQUE_PARAGRAPHS]
    twin = {**UNANSWERABLE, "paragraphs": other}
    rows = rows_of(tmp_path, {"x.jsonl": lines([MUSIQUE, twin])}, shape="multi-hop")
    mixture = Recipe(1, 6, (Quota("s", 1),), ("s",))
    drawn = sample(mixture, {"s": rows}, Ledger())
    assert len({document.doc_id for document in drawn.documents}) == 6


BAD: dict[str, tuple[Rows, Rows]] = {
    "squad": (
        [{**XQUAD[0], "id": "7", "answers": 1967}, {**XQUAD[1], "answers": [3.5, "x"]}],
        [{**XQUAD[0], "context": None}, {**XQUAD[0], "context": " "}, {"id": "9"}],
    ),
    "multi-hop": (
        [{**MUSIQUE, "id": "good", "answer": 7, "answer_aliases": [8, "nine"]}],
        [{"id": "1", "question": "Who?", "answer": "Ur"}, {**MUSIQUE, "paragraphs": [7]}],
    ),
    "qa-with-passages": ([{**MARCO, "answers": 3}], [{**MARCO, "passages": "a"}, {}]),
    "pairs": (
        [{**PAIRS[0], "id": "p"}],
        [{"query": " ", "pos": ["Ur"]}, {"query": "Who?", "pos": []}, {"x": 1}],
    ),
}
"""Shape to rows that are odd but right, and rows that cannot be used."""


@pytest.mark.parametrize("shape", BAD)
@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_bad_rows_are_skipped_where_that_is_asked_for_and_named(
    tmp_path: Path, shape: str, name: str
) -> None:
    good, bad = BAD[shape]
    usual = {"shape": shape, "language": "de" if shape == "squad" else "en"}
    write = array if name == "x.json" else lines
    # A missing value as Python writes it, and a row that is not an object.
    others: list[Any] = [{"id": float("nan")}, 7]
    mixed = write([bad[0], *good, *bad[1:], *others])
    with pytest.raises(MalformedRow, match=r"x.jsonl?, row 1, .*\+\+sources\.s\.on_bad_row=skip"):
        rows_of(tmp_path / "stop", {name: mixed}, **usual)
    found = rows_of(tmp_path / "skip", {name: mixed}, **usual, on_bad_row="skip")
    assert listed(found) == listed(rows_of(tmp_path / "clean", {name: write(good)}, **usual))

    given = source(tmp_path / "skip" / "in" / name, **usual, on_bad_row="skip")
    out = tmp_path / "out.jsonl"
    [warning] = convert(given, reader_of(given), None, tmp_path, out)["warnings"]
    total = len(good) + len(bad) + 2
    begin = f"source s: {len(bad) + 2} of {total} rows are left out (on_bad_row: skip): "
    assert warning.startswith(f"{begin}{name}, row 1, field ")
    assert warning.count(f"{name}, row ") == 3
    report = (tmp_path / "out.jsonl.report.csv").read_text(encoding="utf-8")
    assert report.count("left out: ") == len(bad) + 2


def test_a_number_is_an_answer_as_it_stands(tmp_path: Path) -> None:
    squad = taken(tmp_path / "a", {"x.json": array(BAD["squad"][0])}, shape="squad", language="de")
    hops = taken(tmp_path / "b", {"x.json": array(BAD["multi-hop"][0])}, shape="multi-hop")
    references = [line["references"] for line in hops.lineage if "references" in line]
    assert [question.gold_answer for question in squad.questions] == ["1967", "3.5"]
    assert references == [["7", "8", "nine"]]


@pytest.mark.parametrize(("written", "expected"), [("51.0", "51"), ("-3.0", "-3"), ("0.5", "0.5")])
def test_a_whole_number_has_no_point(tmp_path: Path, written: str, expected: str) -> None:
    row = array({**XQUAD[0], "answers": []}).replace(b"[]", f"[{written}]".encode())
    found = taken(tmp_path, {"x.json": row}, shape="squad", language="de")
    assert [question.gold_answer for question in found.questions] == [expected]


def test_a_missing_field_is_reported_with_the_fields_that_the_row_has(tmp_path: Path) -> None:
    row = lines([{"qid": "1", "question": "Wo?", "answers": ["da"]}])
    with pytest.raises(MalformedRow, match=r"context: Field required; there: qid, question, answ"):
        rows_of(tmp_path, {"x.jsonl": row}, shape="squad", language="de")


def test_after_an_empty_first_answer_the_next_is_shown_and_nothing_is_gold(tmp_path: Path) -> None:
    row = {**XQUAD[0], "answers": ["", "im Haus"]}
    [found] = rows_of(tmp_path, {"x.jsonl": lines([row])}, shape="squad", language="de").questions
    assert (found.question.gold_answer, found.references) == ("im Haus", ("", "im Haus"))
    assert (found.lacks, [passage.is_gold for passage in found.passages]) == ("judgement", [False])


def test_bad_rows_of_a_benchmark_are_skipped_in_each_of_its_files(tmp_path: Path) -> None:
    files = {
        "corpus.jsonl": lines([*CORPUS, {"_id": "no text"}]),
        "queries.jsonl": lines([*QUERIES, {"_id": "q9", "text": None}]),
        "qrels/test.tsv": QRELS + b"q9\t1\t1\nq1\t1\thigh\n",
    }
    found = rows_of(tmp_path / "a", files, shape="beir", split="test", on_bad_row="skip")
    wanted = rows_of(tmp_path / "b", BEIR, shape="beir", split="test")
    assert listed(found) == listed(wanted)


def test_a_set_of_nothing_but_bad_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"2 of 2 rows are left out .*No row can be used"):
        rows_of(tmp_path, {"x.json": array([7, {}])}, shape="pairs", on_bad_row="skip")


def test_a_look_that_stops_at_a_bad_row_says_how_to_skip_it(tmp_path: Path) -> None:
    files = {"x.jsonl": lines([*XQUAD, {"id": "8"}])}
    with pytest.raises(SourceError, match=r"x\.jsonl, row 3, .* add on_bad_row=skip"):
        looked(tmp_path, files, "squad")
    assert looked(tmp_path, files, "squad", on_bad_row="skip").questions == 2


TITLED = [
    {
        **{"_id": str(n), "question": f"Who is {n}?", "answer": "Ur", "type": "bridge"},
        "context": [
            ["Tea", ["Tea is in Ur."]],
            [f"List {n}", ["A text."]],
            [f"A {n}", [f"It {n}."]],
        ],
        "supporting_facts": [["Tea", 0], [f"A {n}", 0]],
    }
    for n in range(3)
]
"""One text under one title in each row, another one under three titles, and three others."""


def test_paragraphs_that_differ_in_their_title_alone_are_one_document(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, {"h.json": array(TITLED)}, shape="multi-hop")
    whole = sample_whole(Whole("s"), {"s": rows}, Ledger())
    assert len([*whole.documents]) == 5
    drawn = sample(Recipe(1, 5, (Quota("s", 3),), ()), {"s": rows}, Ledger())
    assert len(drawn.documents) == 5


@pytest.mark.slow
def test_hotpotqa_has_paragraphs_that_differ_in_their_title_alone(
    tmp_path: Path, shared_data: Path
) -> None:
    content = (shared_data / "official" / "hotpot_dev_distractor_v1.sample.json").read_bytes()
    titles: dict[str, set[str]] = {}
    for row in json.loads(content):
        for title, sentences in row["context"]:
            titles.setdefault(" ".join(sentences), set()).add(title)
    whole = taken(tmp_path, {"h.json": content}, shape="multi-hop")
    assert len([*whole.documents]) == len(titles)


def test_a_look_counts_the_pool_and_the_gold(tmp_path: Path) -> None:
    # Documents of one text are several, and a judged document may be missing.
    corpus = [{"_id": f"d{n}", "text": "Tea is kept in Ur." * (n % 2)} for n in range(9)]
    qrels = b"q1\td1\t1\nq1\td2\t2\nq1\td3\t0\nq2\td1\t1\nq2\tgone\t1\n"
    files = {**BEIR, "corpus.jsonl": lines(corpus), "qrels/test.tsv": qrels}
    look = looked(tmp_path, files, "beir")
    assert (look.documents, look.questions, look.gold_documents, look.cut) == (9, 2, 3, False)


def test_a_look_at_more_rows_than_it_reads_says_so(tmp_path: Path) -> None:
    rows = [{**XQUAD[0], "id": str(n), "context": f"{DE} {n}"} for n in range(201)]
    look = looked(tmp_path, {"x.jsonl": lines(rows)}, "squad")
    assert (look.documents, look.questions, look.gold_documents, look.cut) == (200, 200, 200, True)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"title": "titel"}, r"\{title: titel\}, but no row has a field of that name"),
        ({"titel": "title"}, r"no field is called titel; this shape has id, title"),
    ],
)
def test_a_field_that_no_row_has_is_no_silent_nothing(
    tmp_path: Path, fields: dict[str, str], message: str
) -> None:
    files = {"x.jsonl": lines(XQUAD)}
    with pytest.raises((SourceError, ConfigurationError), match=message):
        rows_of(tmp_path, files, shape="squad", language="de", fields=fields)


# ------------------------------------------------------------------------------------ bad files


def bad(row: dict[str, Any], **change: Any) -> bytes:
    """Return a good row and one with a change; a field that is `...` is missing."""
    changed = {name: value for name, value in {**row, **change}.items() if value is not ...}
    return lines([row, changed])


PAIR = {**PAIRS[0], "id": "0"}
FIELDS: list[tuple[str, dict[str, Any], str, Any, str]] = [
    # The shape, a good row, a field of it, a bad value, and our word for the field.
    *(("squad", XQUAD[0], name, ..., name) for name in ("id", "question", "context", "answers")),
    ("squad", XQUAD[0], "id", 1.5, "id"),
    ("squad", XQUAD[0], "question", 7, "question"),
    ("squad", XQUAD[0], "question", " ", "question: is empty"),
    ("squad", XQUAD[0], "context", " ", "context: is empty"),
    ("squad", XQUAD[0], "id", "", "id: is empty"),
    ("squad", XQUAD[0], "id", "1", "id: '1' is in an earlier row"),
    ("squad", XQUAD[0], "answers", [{}], "answers.0"),
    ("squad", XQUAD[0], "answers", {"text": ["a"], "start": []}, "answers: its lists differ"),
    ("squad", XQUAD[0], "data", None, "(row): Input should be a valid dictionary"),
    *(("multi-hop", MUSIQUE, name, ..., name) for name in ("id", "question", "answer")),
    ("multi-hop", MUSIQUE, "answer", None, "answer"),
    ("multi-hop", MUSIQUE, "id", MUSIQUE["id"], "id: '2hop__1_2' is in"),
    ("multi-hop", MUSIQUE, "paragraphs", "[x", "paragraphs"),
    ("multi-hop", MUSIQUE, "paragraphs", [{"is_supporting": True}], "paragraphs.0.text"),
    ("multi-hop", MUSIQUE, "paragraphs", [{"paragraph_text": "a"}], "paragraphs.0.is_gold"),
    ("multi-hop", TITLED[0], "supporting_facts", [["a", 0, "b"]], "supporting_facts.0"),
    ("qa-with-passages", MARCO, "query", ..., "question"),
    ("qa-with-passages", MARCO, "query", "\u200b", "question: is empty"),
    ("qa-with-passages", MARCO, "query_id", 5, "id: '5' is in an earlier row"),
    ("qa-with-passages", MARCO, "answers", [{}], "answers.0"),
    ("qa-with-passages", MARCO, "passages", ..., "passages"),
    ("qa-with-passages", MARCO, "passages", {"is_selected": [1], "x": []}, "passages: its"),
    ("pairs", PAIR, "anchor", None, "question"),
    ("pairs", PAIR, "anchor", "another?", "id: '0' is another question's too"),
    ("pairs", PAIR, "positive", ..., "positive"),
    ("pairs", PAIR, "positive", [], "positive: is empty"),
    ("pairs", PAIR, "positive", [" "], "positive.0: is empty"),
    ("pairs", PAIR, "negative", [1], "negatives"),
]


@pytest.mark.parametrize(("shape", "row", "field", "value", "named"), FIELDS)
def test_a_broken_row_is_named_with_its_field(
    tmp_path: Path, shape: str, row: dict[str, Any], field: str, value: Any, named: str
) -> None:
    identifier = "query_id" if "query_id" in row else "id"
    fresh = {identifier: "2"} if shape != "pairs" else {}
    content = bad(row, **{**fresh, field: value})
    with pytest.raises(MalformedRow) as caught:
        rows_of(tmp_path, {"x.jsonl": content}, shape=shape, language="de")
    assert f"x.jsonl, row 2, field {named}" in str(caught.value)
    assert not (tmp_path / "out.jsonl.documents.jsonl").exists()


ARTICLE = {"paragraphs": [{"context": DE, "qas": [{"id": 1}]}]}
CELLS = ("['b' 'c']", "{'text': array(['b'])}")
HEADER = "id,question,context,answers"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("dev.json", array({"data": [ARTICLE]}), "row 1, field paragraphs.0.qas.0.question"),
        ("dev.json", array({"data": [{"paragraphs": 7}]}), "row 1, field paragraphs"),
        ("dev.json", array({"data": [{"paragraphs": [{}]}]}), "field paragraphs.0.context"),
        *(
            ("x.csv", f'{HEADER}\n1,a,b,["b"]\n2,a,b,"{cell}"\n'.encode(), "row 2, field answers: ")
            for cell in CELLS
        ),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    with pytest.raises(BearsError, match=rf"^.*{name}, ") as caught:
        rows_of(tmp_path, {name: content}, shape="squad", language="de")
    assert message in str(caught.value)


def test_a_table_without_ids_keeps_its_answers(tmp_path: Path) -> None:
    files = {"x.csv": CSV.replace(b"Nr;", b"").replace(b"1;", b"").replace(b"2;", b"")}
    look = looked(tmp_path, files, "squad", "pairs")
    assert (look.source.shape, look.question, look.answer) == ("pairs", "Wo?", "im Haus")


CHALK = "Chalk is a soft, white, porous rock that formed from the shells of tiny animals."
CLAY = "Clay is a fine soil that can be shaped while it is wet, and is hard after it was fired."
ASKED = [
    ("Which rock is white and soft?", CHALK, "chalk"),
    ("What is clay made for?", CLAY, "pots"),
]
RAGAS = [
    {
        **{"user_input": question, "reference_contexts": [text, "Another text."]},
        **{"reference": answer, "persona_name": "A reader", "query_style": "PERFECT_GRAMMAR"},
        **{"query_length": "MEDIUM", "synthesizer_name": "single_hop_specific_query_synthesizer"},
    }
    for question, text, answer in ASKED
]
LLAMA_INDEX = {
    "examples": [
        {
            **{"query": question, "query_by": {"model_name": "gpt-4", "type": "ai"}},
            **{"reference_contexts": [text], "reference_answer": answer},
            "reference_answer_by": {"model_name": "gpt-4", "type": "ai"},
        }
        for question, text, answer in ASKED
    ]
}
EMBEDDING_PAIRS = {
    "queries": {f"q{n}": question for n, (question, _, _) in enumerate(ASKED)},
    "corpus": {**{f"d{n}": text for n, (_, text, _) in enumerate(ASKED)}, "d2": "Asked by none."},
    "relevant_docs": {f"q{n}": [f"d{n}"] for n in range(len(ASKED))},
    "mode": "text",
}
GOLDENS = [
    {
        **{"input": question, "actual_output": None, "expected_output": answer},
        **{"context": [text], "retrieval_context": ["Found."], "source_file": None},
    }
    for question, text, answer in ASKED
]
FINANCE_BENCH = [
    {
        **{"financebench_id": f"id_{n}", "doc_name": "3M_2018_10K", "question_type": "novel"},
        **{"question": question, "answer": answer, "justification": "It says so."},
        "evidence": [
            {
                **{"evidence_text": text[:40], "doc_name": "3M_2018_10K"},
                **{"evidence_page_num": 59, "evidence_text_full_page": text},
            }
        ],
    }
    for n, (question, text, answer) in enumerate(ASKED)
]
RGB = [
    {
        **{"id": n, "query": question, "answer": [[answer, answer.upper()]]},
        **{"positive": [text], "negative": ["Another text.", "And another."]},
    }
    for n, (question, text, answer) in enumerate(ASKED)
]
STRATEGY_QA = [
    {
        **{"qid": f"s{n}", "term": "Rock", "description": "A stone", "question": question},
        **{"answer": n == 0, "facts": [text], "evidence": [[[["Rock-1"], "operation"]]]},
    }
    for n, (question, text, _) in enumerate(ASKED)
]


def printed(rows: list[dict[str, Any]]) -> bytes:
    """Return a table as pandas writes it: lists as Python prints them."""
    return pd.DataFrame(rows).to_csv(index=False).encode()


def stored(rows: list[dict[str, Any]]) -> bytes:
    stream = io.BytesIO()
    pd.DataFrame(rows).to_parquet(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "answer", "documents"),
    [
        ("ragas.jsonl", lines(RAGAS), "chalk", 3),
        ("ragas.csv", printed(RAGAS), "chalk", 3),
        ("ragas.parquet", stored(RAGAS), "chalk", 3),
        ("rag_dataset.json", json.dumps(LLAMA_INDEX, indent=4).encode(), "chalk", 2),
        ("pairs.json", json.dumps(EMBEDDING_PAIRS, indent=4).encode(), "", 3),
        ("goldens.json", json.dumps(GOLDENS, indent=4).encode(), "chalk", 2),
        ("financebench.jsonl", lines(FINANCE_BENCH), "chalk", 2),
        ("rgb.json", lines(RGB), "chalk", 4),
        ("strategy_qa.json", array(STRATEGY_QA), "yes", 2),
    ],
)
def test_golden_sets_of_other_tools_are_known_by_their_names(
    tmp_path: Path, name: str, content: bytes, answer: str, documents: int
) -> None:
    look = looked(tmp_path, {name: content}, "multi-hop", "squad", "qa-with-passages", "pairs")
    assert (look.source.shape, look.source.fields) == ("pairs", None)
    assert (look.question, look.gold) == ASKED[0][:2]
    assert (look.questions, look.documents, look.answer) == (2, documents, answer)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        # FlashRAG's layout has no documents, so that its answers are the only texts.
        ({"question": "Who wrote book {}, and when?", "golden_answers": ["Ann"]}, "golden_answers"),
        # A constant has "query" in its name, and is the first of such fields.
        (
            {
                "query_kind": "PERFECT_GRAMMAR",
                "text_of_query": "What is {}?",
                "page_text": CLAY * 3,
            },
            "query_kind, text_of_query, page_text",
        ),
    ],
)
def test_a_guess_that_cannot_be_right_is_none_and_the_fields_are_listed(
    tmp_path: Path, fields: dict[str, Any], told: str
) -> None:
    rows = [
        {key: value.format(n) if isinstance(value, str) else value for key, value in fields.items()}
        for n in range(9)
    ]
    with pytest.raises(SourceError, match="no shape fits") as error:
        looked(tmp_path, {"x.jsonl": lines(rows)}, "multi-hop", "squad", "pairs")
    assert told in str(error.value)


@pytest.mark.parametrize(("several", "hops"), [(2, False), (3, True)])
def test_a_set_is_multi_hop_if_most_of_its_questions_have_several_gold_paragraphs(
    several: int, hops: bool
) -> None:
    def question(gold: int) -> SourceQuestion:
        passages = tuple(ParagraphPlace(f"p{n}", n, n < gold) for n in range(3))
        return SourceQuestion(Question("q", "Q?", "", (), "s", "multi-hop"), passages=passages)

    assert _hops([question(1 + (n < several)) for n in range(5)]) == hops
