"""QASPER: two file shapes, four types of answers, and documents from the dataset or from PDFs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from fpdf import FPDF

from bears.config.shape import Part, Source
from bears.errors import SourceError
from bears.language.overlap import Chunks
from bears.sources import qasper
from bears.sources.convert import convert
from bears.sources.parts import Parts, RowRecords, pool_document, pool_question
from bears.sources.pdf import Library, PaperFailed, PdfSettings
from bears.sources.pdf_text import paragraphs
from bears.types import Answer, Document, Question, SourceQuestion
from tests.sources.files import Row, array, columns, put, table
from tests.sources.hub_server import listening

# ---------------------------------------------------------------- the same tiny data, both shapes

NOTHING: Row = {
    "unanswerable": False,
    "extractive_spans": [],
    "yes_no": None,
    "free_form_answer": "",
    "evidence": [],
    "highlighted_evidence": [],
}
INTRO = "We brew tea in water. It takes three minutes."
METHOD = "The pot is warm.\nThe leaves are green."
RESULT = "Tea tastes good."
CAPTION = "Table 1: Minutes and taste."
FLOAT = f"FLOAT SELECTED: {CAPTION}"


def annotation(**answer: Any) -> Row:
    return {"answer": {**NOTHING, **answer}, "annotation_id": "a", "worker_id": "w"}


def asked(identifier: str, question: str, *answers: Row) -> Row:
    named = {"question": question, "question_id": identifier, "nlp_background": "two"}
    return {**named, "answers": [*answers]}


PAPER: Row = {
    "title": "On tea",
    "abstract": "We study tea.",
    "full_text": [
        {"section_name": "Introduction", "paragraphs": [INTRO, "", METHOD]},
        {"section_name": None, "paragraphs": [f" {INTRO}", RESULT]},
    ],
    "qas": [
        asked(
            "q-span",
            "How long?",
            annotation(extractive_spans=["three", "minutes"], evidence=[INTRO]),
            annotation(free_form_answer="3 min", evidence=[RESULT, FLOAT, "Introduction"]),
        ),
        asked(
            "q-yes",
            "Is the pot warm?",
            annotation(unanswerable=True),
            annotation(yes_no=True, evidence=["The pot is warm. The leaves are green."]),
            annotation(yes_no=False),
        ),
        asked(
            "q-none", "And coffee?", annotation(unanswerable=True), annotation(unanswerable=True)
        ),
        asked("q-float", "Which minutes?", annotation(extractive_spans=["3"], evidence=[FLOAT])),
    ],
    "figures_and_tables": [{"caption": CAPTION, "file": "1-Table1.png"}],
}
OFFICIAL = {"2101.00001": PAPER}


def hub_row(identifier: str, paper: Row) -> Row:
    qas = [{**qa, "answers": columns(qa["answers"])} for qa in paper["qas"]]
    return {
        "id": identifier,
        **paper,
        "full_text": columns(paper["full_text"]),
        "qas": columns(qas),
        "figures_and_tables": columns(paper["figures_and_tables"]),
    }


HUB = [hub_row(*item) for item in OFFICIAL.items()]
GROUP = "2101.00001"
document = partial(pool_document, "qasper", group=GROUP)
question = partial(pool_question, "qasper", group=GROUP)
DOCUMENTS = [
    document("2101.00001:abstract", "We study tea."),
    document("2101.00001:0", INTRO),
    document("2101.00001:2", METHOD),
    document("2101.00001:4", RESULT),
]
UNANSWERABLE = Answer("unanswerable", "Unanswerable", ())
QUESTIONS = [
    question(
        "q-span",
        "How long?",
        "three, minutes",
        gold={"2101.00001:0": 1, "2101.00001:4": 1},
        answers=(
            Answer("extractive", "three, minutes", ("2101.00001:0",)),
            Answer("free-form", "3 min", ("2101.00001:4",)),
        ),
        kind="extractive",
    ),
    question(
        "q-yes",
        "Is the pot warm?",
        "Yes",
        gold={"2101.00001:2": 1},
        answers=(
            UNANSWERABLE,
            Answer("yes-no", "Yes", ("2101.00001:2",)),
            Answer("yes-no", "No", ()),
        ),
        kind="yes-no",
    ),
    # Nothing in the paper answers it, and every annotator says so.
    question(
        "q-none",
        "And coffee?",
        "Unanswerable",
        judged=False,
        answers=(UNANSWERABLE,) * 2,
        kind="unanswerable",
    ),
    # Something does, but no document holds it.
    question(
        "q-float",
        "Which minutes?",
        "3",
        judged=False,
        answers=(Answer("extractive", "3", ()),),
        kind="extractive",
    ),
]


def written(folder: Path, content: Any) -> Path:
    put(folder / "in", {"qasper.json": array(content)})
    return folder


def read(folder: Path, **settings: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return the records that come out, and the provenance."""
    given: list[RowRecords] = []

    def reader(parts: Parts) -> Iterator[RowRecords]:
        for row in qasper.read_qasper(parts):
            given.append(row)
            yield row

    parts = {"papers": Part(("*.json", "*.parquet"))}
    source = Source(
        "qasper", "en", "CC0-1.0", reader="-", path="in", parts=parts, settings=settings
    )
    found = convert(source, reader, None, folder, folder / "out.jsonl", folder / ".bears")
    return [record for row in given for record in row], found


def questions_of(rows: list[Any]) -> list[Question]:
    return [row.question for row in rows if isinstance(row, SourceQuestion)]


def test_the_official_file(tmp_path: Path) -> None:
    rows, provenance = read(written(tmp_path, OFFICIAL))
    assert rows == [*DOCUMENTS, *QUESTIONS]
    assert provenance["notes"] == {
        "evidence found": 3,
        "evidence in figures and tables": 2,
        "evidence that matches no document": 1,
        "questions whose evidence is in no document": 1,
        "unanswerable questions": 1,
    }
    assert provenance["failures"] == {}


def test_the_hubs_rows_read_as_the_official_file_does(tmp_path: Path) -> None:
    put(tmp_path / "in", {"0.parquet": table(HUB)})
    assert read(tmp_path)[0] == [*DOCUMENTS, *QUESTIONS]
    assert read(written(tmp_path, HUB))[0] == [*DOCUMENTS, *QUESTIONS]


def test_captions_can_be_documents(tmp_path: Path) -> None:
    rows, provenance = read(written(tmp_path, OFFICIAL), floats=True, abstract=False)
    caption = document("2101.00001:float:0", CAPTION)
    assert [row for row in rows if isinstance(row, Document)] == [*DOCUMENTS[1:], caption]
    gold = {each.question_id: each.gold_doc_ids for each in questions_of(rows)}
    assert gold["q-float"] == ("2101.00001:float:0",)
    assert provenance["notes"] == {
        "evidence found": 5,
        "evidence that matches no document": 1,
        "unanswerable questions": 1,
    }


def broken(**changes: Any) -> dict[str, Row]:
    return {GROUP: {**PAPER, **changes}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (broken(abstract=None), "row 1, field abstract: "),
        (broken(full_text=[{"section_name": "x"}]), "field full_text.0.paragraphs: Field requ"),
        (broken(qas=[{**PAPER["qas"][0], "answers": [annotation()]}]), "q-span has an empty answe"),
        (broken(qas=[PAPER["qas"][0]] * 2), "id: 'q-span' is in an earlier row too"),
        (broken(qas=[{"question": "?"}]), "field qas.0.question_id: Field required"),
        ({GROUP: "x"}, "field (row): not an object but 'x'"),
        ([{**HUB[0], "full_text": {"section_name": ["a"], "paragraphs": []}}], "lists differ in l"),
        ([HUB[0], HUB[0]], "row 2, field id: '2101.00001' is in an earlier row too"),
        ([{**HUB[0], "qas": 5}], "field qas: "),
        ({}, "there is no row in "),
        ([], "there is no row in "),
    ],
)
def test_a_broken_paper_is_named(tmp_path: Path, content: Any, message: str) -> None:
    written(tmp_path, content)
    with pytest.raises(SourceError) as caught:
        read(tmp_path)
    assert message in str(caught.value)


def test_both_real_shapes_of_six_papers_read_the_same(shared_data: Path, tmp_path: Path) -> None:
    found = {}
    for name in ("qasper-dev-v0.3.sample.json", "qasper.hf.sample.json"):
        content = json.loads((shared_data / "qasper" / name).read_bytes())
        found[name] = read(written(tmp_path, content))
    (official, provenance), (hub, _) = found.values()
    assert official == hub
    assert provenance["notes"] == {
        "evidence found": 56,
        "evidence in figures and tables": 10,
        "evidence that matches no document": 1,
        "questions whose evidence is in no document": 2,
        "unanswerable questions": 3,
    }
    questions = questions_of(official)
    assert len(questions) == 39
    assert sum(question.judged for question in questions) == 34
    assert all(bool(question.gold_doc_ids) == question.judged for question in questions)
    kinds = [answer.type for question in questions for answer in question.answers]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "free-form": 16,
        "extractive": 24,
        "unanswerable": 6,
        "yes-no": 6,
    }


# ------------------------------------------------------------------------------------------- PDFs

TEXTS = [
    "Tea was first brewed by accident, when leaves of a shrub fell into the kettle of a traveller "
    "who had stopped to rest. The story is told in many valleys, and each of them claims the "
    "traveller and the shrub for itself.",
    "Our method warms the pot before the leaves are added. Water that has just boiled is poured "
    "over them and left for three minutes, while a sand clock on the table tells when to serve. "
    "We do it nine times.",
    "The results show that the green leaves lose their taste when the water is too hot, whereas "
    "the black ones gain by it. Eleven of twelve guests preferred the warmed pot; the twelfth "
    "drank coffee throughout the experiment.",
]


def pdf_of(texts: list[str]) -> bytes:
    document = FPDF(format="letter")
    document.set_font("Helvetica", size=10)
    document.add_page()
    for text in texts:
        document.multi_cell(0, 5, text, new_x="LMARGIN", new_y="NEXT")
        document.ln(4)
    return bytes(document.output())


PDF = pdf_of(TEXTS)


@dataclass
class Answered:
    """What the server says to one request; ``cut`` bytes are missing at the end."""

    status: int = 200
    body: bytes = b""
    cut: int = 0
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Papers:
    """Papers on loopback. The last answer of a paper is given again and again."""

    answers: dict[str, list[Answered]]
    asked: list[str] = field(default_factory=list)
    url: str = ""


@contextmanager
def serving(answers: dict[str, list[Answered]]) -> Iterator[Papers]:
    state = Papers({paper: [*given] for paper, given in answers.items()})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paper = self.path.removeprefix("/pdf/")
            state.asked.append(paper)
            given = state.answers.get(paper) or [Answered(404)]
            answer = given.pop(0) if len(given) > 1 else given[0]
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(answer.body)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body[: len(answer.body) - answer.cut])

        def log_message(self, format: str, *args: Any) -> None:
            """Keep the tests' output free of the server's log."""

    with listening(Handler) as url:
        state.url = f"{url}/pdf/"
        yield state


@dataclass
class Time:
    """A clock that only sleeping moves."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now


def library(folder: Path, url: str, watch: Time, **more: Any) -> Library:
    settings = PdfSettings(base_url=url, **{"timeout_s": 5, **more})
    return Library(folder, settings, watch.sleep, watch.clock)


def test_requests_keep_their_distance_and_none_is_made_twice(tmp_path: Path) -> None:
    watch = Time()
    with serving({name: [Answered(body=PDF)] for name in ("1", "2", "cs/0101001")}) as server:
        papers = library(tmp_path, server.url, watch)
        texts = [papers.text(name) for name in ("1", "2", "cs/0101001", "1")]
        assert server.asked == ["1", "2", "cs/0101001"]
        assert watch.slept == [3.0, 3.0]
        assert "Tea was first brewed by accident" in texts[0]
        assert len({*texts}) == 1
        # Another run, and a server that is gone.
        assert library(tmp_path, server.url, Time()).text("2") == texts[0]
    assert library(tmp_path, "http://127.0.0.1:9/", Time()).text("cs/0101001") == texts[0]
    kept = sorted(path.name for path in tmp_path.glob("*.pdf"))
    assert kept == ["1.pdf", "2.pdf", "cs_0101001.pdf"]


@pytest.mark.parametrize(
    "faults",
    [
        [Answered(500), Answered(503)],
        [Answered(429, headers={"Retry-After": "40"})],
        [Answered(body=b"%PDF-1.4 " + b"x" * 5000, cut=1000)],
        [Answered(body=b"%PDF-1.4 " + b"x" * 5000)],
    ],
    ids=["errors", "busy", "cut", "without an end"],
)
def test_what_may_get_better_is_asked_again(tmp_path: Path, faults: list[Answered]) -> None:
    watch = Time()
    with serving({"1": [*faults, Answered(body=PDF)]}) as server:
        assert "kettle" in library(tmp_path, server.url, watch).text("1")
        assert len(server.asked) == len(faults) + 1
    # Never sooner than is polite, longer each time, and as long as the server asks for.
    assert watch.now >= max(40.0 if faults[0].status == 429 else 0, 3.0 * len(faults))
    assert watch.slept == sorted(watch.slept)


@pytest.mark.parametrize(
    ("answer", "message", "times"),
    [
        (Answered(404), "status 404", 1),
        (Answered(500), "status 500, 3 times", 3),
        (Answered(body=b"<html>Wait a moment</html>"), "sent '<html>Wait a moment</html>'", 1),
        (Answered(body=b"%PDF-1.4\n" + b"junk\n" * 99 + b"%%EOF"), "cannot be read", 1),
        (Answered(body=b"%PDF-1.4 " + b"x" * 200_000), "more than 100000 bytes", 1),
        (Answered(body=pdf_of([])), "holds no text", 1),
    ],
    ids=["absent", "broken", "html", "junk", "large", "images"],
)
def test_a_paper_that_cannot_be_had_says_why(
    tmp_path: Path, answer: Answered, message: str, times: int
) -> None:
    with serving({"1": [answer]}) as server:
        papers = library(tmp_path, server.url, Time(), attempts=3, max_bytes=100_000)
        with pytest.raises(PaperFailed) as caught:
            papers.text("1")
        assert message in str(caught.value)
        assert caught.value.answered
        assert len(server.asked) == times


@pytest.mark.parametrize("spoilt", [b"", b"no pdf", b"%PDF-1.4\n" + b"junk\n" * 99 + b"%%EOF"])
def test_a_kept_pdf_that_is_damaged_is_fetched_again(tmp_path: Path, spoilt: bytes) -> None:
    kept = tmp_path / "1.pdf"
    with serving({"1": [Answered(body=PDF)] * 2}) as server:
        papers = library(tmp_path, server.url, Time())
        text = papers.text("1")
        kept.write_bytes(spoilt)
        assert papers.text("1") == text
        assert kept.read_bytes() == PDF
        assert server.asked == ["1", "1"]
    kept.write_bytes(spoilt)
    gone = library(tmp_path, "http://127.0.0.1:9/", Time(), attempts=1)
    with pytest.raises(PaperFailed, match="no answer") as caught:
        gone.text("1")
    assert not caught.value.answered


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a b", "", "1?x=2", "1/../2"])
def test_an_id_is_no_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(PaperFailed, match="is not an arXiv id"):
        library(tmp_path, "http://127.0.0.1:9/", Time()).text(name)


def asking(*papers: str) -> dict[str, Row]:
    """Return papers with a question each, of which one answer's evidence is in TEXTS."""
    answers = [
        annotation(free_form_answer="x", evidence=[text])
        for text in (TEXTS[2], FLOAT, "Introduction")
    ]
    return {name: {**PAPER, "qas": [asked(f"q{name}", "?", *answers)]} for name in papers}


def test_documents_from_pdfs_with_a_failed_paper_recorded(tmp_path: Path) -> None:
    written(tmp_path, asking("1", "2", "3"))
    answers = {"1": [Answered(body=PDF)], "2": [Answered(404)], "3": [Answered(body=PDF)]}
    with serving(answers) as server:
        settings = {"base_url": server.url, "interval_s": 0, "min_characters": 100}
        rows, provenance = read(tmp_path, text="pdf", pdf=settings)
        assert provenance["failures"] == {"2": "status 404"}
        assert provenance["notes"] == {
            "evidence found": 2,
            "evidence in figures and tables": 2,
            "evidence that matches no document": 2,
            "questions of papers that failed": 1,
        }
        documents = [row for row in rows if isinstance(row, Document)]
        assert [(d.doc_id, d.content, d.group) for d in documents] == [
            (f"{paper}:pdf:{n}", text, paper) for paper in "13" for n, text in enumerate(TEXTS)
        ]
        assert [(q.question_id, q.gold_doc_ids) for q in questions_of(rows)] == [
            ("q1", ("1:pdf:2",)),
            ("q3", ("3:pdf:2",)),
        ]
        # The paper is there later: only it is asked for again.
        server.answers["2"] = [Answered(body=PDF)]
        server.asked.clear()
        _, provenance = read(tmp_path, text="pdf", pdf=settings)
        assert (provenance["failures"], server.asked) == ({}, ["2"])
        _, provenance = read(tmp_path, text="pdf", pdf=settings, limit=1)
        assert provenance["notes"]["evidence found"] == 1


def test_a_server_that_is_gone_ends_the_run_and_keeps_what_there_is(tmp_path: Path) -> None:
    written(tmp_path, asking("1", "2", "3", "4", "5"))
    with serving({"1": [Answered(body=PDF)]}) as server:
        settings = {"base_url": server.url, "interval_s": 0, "attempts": 2}
        read(tmp_path, text="pdf", pdf=settings, limit=1)
    with pytest.raises(SourceError, match="did not answer for 3 papers in a row"):
        read(tmp_path, text="pdf", pdf=settings)
    assert (tmp_path / ".bears/pdf/1.pdf").exists()


def test_lines_become_paragraphs() -> None:
    text = (
        "A line of the usual length goes on and on to an exam-\n"
        "ple of a word that was broken in two, and of a well-\n"
        "Known one that was not. It ends here.\n"
        "The next paragraph begins right below the one above,\n"
        "and ends with no full stop, since an empty line does\n"
        "\n"
        "Short. But\n"
        "this goes on, for no sentence ends where a line does.\n"
    )
    assert paragraphs(text, 1, 500) == [
        "A line of the usual length goes on and on to an example of a word that was broken in two, "
        "and of a well- Known one that was not. It ends here.",
        "The next paragraph begins right below the one above, and ends with no full stop, since an "
        "empty line does",
        "Short. But this goes on, for no sentence ends where a line does.",
    ]


def test_paragraphs_are_neither_too_short_nor_too_long() -> None:
    three = "One two three. Four five six. Seven eight."
    text = "\n\n".join([three] * 5)
    assert paragraphs(text, 60, 90) == [f"{three} {three}", f"{three} {three}", three]
    assert paragraphs(text, 1, 90) == [three] * 5
    assert paragraphs(three, 20, 30) == ["One two three. Four five six.", "Seven eight."]
    assert paragraphs("x" * 200, 60, 90) == ["x" * 90, "x" * 90, "x" * 20]
    assert paragraphs("", 60, 90) == []


def test_evidence_belongs_to_the_chunk_that_holds_most_of_it() -> None:
    chunks = Chunks(["a b c d e", "c d e f g h", "a b c d e", "x y"])
    assert chunks.holding_most_of("A b, c: d!") == 0
    assert chunks.holding_most_of("d e f g") == 1
    # One of four trigrams is too little, and so are two words.
    assert chunks.holding_most_of("a b c q r s") is None
    assert chunks.holding_most_of("x y") is None
    assert chunks.holding_most_of("") is None


def test_real_paragraphs_are_found_again_in_a_pdf(shared_data: Path, tmp_path: Path) -> None:
    """Printed as a PDF, a paper's evidence is found in the chunk that begins or goes on with it."""
    content = json.loads((shared_data / "qasper/qasper-dev-v0.3.sample.json").read_bytes())
    name, paper = "1811.00942", content["1811.00942"]
    texts = [text for part in paper["full_text"] for text in part["paragraphs"]]
    body = pdf_of([text.encode("latin-1", "replace").decode("latin-1") for text in texts])
    written(tmp_path, {name: paper})
    with serving({name: [Answered(body=body)]}) as server:
        rows, provenance = read(tmp_path, text="pdf", pdf={"base_url": server.url, "interval_s": 0})
    assert "evidence that matches no document" not in provenance["notes"]
    chunks = {row.doc_id: row.content for row in rows if isinstance(row, Document)}
    evidence = {
        text
        for qa in paper["qas"]
        for each in qa["answers"]
        for text in each["answer"]["evidence"]
        if not text.startswith("FLOAT")
    }
    gold = [chunks[doc_id] for each in questions_of(rows) for doc_id in each.gold_doc_ids]
    for text in evidence:
        words = set(text.split())
        assert max(len(words & set(chunk.split())) / len(words) for chunk in gold) > 0.5
