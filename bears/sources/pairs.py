"""The shape ``pairs``: a question, the passages that answer it, and passages that do not.

``{question, positive, negatives}``, where either is a text, ``{title, text}``, or a list of such:
what dense retrievers are trained on, as sentence-transformers, Tevatron and DPR write it. A set may
have a row for each positive; rows of one question are one question, since a positive of another row
is none of its negatives. So all rows are held in memory.
"""

from collections import deque
from collections.abc import Iterator
from typing import Annotated, Any, NotRequired

from pydantic import BeforeValidator, TypeAdapter
from typing_extensions import TypedDict

from bears.errors import MalformedRow
from bears.sources.naming import Id, Naming, Words
from bears.sources.parts import Parts
from bears.sources.records import PassageRow
from bears.sources.rows import Row, Texts, as_rows, not_blank
from bears.types import Passage

WORDS: Words = {
    "id": ("_id", "query_id", "qid", "question_id"),
    "question": ("query", "anchor", "question_text"),
    "positive": ("positives", "pos", "positive_passages", "positive_ctxs"),
    "negatives": (
        *("negative", "neg", "negs", "hard_negatives", "negative_passages"),
        *("hard_negative_ctxs", "negative_ctxs"),
    ),
    "answers": ("answer",),
    "title": (),
    "text": ("passage_text", "contents", "content", "passage"),
}


class _Text(TypedDict):
    title: NotRequired[str | None]
    text: str


def _as_passages(value: Any) -> Any:
    """A list of objects, for which a text, an object, or a list of texts may stand."""
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        value = as_rows(value)
    listed = value if isinstance(value, list) else [value] if value else []
    return [{"text": each} if isinstance(each, str) else each for each in listed]


_Passages = Annotated[list[_Text], BeforeValidator(_as_passages)]


class _Row(TypedDict):
    id: NotRequired[Id | None]
    question: str
    positive: _Passages
    negatives: NotRequired[_Passages]
    answers: NotRequired[Texts]


_ROW = TypeAdapter(_Row)


def read(parts: Parts) -> Iterator[PassageRow]:
    """Yield each question once, where it stands first; one without an id is called by its row.

    A passage's text is its title, a space and its text, as BEIR's retrievers index it.

    Raises:
        MalformedRow: a field is missing or of another type, a question or passage is empty, or an
            id is that of another question.
    """
    naming = Naming(WORDS, parts)
    found: dict[str, tuple[str, list[str], dict[str, bool]]] = {}
    asked: dict[str, str] = {}

    def made(file: str, number: int, given: Row) -> None:
        name = str(sum(parts.counts.values()))
        row = naming.check(lambda _: _ROW, given, file, number)
        question = not_blank(row["question"], file, number, naming.called(given, "question"))
        if not row["positive"]:
            raise MalformedRow(file, number, naming.called(given, "positive"), "is empty")
        texts = [
            (text, field == "positive")
            for field in ("negatives", "positive")
            for text in _texts(row.get(field, ()), file, number, naming.called(given, field))
        ]
        known = found.get(question) or (row.get("id") or name, [], {})
        identifier, answers, passages = known
        if asked.setdefault(identifier, question) != question:
            raise MalformedRow(
                file,
                number,
                naming.called(given, "id"),
                f"{identifier!r:.80} is another question's too",
            )
        found[question] = known
        answers += row.get("answers", ())
        for text, positive in texts:
            passages[text] = passages.get(text, False) or positive

    deque(parts.each(made), 0)
    for question, (identifier, answers, passages) in found.items():
        answer, *aliases = dict.fromkeys(answers) or [""]
        listed = tuple(Passage(str(n), *each) for n, each in enumerate(passages.items()))
        yield PassageRow(identifier, question, answer, "ad-hoc", "", listed, tuple(aliases))


def _texts(passages: list[_Text], file: str, number: int, field: str) -> Iterator[str]:
    for n, passage in enumerate(passages):
        text = f"{passage.get('title') or ''} {passage['text']}".strip()
        yield not_blank(text, file, number, f"{field}.{n}")
