"""Replay kept translations, and write a published set, for the tests of several modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bears.files.records import write_records
from bears.llm.use import KeptReplies
from bears.translation.source_texts import SourceTexts, apply, resolve_fields
from bears.translation.translator import Translator
from bears.types import Document, Question


def write_published(
    folder: Path,
    raw_questions: Sequence[Question],
    raw_documents: Sequence[Document],
    questions: Sequence[Question],
    documents: Sequence[Document],
) -> None:
    """Write the four files of a published set."""
    folder.mkdir(exist_ok=True)
    write_records(folder / "queries_raw.json", raw_questions)
    write_records(folder / "corpus_raw.json", raw_documents)
    write_records(folder / "queries.json", questions)
    write_records(folder / "corpus.json", documents)


def translate(
    questions: Sequence[Question],
    documents: Sequence[Document],
    languages: Mapping[str, str],
    replies: KeptReplies,
    translator: Translator,
) -> tuple[list[Question], list[Document]]:
    """Translate field by field from kept replies."""
    source_texts = SourceTexts(questions, documents, languages, translator.target)
    found = resolve_fields(
        source_texts, lambda request: replies.get(translator.key(request), request.record_id)
    )
    return apply(source_texts, found, f"translations into {translator.target} by {translator.name}")
