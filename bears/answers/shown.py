"""Choose the documents to show, and how much of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bears.answers.settings import GeneratorSettings
from bears.errors import FormatError
from bears.files.records import stream_documents
from bears.files.trec import read_table
from bears.language.sentences import sentence_ends
from bears.retrieval.chunking import parts_of
from bears.types import Document, Question, document_of

Ids = Mapping[str, Sequence[str]]

BYTES_A_TOKEN = 3
"""Bytes of UTF-8. English prose has about 4.5, Chinese, Japanese and Korean 3 to 4.5 per token, so
all texts but tables of digits and signs keep the limit."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The documents to show for one question, in order.

    Args:
        doc_ids: of these documents.
        texts: the part of each document that is shown.
        cut: the documents that are shown in part.
        left_out: the documents without room.
    """

    doc_ids: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def show(documents: Iterable[Document], tokens: int) -> Shown:
    """Show as many of ``documents`` as have room, in their order.

    The first document without enough room ends with its last sentence that fits, or is left out
    with all after it if none fits. Only the very first document may be cut within a sentence.

    Args:
        tokens: of all together, a token for each `BYTES_A_TOKEN` bytes.
    """
    room, texts, doc_ids = tokens * BYTES_A_TOKEN, list[str](), list[str]()
    cut: tuple[str, ...] = ()
    waiting = list(documents)
    while waiting and not cut:
        text = waiting[0].content
        part = beginning(text, room, whole_sentences=bool(texts))
        if not part and text:
            break
        document = waiting.pop(0)
        cut = (document.doc_id,) if len(part) < len(text) else ()
        room -= len(part.encode("utf-8"))
        texts.append(part)
        doc_ids.append(document.doc_id)
    left_out = tuple(document.doc_id for document in waiting)
    return Shown(tuple(doc_ids), tuple(texts), cut, left_out)


def beginning(text: str, size: int, whole_sentences: bool) -> str:
    """Return ``text``, or as many of its first sentences as fit.

    Args:
        size: bytes of UTF-8 at most.
        whole_sentences: return nothing, instead of a part of a sentence, if no sentence fits.
    """
    data = text.encode("utf-8")
    if len(data) <= size:
        return text
    part = data[:size].decode("utf-8", "ignore")
    # The text after a sentence decides whether it ends there.
    ends = (end for end in sentence_ends(text[: len(part) + 100]) if end <= len(part))
    fitting = text[: max(ends, default=0)].rstrip()
    return fitting or ("" if whole_sentences else part)


def documents_of(
    questions: Sequence[Question], corpus: Path, run: Path, settings: GeneratorSettings
) -> dict[str, list[Document]]:
    """Return question_id to at most ``settings.documents`` chunks, for every question.

    Gold documents are sorted by descending grade.

    Raises:
        FormatError: the corpus lacks a document, or a file cannot be read.
    """
    ids = _ids(questions, run, settings)
    wanted = {doc_id for each in ids.values() for doc_id in each}
    found = parts_of(stream_documents(corpus), wanted)
    if lacking := sorted(wanted - found.keys()):
        raise FormatError(
            f"{corpus} lacks {len(lacking)} documents of the run, such as {lacking[0]!r:.80}; the "
            "run belongs to another benchmark: run `dvc repro retrieve` again"
        )
    return {key: [_named(found[name]) for name in each] for key, each in ids.items()}


def _named(part: Document) -> Document:
    """Return a chunk below the name of its document; a whole document stays as it is."""
    doc_id = document_of(part.doc_id)
    return part if doc_id == part.doc_id else replace(part, content=f"{doc_id}\n\n{part.content}")


def _ids(questions: Sequence[Question], run: Path, settings: GeneratorSettings) -> Ids:
    most = settings.documents
    if settings.context == "none":
        return {question.question_id: () for question in questions}
    if settings.context == "gold":
        return {question.question_id: _gold(question)[:most] for question in questions}
    return _first(run, [question.question_id for question in questions], most)


def _gold(question: Question) -> list[str]:
    """Return the gold, documents of higher grades first."""
    grades = question.grades
    return sorted(question.gold_parts, key=lambda name: -grades.get(document_of(name), 0))


def _first(run: Path, question_ids: Sequence[str], most: int) -> Ids:
    """Return the first documents of each ranking, without copying the rest."""
    table = read_table(run, question_ids)
    ends = zip(table.question_ids, table.starts[:-1], table.starts[1:], strict=True)
    rows = {key: table.documents[first : min(first + most, end)] for key, first, end in ends}
    return {
        key: [table.doc_ids[code] for code in rows[key]] if key in rows else ()
        for key in question_ids
    }
