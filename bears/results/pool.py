"""Documents that systems found and that wait for a judgement, and what people decided."""

from collections.abc import Callable, Collection, Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from bears.config.ledger.entries import PairDecision
from bears.config.ledger.sheet import WHOLE, Row, Sheet
from bears.config.typed import parse
from bears.errors import FormatError
from bears.files.records import stream_documents
from bears.identity import path_of
from bears.results.records import Records
from bears.retrieval.chunking import texts_of
from bears.retrieval.chunking.judged import ChunksOfDocuments
from bears.types import Chunk, ChunkRun, Document, Question

DECISIONS: tuple[Literal["relevant", "partial", "not"], ...] = ("relevant", "partial", "not")
SHEET = Sheet(
    ("record_id", "doc_id", "start", "end"),
    ("question", "answer", "document"),
    ("decision", "reason", "author"),
    choices=DECISIONS,
    beside=("file",),
    document="document",
)
"""A passage has ``start`` and ``end``."""
LONGEST = 2000
"""Characters of a document that a person is shown."""


def pooled(
    runs: Iterable[ChunkRun], depth: int, judged: Mapping[str, Collection[str]]
) -> dict[str, list[str]]:
    """Return the unjudged chunks among the first ones of any run.

    This is TREC's pooling (Spärck Jones and van Rijsbergen 1975).

    Args:
        runs: of the systems.
        depth: how many chunks to take from each ranking.
        judged: question_id to the names of the chunks that are already judged. Other questions
            are ignored.

    Returns:
        question_id to names of chunks, in a fixed order that reveals neither systems nor ranks.
    """
    found: dict[str, set[str]] = {question_id: set() for question_id in judged}
    for run in runs:
        for question_id in found.keys() & run.keys():
            found[question_id].update(hit.chunk.name for hit in run[question_id][:depth])
    return {
        question_id: sorted(names.difference(judged[question_id]), key=_shuffled(question_id))
        for question_id, names in found.items()
    }


def _shuffled(question_id: str) -> Callable[[str], bytes]:
    return lambda name: sha256(f"{question_id}\0{name}".encode()).digest()


def to_judge(
    records: Records, runs: Mapping[str, ChunkRun], depth: int, without_gold: bool
) -> list[dict[str, Any]]:
    """Return the rows of `SHEET`; those of questions without gold come first.

    Args:
        runs: of the systems, by their names.
        depth: see `pooled`.
        without_gold: whether to leave out all other questions.

    Raises:
        FormatError: a run has a document that is not in the benchmark.
    """
    documents = {each.doc_id: each for each in stream_documents(records.corpus)}
    questions = {q.question_id: q for q in records.source}
    found: set[Chunk] = set()
    for name, run in runs.items():
        for chunk in {hit.chunk for ranking in run.values() for hit in ranking}:
            if chunk.doc_id not in documents:
                raise FormatError(
                    f"{name}: its document {chunk.doc_id!r:.80} is not in the benchmark as it is "
                    "now"
                )
            found.add(chunk)
    texts = texts_of(documents.values(), found)
    chunks = {chunk.name: chunk for chunk in texts}
    cut = ChunksOfDocuments(documents.values(), texts)
    judged = {q.question_id: {*q.gold_doc_ids} for q in cut.questions(records.source)}
    for decision in cut.decisions(records.judgements):
        if decision.question_id in judged:
            judged[decision.question_id].add(decision.doc_id)
    unknown = {key: names for key, names in judged.items() if not questions[key].judged}
    chosen = pooled(runs.values(), depth, unknown if without_gold else {**unknown, **judged})
    return [
        {
            **{"record_id": key, "doc_id": chunk.doc_id},
            **({} if chunk.end is None else {"start": chunk.start, "end": chunk.end}),
            **_shown(questions[key], chunk, texts[chunk]),
            **{"file": path_of(chunk.doc_id), WHOLE: documents[chunk.doc_id].content},
        }
        for key, names in chosen.items()
        for chunk in map(chunks.__getitem__, names)
    ]


def read_judgements(
    path: Path,
    questions: Mapping[str, Question],
    documents: Mapping[str, Document],
    author: str = "",
) -> list[PairDecision]:
    """Return the decisions of a table of `SHEET`, each once.

    A row with an ``end`` is about a passage, and has its text under ``document``.

    Args:
        path: a table with decisions.
        questions, documents: of the benchmark, by their ids.
        author: of rows without one.

    Raises:
        FormatError: the file is malformed.
        ConfigurationError: naming each row with an unknown decision, question or document, with
            another text, or with another decision than a row above.
    """

    def current(row: Row) -> Mapping[str, str] | None:
        question, document = questions.get(row["record_id"]), documents.get(row["doc_id"])
        if question is None or document is None:
            return None
        place = (parse(int, row[name], name) for name in ("start", "end") if row["end"])
        chunk = Chunk(document.doc_id, *place)
        return _shown(question, chunk, chunk.of(document.content))

    def entry(where: str, row: Row) -> PairDecision:
        value = {name: row[name] for name in ("doc_id", *SHEET.blanks)}
        value |= {"question_id": row["record_id"]}
        value |= {"quotation": row["document"]} if row["end"] and row["document"].strip() else {}
        return parse(PairDecision, value, where)

    return SHEET.read(path, current, entry, author=author)


def _shown(question: Question, chunk: Chunk, text: str) -> dict[str, str]:
    """Return the texts of a row: of a whole document, the beginning."""
    if chunk.end is None and len(text) > LONGEST:
        text = f"{text[: LONGEST - 1]}…"
    return {"question": question.asked, "answer": question.gold_answer, "document": text}
