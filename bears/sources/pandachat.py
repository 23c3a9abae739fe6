"""PandaChat-RAG-sl: questions that are part of the web pages which answer them, in Slovenian.

Part ``questions``: a JSON array of ``{query, answer, document, text, text_without_Q, …}``, with
bare NaN tokens for empty cells. A page that answers several questions has a row for each. What is
indexed is ``text_without_Q``: the page's text without any occurrence of any question asked of it.
If that field is missing, it is computed.
"""

from collections.abc import Iterator
from typing import NotRequired

from typing_extensions import TypedDict

from bears.identity import question_id
from bears.sources.parts import Parts, RowRecords, pool_document, pool_question
from bears.sources.rows import BadField, Ids, Row, check_row, not_blank


class _PandaChatRow(TypedDict):
    query: str
    answer: NotRequired[str | None]
    document: str
    text: str
    text_without_Q: NotRequired[str | None]


def read_pandachat(parts: Parts) -> Iterator[RowRecords]:
    """Yield the pages, each once, then the questions.

    A page keeps its name as its id, since submissions name pages so. A question has no id in the
    source and gets the version 5 UUID of ``q:{source}:{query}`` in the DNS namespace.

    Raises:
        MalformedRow: a field is missing, of another type or empty; a question is there twice; a
            page has another text than in an earlier row.
        SourceError: the file is damaged.
    """
    known, texts = Ids(), dict[str, str]()

    def checked(given: Row) -> _PandaChatRow:
        row: _PandaChatRow = check_row(_PandaChatRow, given)
        name = not_blank(row["document"], "document")
        text = row.get("text_without_Q") or not_blank(row["text"], "text")
        known.new(row["query"], "query")
        if texts.setdefault(name, text) != text:
            raise BadField("text", f"the page {name!r} has another text in an earlier row")
        return row

    rows = list(parts.each(checked, "questions"))
    for name, text in texts.items():
        for row in rows:
            if row["document"] == name and not row.get("text_without_Q"):
                text = text.replace(row["query"], "")
        yield [pool_document(parts.dataset, name, text)]
    for row in rows:
        identifier = question_id(parts.name, row["query"])
        gold = {row["document"]: 1}
        yield [
            pool_question(parts.dataset, identifier, row["query"], row.get("answer") or "", gold)
        ]
