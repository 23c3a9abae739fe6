"""Translating a benchmark from the memory alone: a pure function, no key, no network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bears.errors import MemoryMiss
from bears.translation.memory import Memory, Request, Translator
from bears.types import Document, Question

SHOWN = 5


def requests(
    questions: Sequence[Question],
    documents: Sequence[Document],
    languages: Mapping[str, str],
    target: str,
) -> Iterator[Request]:
    """Every text that must be translated, in the order of the files.

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


def translate(
    questions: Sequence[Question],
    documents: Sequence[Document],
    languages: Mapping[str, str],
    memory: Memory,
    translator: Translator,
) -> tuple[list[Question], list[Document]]:
    """Replace every text that is not in the target language by its entry in the memory.

    Raises:
        MemoryMiss: entries are missing; all are counted and the first few listed. A source text
            never stands in for its translation.
    """
    # By text as well: two documents of a set with v1's defects can bear one id.
    texts: dict[tuple[str, str, str], str] = {}
    missing: list[Request] = []
    for request in requests(questions, documents, languages, translator.target):
        entry = memory.get(translator.key(request), request.record_id)
        if entry is None:
            missing.append(request)
        else:
            texts[request.record_id, request.field, request.text] = entry.translation
    if missing:
        raise MemoryMiss(_missing_message(missing, translator))
    return (
        [
            replace(
                q,
                question=texts.get((q.question_id, "question", q.question), q.question),
                gold_answer=texts.get((q.question_id, "gold_answer", q.gold_answer), q.gold_answer),
            )
            for q in questions
        ],
        [
            replace(d, content=texts.get((d.doc_id, "content", d.content), d.content))
            for d in documents
        ],
    )


def _missing_message(missing: Sequence[Request], translator: Translator) -> str:
    counts = Counter(request.field for request in missing)
    by_field = ", ".join(f"{count} {field}" for field, count in sorted(counts.items()))
    shown = "\n".join(
        f"  {request.record_id} {request.field}: {request.text!r:.70}"
        for request in missing[:SHOWN]
    )
    more = f"\n  … and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
    return (
        f"the memory lacks {len(missing)} translations into {translator.target} by translator "
        f"{translator.name} ({by_field}):\n{shown}{more}\n"
        "To fill it from a published set with the four files queries_raw.json, corpus_raw.json, "
        "queries.json and corpus.json: python -m bears memory import BENCHMARK FOLDER"
    )
