"""QASPER (Dasigi et al. 2021, arXiv:2105.03011): questions about papers, asked by their readers.

Part ``papers``: the official v0.3 file, ``{arxiv id: paper}``, or the hub's rows, in which every
repeated field is an object of lists. A paper gives a document for each distinct paragraph that is
not blank, and one for its abstract; they and its questions have the paper's id as their group.

Gold is the union of the annotators' evidence. An evidence text is the paragraph with that very
text, white space at its ends and between its words aside. What matches no paragraph is counted in
the notes: names of sections, and ``FLOAT SELECTED: …`` with a caption of a figure or a table,
which the official evaluation can leave out too (``--text_evidence_only``); with ``floats`` a
caption is a document. With ``text: pdf`` the documents are the paragraphs of the papers' PDFs, and
an evidence text is the one that has most of it, see `bears.language.overlap.Chunks`.

Retrieval is judged where there is gold. A question that every annotator calls unanswerable is not:
it takes documents to say so, and none of them is the right one. Nor is one whose evidence matches
no document, or that was answered without any. Both are counted in the notes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from bears.config import parse
from bears.errors import SourceError
from bears.files.progress import Progress
from bears.language.overlap import Chunks
from bears.sources.parts import Parts
from bears.sources.pdf import Library, PaperFailed, PdfSettings, Unreachable
from bears.sources.pdf_text import paragraphs
from bears.sources.qasper_papers import AskedQuestion, Paper, papers, type_and_text
from bears.sources.records import PoolDocument, PoolQuestion
from bears.types import Answer, Closed

FLOAT = "FLOAT SELECTED"
# Papers in a row without an answer, after which the server counts as gone.
PATIENCE = 3
NO_GOLD = "questions whose evidence is in no document"


@dataclass(frozen=True)
class QasperSettings(Closed):
    """What the configuration says of the documents.

    Args:
        text: ``dataset`` for the paragraphs that the dataset has, ``pdf`` for those of the
            papers' PDFs, see `bears.sources.pdf`.
        abstract: whether abstracts are documents.
        floats: whether captions of figures and tables are documents.
        limit: at most so many papers; null: all.
        pdf: how PDFs are fetched and cut, see `bears.sources.pdf.PdfSettings`.
    """

    text: Literal["dataset", "pdf"] = "dataset"
    abstract: bool = True
    floats: bool = False
    limit: int | None = None
    pdf: PdfSettings = field(default_factory=PdfSettings)


Find = Callable[[str], str | None]
"""The id of the document that holds an evidence text, or None."""
Laid = tuple[Paper, list[PoolDocument], Find]


def read(parts: Parts) -> Iterator[PoolDocument | PoolQuestion]:
    """Yield each paper's documents and then its questions.

    Ids of documents are ``{paper}:{n}`` for the n-th paragraph from 0, ``{paper}:abstract``,
    ``{paper}:float:{n}``, and ``{paper}:pdf:{n}``: the dataset has none, and these say what they
    name.

    Raises:
        SourceError, MalformedRow: see `bears.sources.qasper_papers.papers`.
        ConfigurationError: a setting does not fit.
    """
    settings = parse(QasperSettings, dict(parts.settings), f"sources.{parts.name}.settings")
    chosen = islice(papers(parts), settings.limit)
    if settings.text == "dataset":
        laid: Iterator[Laid] = (_from_dataset(paper, settings) for paper in chosen)
    else:
        laid = _from_pdfs(parts, list(chosen), settings.pdf)
    for paper, documents, find in laid:
        yield from documents
        for asked in paper["qas"]:
            yield _question(parts, settings, paper, asked, find)


def _from_dataset(paper: Paper, settings: QasperSettings) -> Laid:
    documents = dataset_documents(paper, settings)
    places = {_plain(document.text): document.id for document in documents}
    return paper, documents, lambda text: places.get(_plain(text))


def _from_pdfs(parts: Parts, chosen: Sequence[Paper], settings: PdfSettings) -> Iterator[Laid]:
    """The papers whose PDF can be had; the others are recorded, with their questions."""
    library = Library(parts.folder / "pdf", settings)
    unreachable = 0
    for paper in Progress(chosen, desc="PDFs", unit=" papers"):
        try:
            text = library.text(paper["id"])
        except PaperFailed as failed:
            parts.failures[paper["id"]] = str(failed)
            parts.notes["questions of papers that failed"] += len(paper["qas"])
            unreachable = unreachable + 1 if isinstance(failed, Unreachable) else 0
            if unreachable == PATIENCE:
                raise SourceError(
                    f"source {parts.name}: {settings.base_url} did not answer for {PATIENCE} "
                    f"papers in a row ({failed}). What was fetched is kept in {library.folder}, "
                    "and the next run goes on from there"
                ) from None
            continue
        unreachable = 0
        found = paragraphs(text, settings.min_characters, settings.max_characters)
        yield paper, *_chunked(paper, list(dict.fromkeys(found)))
    if len(parts.failures) == len(chosen):
        first = next(iter(parts.failures.items()), ("", "there is none"))
        raise SourceError(f"source {parts.name}: no paper could be had; {': '.join(first)}")


def _chunked(paper: Paper, texts: list[str]) -> tuple[list[PoolDocument], Find]:
    identifier = paper["id"]
    documents = [
        PoolDocument(f"{identifier}:pdf:{n}", text, identifier) for n, text in enumerate(texts)
    ]
    chunks = Chunks(texts)

    def find(text: str) -> str | None:
        position = chunks.holding_most_of(text)
        return None if position is None else documents[position].id

    return documents, find


def dataset_documents(paper: Paper, settings: QasperSettings) -> list[PoolDocument]:
    """The paragraphs of the dataset, each distinct text once."""
    identifier = paper["id"]
    paragraphs = (text for section in paper["full_text"] for text in section["paragraphs"])
    texts = [(f"{identifier}:{n}", text) for n, text in enumerate(paragraphs)]
    if settings.abstract:
        texts.insert(0, (f"{identifier}:abstract", paper["abstract"]))
    if settings.floats:
        captions = (figure["caption"] for figure in paper.get("figures_and_tables") or ())
        texts += [(f"{identifier}:float:{n}", text) for n, text in enumerate(captions)]
    documents: dict[str, PoolDocument] = {}
    for doc_id, text in texts:
        if plain := _plain(text):
            documents.setdefault(plain, PoolDocument(doc_id, text.strip(), identifier))
    return list(documents.values())


def _question(
    parts: Parts, settings: QasperSettings, paper: Paper, asked: AskedQuestion, find: Find
) -> PoolQuestion:
    answers = tuple(
        Answer(*type_and_text(answer), _evidence(parts, settings, answer["evidence"], find))
        for answer in (annotation["answer"] for annotation in asked["answers"])
    )
    gold = dict.fromkeys(doc_id for answer in answers for doc_id in answer.evidence_doc_ids)
    if not gold:
        unanswerable = bool(answers) and all(answer.type == "unanswerable" for answer in answers)
        parts.notes["unanswerable questions" if unanswerable else NO_GOLD] += 1
    best = next((a for a in answers if a.evidence_doc_ids), answers[0] if answers else None)
    return PoolQuestion(
        id=asked["question_id"],
        question=asked["question"],
        answer=best.text if best else "",
        gold=tuple((doc_id, 1) for doc_id in gold),
        judged=bool(gold),
        answers=answers,
        group=paper["id"],
    )


def _evidence(
    parts: Parts, settings: QasperSettings, texts: Sequence[str], find: Find
) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for text in texts:
        floating = text.startswith(FLOAT)
        if floating and not settings.floats:
            parts.notes["evidence in figures and tables"] += 1
        elif doc_id := find(text.removeprefix(FLOAT).removeprefix(":")):
            parts.notes["evidence found"] += 1
            found[doc_id] = None
        else:
            parts.notes["evidence that matches no document"] += 1
    return tuple(found)


def _plain(text: str) -> str:
    return " ".join(text.split())
