"""Making a memory out of a published set: a benchmark's raw files beside its translated ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from bears.errors import FormatError
from bears.formats.records import Record, read_documents, read_questions
from bears.translation.memory import Entry, Request, Translator
from bears.translation.replay import requests
from bears.types import Document, Question

Place = tuple[str, str, str]
"""(record id, field, source text)"""


def import_published(
    folder: Path, languages: Mapping[str, str], translator: Translator
) -> list[Entry]:
    """Entries for every translated text of a folder with the four published files.

    Where one source text has several translations, each entry is bound to its record.

    Args:
        folder: holds queries_raw.json, corpus_raw.json, queries.json and corpus.json.
        languages: source name to BCP 47 tag.
        translator: whose key the entries get.

    Raises:
        FormatError: a file is absent or malformed, the raw and translated records are not the
            same ones, a source is unknown, or a text in the target language was changed.
    """
    raw_questions = read_questions(folder / "queries_raw.json")
    raw_documents = read_documents(folder / "corpus_raw.json")
    _check_sources(folder, raw_questions, raw_documents, languages)
    translations = dict(
        _pairs(
            folder,
            raw_questions,
            raw_documents,
            read_questions(folder / "queries.json"),
            read_documents(folder / "corpus.json"),
        )
    )
    wanted = list(requests(raw_questions, raw_documents, languages, translator.target))
    _check_texts(folder, wanted, translations)
    variants: dict[str, set[str]] = defaultdict(set)
    for request in wanted:
        variants[translator.key(request)].add(translations[_place(request)])
    return [
        Entry(
            key=translator.key(request),
            record_id=request.record_id if len(variants[translator.key(request)]) > 1 else "",
            field=request.field,
            text=request.text,
            translation=translations[_place(request)],
        )
        for request in wanted
    ]


def _place(request: Request) -> Place:
    return request.record_id, request.field, request.text


def _pairs(
    folder: Path,
    raw_questions: list[Question],
    raw_documents: list[Document],
    questions: list[Question],
    documents: list[Document],
) -> Iterator[tuple[Place, str]]:
    """(record, field, source text) to translation, for every text of the set."""
    by_question = _by_id((q.question_id, q) for q in questions)
    for question_id, raw in _by_id((q.question_id, q) for q in raw_questions).items():
        question = _partner(by_question, question_id, folder, "queries")
        yield (raw.question_id, "question", raw.question), question.question
        yield (raw.question_id, "gold_answer", raw.gold_answer), question.gold_answer
    by_document = _by_id((d.doc_id, d) for d in documents)
    for doc_id, source in _by_id((d.doc_id, d) for d in raw_documents).items():
        document = _partner(by_document, doc_id, folder, "corpus")
        yield (source.doc_id, "content", source.content), document.content
    for name, left in (("queries", by_question), ("corpus", by_document)):
        if left:
            raise _different(folder, name, min(left)[0])


def _by_id(records: Iterable[tuple[str, Record]]) -> dict[tuple[str, int], Record]:
    """Records by id and occurrence: a set with v1's defects can hold an id twice."""
    seen: Counter[str] = Counter()
    found: dict[tuple[str, int], Record] = {}
    for identifier, record in records:
        found[identifier, seen[identifier]] = record
        seen[identifier] += 1
    return found


def _partner(
    records: dict[tuple[str, int], Record], place: tuple[str, int], folder: Path, name: str
) -> Record:
    if place not in records:
        raise _different(folder, name, place[0])
    return records.pop(place)


def _different(folder: Path, name: str, identifier: str) -> FormatError:
    return FormatError(
        f"{folder}: {name}_raw.json and {name}.json hold different records; "
        f"{identifier} is in one of them only"
    )


def _check_sources(
    folder: Path,
    questions: list[Question],
    documents: list[Document],
    languages: Mapping[str, str],
) -> None:
    names = {q.source_dataset for q in questions} | {d.original_source for d in documents}
    if unknown := names - languages.keys():
        raise FormatError(
            f"{folder}: source {', '.join(sorted(unknown))} is not one of the benchmark's: "
            f"{', '.join(languages)}"
        )


def _check_texts(folder: Path, wanted: list[Request], translations: Mapping[Place, str]) -> None:
    translated = {_place(request) for request in wanted}
    for place, text in translations.items():
        if place not in translated and place[2] != text:
            raise FormatError(
                f"{folder}: {place[1]} of {place[0]} is in the target language already, "
                "but its translated file holds another text"
            )
        if place in translated and not text.strip():
            raise FormatError(f"{folder}: {place[1]} of {place[0]} has an empty translation")
