"""Whether texts are in the language of their index, which finds nothing of another one."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from bears.language.declared import LENGTH, MOST, SOME, contradiction, disagreeing
from bears.quality.verification.benchmark import Benchmark
from bears.types import Finding

LOOKED_AT = 2000
"""So many questions and documents, evenly spread, are held against the declared language."""
T = TypeVar("T")


class _Text(NamedTuple):
    source: str
    record_id: str
    field: str
    text: str


def languages(b: Benchmark) -> Iterator[Finding]:
    """A set most of whose texts are of another language is an error; a text of it, a warning.

    A set is the questions or the documents of one source, or of all where a benchmark is taken as
    it is. What gates say of a translated text is not said again.
    """
    if not b.written_in:
        return
    questions = (
        _Text(q.source_dataset, q.question_id, "question", q.question) for q in _some(b.questions)
    )
    documents = (
        _Text(d.original_source, d.doc_id, "content", d.content) for d in _some(b.documents)
    )
    for what, texts in (("questions", questions), ("documents", documents)):
        sets = defaultdict(list)
        for text in texts:
            sets["" if b.shares is None else text.source].append(text)
        for source, found in sets.items():
            yield from _of_set(b, f"{source} {what}".strip(), found)


def _some(records: Sequence[T]) -> Sequence[T]:
    return records[:: -(-len(records) // LOOKED_AT) or 1]


def _of_set(b: Benchmark, name: str, texts: Sequence[_Text]) -> Iterator[Finding]:
    reason, share = disagreeing((each.text for each in texts), b.written_in)
    if share > SOME:
        message = f"{share:.0%} of them do not look like {b.written_in}: {reason}"
        yield Finding("language", "error" if share > MOST else "warning", name, message)
    if share > MOST:
        return
    for each in texts:
        native = b.languages.get(each.source) == b.target.name
        if native and (found := contradiction(each.text[:LENGTH], b.written_in)):
            message = f"does not look like {b.written_in}: {found}"
            yield Finding("language", "warning", each.record_id, message, each.field)
