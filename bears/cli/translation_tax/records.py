"""The questions and documents of a benchmark that were translated, before and after."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bears.cli.translation_tax.parentheses import without_parentheses
from bears.errors import FormatError
from bears.files.records import read_documents, read_questions
from bears.types import Document, Question

ORIGINAL, TRANSLATED = ("queries_raw.json", "corpus_raw.json"), ("queries.json", "corpus.json")


@dataclass(frozen=True)
class TextSide:
    """Questions, and the documents of which they are asked; a source's language by its name."""

    questions: Sequence[Question]
    documents: Sequence[Document]

    def of(self, languages: Mapping[str, str], language: str) -> "TextSide":
        """The questions and documents of the sources of one language."""
        return TextSide(
            [q for q in self.questions if languages.get(q.source_dataset) == language],
            [d for d in self.documents if languages.get(d.original_source) == language],
        )

    def bare(self) -> "TextSide":
        """The same texts without parentheses."""
        return TextSide(
            [replace(q, question=without_parentheses(q.question)) for q in self.questions],
            [replace(d, content=without_parentheses(d.content)) for d in self.documents],
        )

    @property
    def sources(self) -> set[str]:
        """The names of all sources."""
        names = {question.source_dataset for question in self.questions}
        return names | {document.original_source for document in self.documents}


def read_sides(original: Path, translated: Path) -> tuple[TextSide, TextSide]:
    """Both sides of a benchmark, from the folders that hold `ORIGINAL` and `TRANSLATED`.

    Raises:
        FormatError: a file is absent or malformed, or the two are not of the same records.
    """
    sides = [
        TextSide(read_questions(folder / queries), read_documents(folder / corpus))
        for folder, (queries, corpus) in ((original, ORIGINAL), (translated, TRANSLATED))
    ]
    keys = [
        {(q.question_id, q.source_dataset, q.gold_doc_ids) for q in side.questions}
        | {(d.doc_id, d.original_source) for d in side.documents}
        for side in sides
    ]
    if differ := keys[0] ^ keys[1]:
        raise FormatError(
            f"{original} and {translated} are not of the same records: {len(differ)} stand on one "
            f"side alone or with another source or gold, such as {min(differ)[0]!r:.80}; where the "
            "pipeline made them, run `dvc repro`"
        )
    return sides[0], sides[1]
