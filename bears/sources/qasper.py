"""QASPER (Dasigi et al. 2021, arXiv:2105.03011): questions about papers, asked by their readers.

Part ``papers``: the official v0.3 file, ``{arxiv id: paper}``, or the hub's rows, in which every
repeated field is an object of lists. A paper gives a document for each distinct paragraph that is
not blank, and one for its abstract. They and its questions have the paper's id as their group.

Gold is the union of the annotators' evidence. An evidence text is the paragraph with that very
text, apart from white space. What matches no paragraph is counted in the notes: names of sections,
and ``FLOAT SELECTED: …`` with a caption of a figure or a table, which the official evaluation can
leave out too (``--text_evidence_only``). With ``floats`` a caption is a document. With ``text:
pdf`` the documents are the paragraphs of the papers' PDFs, and an evidence text is the one that
has most of it, see `bears.language.overlap.Chunks`.

The type of a question is the type of answer that most of its annotators gave, or, if there are
several, the first of these in the file.

Retrieval is judged where there is gold. A question that every annotator calls unanswerable is not
judged: it takes documents to say so, and no single one is right. Nor is a question judged whose
evidence matches no document, or that was answered without any. Both are counted in the notes.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from bears.errors import SourceError
from bears.files.intake.files import json_value
from bears.files.progress import Progress
from bears.language.overlap import Chunks
from bears.sources.parts import Parts, RowRecords, numbered, pool_document, pool_question
from bears.sources.pdf import Library, PaperFailed, PdfSettings
from bears.sources.pdf_text import paragraphs
from bears.sources.rows import BadField, Ids, Row, Rows, check_row
from bears.types import Answer, AnswerType, ForbidsExtra, QuestionType


class QasperAnswer(TypedDict):
    unanswerable: bool
    extractive_spans: list[str]
    yes_no: bool | None
    free_form_answer: str
    evidence: list[str]


class Annotation(TypedDict):
    answer: QasperAnswer


class PaperQuestion(TypedDict):
    question: str
    question_id: str
    answers: Rows[Annotation]


class _Section(TypedDict):
    paragraphs: list[str]


class _Figure(TypedDict):
    caption: str


class Paper(TypedDict):
    id: str
    abstract: str
    full_text: Rows[_Section]
    qas: Rows[PaperQuestion]
    figures_and_tables: NotRequired[Rows[_Figure] | None]


def papers(parts: Parts) -> Iterator[Paper]:
    """Yield the papers of the part ``papers``, one at a time.

    Raises:
        SourceError: a file is damaged.
        MalformedRow: a field does not fit, an answer has none of the four types, or a paper or a
            question is there twice.
    """
    known = Ids()

    def checked(row: Row) -> Paper:
        paper: Paper = check_row(Paper, row)
        known.new(paper["id"], "id")
        for question in paper["qas"]:
            known.new(question["question_id"], "qas.question_id")
            for each in question["answers"]:
                if not type_and_text(each["answer"])[1]:
                    problem = f"question {question['question_id']} has an empty answer"
                    raise BadField("qas.answers", problem)
        return paper

    return parts.each(checked, "papers", _rows)


def _rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the papers of one object of papers by their ids, or the hub's rows."""
    papers = json_value(path, nan="none") if path.suffix == ".json" else None
    if not isinstance(papers, dict):
        yield from enumerate(papers, start=1) if isinstance(papers, list) else numbered(path)
        return
    for number, (key, value) in enumerate(papers.items(), start=1):
        yield number, {**value, "id": key} if isinstance(value, dict) else value


def type_and_text(answer: QasperAnswer) -> tuple[AnswerType, str]:
    """Return the type and text of an answer, by the order of the official evaluation.

    That order is: unanswerable, extractive, free form, yes or no. The text is empty if the answer
    has none of these.
    """
    if answer["unanswerable"]:
        return "unanswerable", "Unanswerable"
    if answer["extractive_spans"]:
        return "extractive", ", ".join(answer["extractive_spans"])
    if answer["free_form_answer"]:
        return "free-form", answer["free_form_answer"]
    return "yes-no", {True: "Yes", False: "No", None: ""}[answer["yes_no"]]


FLOAT = "FLOAT SELECTED"
# Papers in a row without an answer, after which the server counts as gone.
PATIENCE = 3


@dataclass(frozen=True)
class QasperSettings(ForbidsExtra):
    """The settings of the documents.

    Args:
        text: ``dataset`` for the paragraphs that the dataset has, ``pdf`` for those of the
            papers' PDFs, see `bears.sources.pdf`.
        abstract: whether abstracts are documents.
        floats: whether captions of figures and tables are documents.
        limit: the most papers to read; null: all.
        pdf: how PDFs are fetched and cut, see `bears.sources.pdf.PdfSettings`.
    """

    text: Literal["dataset", "pdf"] = "dataset"
    abstract: bool = True
    floats: bool = False
    limit: int | None = None
    pdf: PdfSettings = field(default_factory=PdfSettings)


Texts = dict[str, str]
"""The id of each document of a paper to its text."""
Find = Callable[[str], str | None]
"""Returns the id of the document that holds an evidence text, or None."""
PaperTexts = tuple[Paper, Texts, Find]


def read_qasper(parts: Parts) -> Iterator[RowRecords]:
    """Yield each paper's documents and then its questions.

    The dataset has no ids of documents. They are ``{paper}:{n}`` for the n-th paragraph from 0,
    ``{paper}:abstract``, ``{paper}:float:{n}``, and ``{paper}:pdf:{n}``.

    Raises:
        SourceError, MalformedRow: see `bears.sources.qasper.papers`.
        ConfigurationError: a setting does not fit.
    """
    settings = parts.settings(QasperSettings)
    chosen = islice(papers(parts), settings.limit)
    if settings.text == "dataset":
        found: Iterator[PaperTexts] = (_from_dataset(paper, settings) for paper in chosen)
    else:
        found = _from_pdfs(parts, list(chosen), settings.pdf)
    for paper, texts, find in found:
        for doc_id, text in texts.items():
            yield [pool_document(parts.dataset, doc_id, text, paper["id"])]
        for question in paper["qas"]:
            yield _question(parts, settings, paper, question, find)


def _from_dataset(paper: Paper, settings: QasperSettings) -> PaperTexts:
    """Return the paragraphs of the dataset, each distinct text once."""
    identifier = paper["id"]
    section_texts = (text for section in paper["full_text"] for text in section["paragraphs"])
    texts = [(f"{identifier}:{n}", text) for n, text in enumerate(section_texts)]
    if settings.abstract:
        texts.insert(0, (f"{identifier}:abstract", paper["abstract"]))
    if settings.floats:
        captions = (figure["caption"] for figure in paper.get("figures_and_tables") or ())
        texts += [(f"{identifier}:float:{n}", text) for n, text in enumerate(captions)]
    ids: dict[str, str] = {}
    found: Texts = {}
    for doc_id, text in texts:
        if (plain := _plain(text)) and ids.setdefault(plain, doc_id) == doc_id:
            found[doc_id] = text.strip()
    return paper, found, lambda text: ids.get(_plain(text))


def _from_pdfs(
    parts: Parts, chosen: Sequence[Paper], settings: PdfSettings
) -> Iterator[PaperTexts]:
    """Yield the papers whose PDF can be fetched; record the others, with their questions."""
    library = Library(parts.folder / "pdf", settings)
    unreachable = 0
    for paper in Progress(chosen, desc="PDFs", unit=" papers"):
        try:
            text = library.text(paper["id"])
        except PaperFailed as failed:
            parts.report.failures[paper["id"]] = str(failed)
            parts.report.notes["questions of papers that failed"] += len(paper["qas"])
            unreachable = 0 if failed.answered else unreachable + 1
            if unreachable == PATIENCE:
                raise SourceError(
                    f"source {parts.name}: {settings.base_url} did not answer for {PATIENCE} "
                    f"papers in a row ({failed}). What was fetched is kept in {library.folder}, "
                    "and the next run continues from there"
                ) from None
            continue
        unreachable = 0
        cut = paragraphs(text, settings.min_characters, settings.max_characters)
        texts = {f"{paper['id']}:pdf:{n}": text for n, text in enumerate(dict.fromkeys(cut))}
        yield paper, texts, _finder(texts)
    if len(parts.report.failures) == len(chosen):
        first = next(iter(parts.report.failures.items()), ("", "the file is empty"))
        raise SourceError(f"source {parts.name}: no paper could be fetched; {': '.join(first)}")


def _finder(texts: Texts) -> Find:
    ids: dict[int | None, str] = dict(enumerate(texts))
    chunks = Chunks(list(texts.values()))
    return lambda text: ids.get(chunks.holding_most_of(text))


def _question(
    parts: Parts, settings: QasperSettings, paper: Paper, question: PaperQuestion, find: Find
) -> RowRecords:
    answers = tuple(
        Answer(*type_and_text(answer), _evidence(parts, settings, answer["evidence"], find))
        for answer in (annotation["answer"] for annotation in question["answers"])
    )
    gold = dict.fromkeys((doc_id for a in answers for doc_id in a.evidence_doc_ids or ()), 1)
    if not gold:
        unanswerable = bool(answers) and all(answer.type == "unanswerable" for answer in answers)
        no_gold = "questions whose evidence is in no document"
        parts.report.notes["unanswerable questions" if unanswerable else no_gold] += 1
    best = next((a for a in answers if a.evidence_doc_ids), answers[0] if answers else None)
    made = pool_question(
        parts.dataset,
        question["question_id"],
        question["question"],
        best.text if best else "",
        gold,
        judged=bool(gold),
        answers=answers,
        group=paper["id"],
        kind=_type_of(answers),
    )
    return [made]


def _type_of(answers: Sequence[Answer]) -> QuestionType:
    """Return the type that most annotators gave, of several the one that comes first."""
    types = Counter(answer.type for answer in answers).most_common(1)
    return types[0][0] if types else "ad-hoc"


def _evidence(
    parts: Parts, settings: QasperSettings, texts: Sequence[str], find: Find
) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for text in texts:
        floating = text.startswith(FLOAT)
        if floating and not settings.floats:
            parts.report.notes["evidence in figures and tables"] += 1
        elif doc_id := find(text.removeprefix(FLOAT).removeprefix(":")):
            parts.report.notes["evidence found"] += 1
            found[doc_id] = None
        else:
            parts.report.notes["evidence that matches no document"] += 1
    return tuple(found)


def _plain(text: str) -> str:
    return " ".join(text.split())
