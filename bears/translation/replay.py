"""Translating a benchmark from what is known: a pure function, no key, no network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bears.errors import MemoryMiss
from bears.translation.memory import Request, Translator
from bears.translation.work import Lookup, Resolution, Work
from bears.types import Document, Question

SHOWN = 5


def requests(
    questions: Sequence[Question],
    documents: Sequence[Document],
    languages: Mapping[str, str],
    target: str,
) -> Iterator[Request]:
    """Every text that must be translated, field by field, in the order of the files.

    Args:
        questions: before translation.
        documents: before translation.
        languages: source name to BCP 47 tag.
        target: texts that are in this language already pass through untouched.
    """
    for question in questions:
        language = languages[question.source_dataset]
        if language != target:
            yield Request(question.question_id, "question", language, question.question)
            yield Request(question.question_id, "gold_answer", language, question.gold_answer)
    for document in documents:
        language = languages[document.original_source]
        if language != target:
            yield Request(document.doc_id, "content", language, document.content)


def resolve_fields(work: Work, lookup: Lookup) -> Resolution:
    """Translate every field by itself, as BEARS v1 did, as far as ``lookup`` has answers."""
    resolution = Resolution()
    for plain in requests(work.questions, work.documents, work.languages, work.target):
        place = (plain.record_id, plain.field)
        text = work.corrections.get(place)
        if text is None:
            times = work.again.get(place)
            text = resolution.ask(
                lookup, replace(plain, context={"again": times}) if times else plain
            )
        if text is not None:
            resolution.texts[plain.record_id, plain.field, plain.text] = text
    return resolution


def apply(
    work: Work, resolution: Resolution, translator: Translator
) -> tuple[list[Question], list[Document]]:
    """Put the translations into the records.

    Raises:
        MemoryMiss: translations are missing; all are counted and the first few listed. A source
            text never stands in for its translation.
    """
    if resolution.missing:
        raise MemoryMiss(_missing_message(resolution, translator))
    texts = resolution.texts
    return (
        [
            replace(
                q,
                question=texts.get((q.question_id, "question", q.question), q.question),
                gold_answer=texts.get((q.question_id, "gold_answer", q.gold_answer), q.gold_answer),
            )
            for q in work.questions
        ],
        [
            replace(d, content=texts.get((d.doc_id, "content", d.content), d.content))
            for d in work.documents
        ],
    )


def _missing_message(resolution: Resolution, translator: Translator) -> str:
    missing, waiting = resolution.missing, len(resolution.waiting)
    counts = Counter(request.field for request in missing)
    by_field = ", ".join(f"{count} {field}" for field, count in sorted(counts.items()))
    shown = "\n".join(
        f"  {request.record_id} {request.field}: {request.text!r:.70}"
        for request in missing[:SHOWN]
    )
    more = f"\n  … and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
    after = f", and {waiting} more follow from them" if waiting else ""
    return (
        f"the memory lacks {len(missing)} translations into {translator.target} by "
        f"{translator.name} ({by_field}){after}:\n{shown}{more}\n"
        "To fill it from a published set with the four files queries_raw.json, corpus_raw.json, "
        "queries.json and corpus.json: python -m bears memory import BENCHMARK FOLDER\n"
        "To fill it from a model: python -m bears memory fill translator=gpt-4.1, then publish"
    )
