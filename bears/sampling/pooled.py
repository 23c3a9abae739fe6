"""Turn a source whose questions bring their own paragraphs into a pool of distinct texts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b

from bears.files.rows import SourceRecords
from bears.identity import unused_name
from bears.types import Document, Question, SourceQuestion


class Merged:
    """The documents of a source, one for each distinct text.

    A document has the name of its first paragraph, with _ for white space, which separates the
    columns of a run. So the gold of every question that has its text is complete.
    """

    def __init__(self, records: SourceRecords) -> None:
        self._records = records
        self._names: list[str] = []
        ids: dict[bytes, str] = {}
        names: set[str] = set()
        for document in records.documents:
            key = blake2b(document.content.encode(), digest_size=16).digest()
            if key not in ids:
                ids[key] = unused_name("_".join(document.original_id.split()), names)
            self._names.append(ids[key])

    def __iter__(self) -> Iterator[Document]:
        seen: set[str] = set()
        for name, document in zip(self._names, self._records.documents, strict=True):
            if name not in seen:
                seen.add(name)
                yield replace(document, doc_id=name, original_id=name)

    def question(self, asked: SourceQuestion) -> Question:
        """Return a question with its gold among these documents."""
        gold = dict.fromkeys(self._names[p.place] for p in asked.passages if p.is_gold)
        return replace(asked.question, gold_doc_ids=tuple(gold), judged=bool(gold))


def references_of(answers: Sequence[str]) -> list[str]:
    """Return the distinct answers of annotators, or nothing where there is one at most."""
    distinct = [*dict.fromkeys(answer for answer in answers if answer.strip())]
    return distinct if len(distinct) > 1 else []
