"""Choose the documents to show, and how much of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bears.answers.settings import GeneratorSettings
from bears.errors import FormatError
from bears.files.chunk_run import read_chunk_run
from bears.files.records import stream_documents
from bears.files.trec import read_table
from bears.language.sentences import sentence_ends
from bears.retrieval.chunking import texts_of
from bears.types import Chunk, Question

Chunks = Mapping[str, Sequence[Chunk]]
Texts = Sequence[tuple[Chunk, str]]

BYTES_A_TOKEN = 3
"""Bytes of UTF-8. English prose has about 4.5, Chinese, Japanese and Korean 3 to 4.5 per token, so
all texts but tables of digits and signs keep the limit."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The chunks to show for one question, in order.

    Args:
        chunks: that are shown.
        texts: the part of each chunk that is shown.
        cut: the chunks that are shown in part.
        left_out: the chunks without room.
    """

    chunks: tuple[Chunk, ...] = ()
    texts: tuple[str, ...] = ()
    cut: tuple[Chunk, ...] = ()
    left_out: tuple[Chunk, ...] = ()


def show(chunks: Iterable[tuple[Chunk, str]], tokens: int) -> Shown:
    """Show as many of ``chunks`` as have room, in their order.

    The first chunk without enough room ends with its last sentence that fits, or is left out
    with all after it if none fits. Only the very first chunk may be cut within a sentence.

    Args:
        chunks: each with its text.
        tokens: of all together, a token for each `BYTES_A_TOKEN` bytes.
    """
    room, texts, shown = tokens * BYTES_A_TOKEN, list[str](), list[Chunk]()
    cut: tuple[Chunk, ...] = ()
    waiting = list(chunks)
    while waiting and not cut:
        chunk, text = waiting[0]
        part = beginning(text, room, whole_sentences=bool(texts))
        if not part and text:
            break
        waiting.pop(0)
        cut = (chunk,) if len(part) < len(text) else ()
        room -= len(part.encode("utf-8"))
        texts.append(part)
        shown.append(chunk)
    left_out = tuple(chunk for chunk, _ in waiting)
    return Shown(tuple(shown), tuple(texts), cut, left_out)


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


def with_texts(chosen: Chunks, corpus: Path) -> dict[str, Texts]:
    """Return chunks by question_id with their texts.

    Raises:
        FormatError: the corpus lacks a document.
    """
    wanted = {chunk for each in chosen.values() for chunk in each}
    found = texts_of(stream_documents(corpus), wanted)
    if lacking := sorted({chunk.doc_id for chunk in wanted - found.keys()}):
        raise FormatError(
            f"{corpus} lacks {len(lacking)} documents of the run, such as {lacking[0]!r:.80}; the "
            "run belongs to another benchmark: run `dvc repro retrieve` again"
        )
    # The text of a chunk is below the id of its document; a whole document stays as it is.
    shown = {
        chunk: text if chunk.end is None else f"{chunk.doc_id}\n\n{text}"
        for chunk, text in found.items()
    }
    return {key: [(each, shown[each]) for each in chunks] for key, chunks in chosen.items()}


def chosen(questions: Sequence[Question], run: Path, settings: GeneratorSettings) -> Chunks:
    """Return question_id to at most ``settings.documents`` chunks, for every question.

    Gold documents are sorted by descending grade.

    Args:
        run: of documents (TREC) or of chunks (Parquet).

    Raises:
        FormatError: the run cannot be read.
    """
    most, ids = settings.documents, [question.question_id for question in questions]
    if settings.context == "none":
        return dict.fromkeys(ids, ())
    if settings.context == "gold":
        return {question.question_id: _gold(question)[:most] for question in questions}
    if run.suffix == ".parquet":
        rankings = read_chunk_run(run, set(ids), most)
        return {key: [hit.chunk for hit in rankings[key]] for key in ids}
    found = read_table(run, ids).rankings()
    return {key: [Chunk(hit.doc_id) for hit in found.get(key, ())[:most]] for key in ids}


def _gold(question: Question) -> list[Chunk]:
    """Return the gold, documents of higher grades first."""
    grades = question.grades
    return sorted(question.gold_parts, key=lambda chunk: -grades.get(chunk.doc_id, 0))
