"""Making a memory out of a published set: a benchmark's raw files beside its translated ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from bears.errors import FormatError
from bears.formats.records import read_documents, read_questions
from bears.translation.memory import Entry, Request, Translator
from bears.translation.replay import requests
from bears.types import Document, Question


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
    _check_untouched(folder, wanted, translations, raw_questions, raw_documents)
    variants: dict[str, dict[str, Request]] = defaultdict(dict)
    for request in wanted:
        text = translations[request.record_id, request.field]
        variants[translator.key(request)].setdefault(text, request)
    return [
        Entry(
            key=translator.key(request),
            record_id=request.record_id if len(variants[translator.key(request)]) > 1 else "",
            field=request.field,
            text=request.text,
            translation=translations[request.record_id, request.field],
        )
        for request in wanted
    ]


def _pairs(
    folder: Path,
    raw_questions: list[Question],
    raw_documents: list[Document],
    questions: list[Question],
    documents: list[Document],
) -> Iterator[tuple[tuple[str, str], str]]:
    by_question = {q.question_id: q for q in questions}
    by_document = {d.doc_id: d for d in documents}
    for name, wanted, found in (
        ("queries", {q.question_id for q in raw_questions}, by_question.keys()),
        ("corpus", {d.doc_id for d in raw_documents}, by_document.keys()),
    ):
        if different := wanted ^ found:
            raise FormatError(
                f"{folder}: {name}_raw.json and {name}.json hold different records: "
                f"{len(different)} are in one of them only, e.g. {min(different)}"
            )
    for raw in raw_questions:
        yield (raw.question_id, "question"), by_question[raw.question_id].question
        yield (raw.question_id, "gold_answer"), by_question[raw.question_id].gold_answer
    for document in raw_documents:
        yield (document.doc_id, "content"), by_document[document.doc_id].content


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


def _check_untouched(
    folder: Path,
    wanted: list[Request],
    translations: Mapping[tuple[str, str], str],
    questions: list[Question],
    documents: list[Document],
) -> None:
    translated = {(request.record_id, request.field) for request in wanted}
    texts = {(q.question_id, "question"): q.question for q in questions}
    texts |= {(q.question_id, "gold_answer"): q.gold_answer for q in questions}
    texts |= {(d.doc_id, "content"): d.content for d in documents}
    for place, text in texts.items():
        if place not in translated and translations[place] != text:
            raise FormatError(
                f"{folder}: {place[1]} of {place[0]} is in the target language already, "
                "but its translated file holds another text"
            )
    if empty := [place for place in translated if not translations[place].strip()]:
        raise FormatError(f"{folder}: {empty[0][1]} of {empty[0][0]} has an empty translation")
