"""Translating a benchmark from what is known: a pure function, no key, no network."""

from dataclasses import replace

from bears.errors import MemoryMiss
from bears.llm.use import missing_message
from bears.translation.source_texts import Lookup, Resolution, SourceTexts
from bears.types import Document, Question

MEND = """
To fill it from a published set with the four files queries_raw.json, corpus_raw.json, \
queries.json and corpus.json: python -m bears memory import BENCHMARK FOLDER
To fill it from a model: python -m bears memory fill translator=gpt-4.1, then publish"""


def resolve_fields(source_texts: SourceTexts, lookup: Lookup) -> Resolution:
    """Translate every field by itself, as BEARS v1 did, as far as ``lookup`` has answers."""
    resolution = Resolution()
    for plain in source_texts.requests():
        place = (plain.record_id, plain.field)
        times = source_texts.again.get(place)
        request = replace(plain, context={"again": times}) if times else plain
        text = source_texts.corrections.get(place) or resolution.ask(lookup, request)
        if text is not None:
            resolution.texts[plain.record_id, plain.field, plain.text] = text
    return resolution


def apply(
    source_texts: SourceTexts, resolution: Resolution, wanted: str
) -> tuple[list[Question], list[Document]]:
    """Put the translations into the records.

    Args:
        wanted: what may be missing, for the message.

    Raises:
        MemoryMiss: translations are missing; all are counted and the first few listed. A source
            text never stands in for its translation.
    """
    if resolution.missing:
        raise MemoryMiss(missing_message(resolution, wanted) + MEND)
    texts = resolution.texts
    return (
        [
            replace(
                q,
                question=texts.get((q.question_id, "question", q.question), q.question),
                gold_answer=texts.get((q.question_id, "gold_answer", q.gold_answer), q.gold_answer),
            )
            for q in source_texts.questions
        ],
        [
            replace(d, content=texts.get((d.doc_id, "content", d.content), d.content))
            for d in source_texts.documents
        ],
    )
