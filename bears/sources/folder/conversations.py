"""Bring rows with several questions, or with a conversation before one, into one form."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bears.errors import SourceError
from bears.sources.folder.fields import Field, fields_of, messages_in, question_field

CONVERSATION, ROW, TURN = "(conversation)", "(row)", "(turn)"
"""The names of where a question is, if several are in a row."""
SPEAKER = re.compile(r"^\s*([^\W\d_]{1,20}) ?[:：]\s*", re.MULTILINE)
"""Who says the words that follow."""

Rows = Sequence[tuple[str, dict[str, Any]]]


def one_question_each(rows: Rows, fixed: Mapping[str, str]) -> Rows:
    """Return a row for each question, in which a conversation before it is a list of messages.

    A row has several questions in a list of objects, or in a list beside which other lists are as
    long. They are a conversation if the list, or a field beside it, is called so.

    Args:
        rows: each after its name in messages.
        fixed: see `bears.sources.folder.fields.read_fields`.
    """
    values = [row for _, row in rows]
    for name in dict.fromkeys(name for row in values for name in row):
        lists = [row.get(name) or [] for row in values]
        listed = any(lists) and all(isinstance(e, list) and not messages_in(e) for e in lists)
        # Looking for questions takes long, and most columns are neither.
        if not listed and not _before(name, fixed):
            continue
        beside = _question_in([{k: row[k] for k in row if k != name} for row in values], fixed)
        if beside and _before(name, fixed):
            values = [{**row, name: _messages(row.get(name))} for row in values]
            rows = [(line, row) for (line, _), row in zip(rows, values, strict=True)]
        if beside or not listed:
            continue
        parts = [[e if isinstance(e, dict) else {name: e} for e in own] for own in lists]
        if _question_in([part for own in parts for part in own], fixed):
            # Paragraphs, each with a list of questions, are such rows too.
            return one_question_each(_apart(rows, name, parts), fixed)
    return rows


def _apart(rows: Rows, name: str, parts: Sequence[Sequence[dict[str, Any]]]) -> Rows:
    """Return a row for each part of a row, with its part of the lists that are as long."""
    called = any(Field(k).named("conversation") > 1 for _, row in rows for k in row if k != name)
    named = () if called else (CONVERSATION if _before(name, {}) else ROW,)
    places = (*named, TURN) if max(map(len, parts)) > 1 else ()
    long = [
        {key for key in row if isinstance(row[key], list) and len(row[key]) == len(own)}
        for (_, row), own in zip(rows, parts, strict=True)
    ]
    split = set.intersection(*long) - {name}
    return [
        (
            f"{line}, {name} {turn}",
            {key: row[key][turn - 1] if key in split else row[key] for key in row if key != name}
            | dict(zip(reversed(places), (turn, line), strict=False))
            | part,
        )
        for (line, row), own in zip(rows, parts, strict=True)
        for turn, part in enumerate(own, start=1)
    ]


def _before(name: str, fixed: Mapping[str, str]) -> bool:
    """Return whether a field is called a conversation before a question."""
    if "history" in fixed:
        return name == fixed["history"]
    return Field(name).named("history") > 0 or Field(name).named("conversation") > 1


def _messages(said: Any) -> Any:
    """Return the conversation before a question as messages, if it has a form that is known.

    It is a text in which two speakers are named, or a list of texts, of pairs or of objects with a
    question and an answer, in which they take turns. The last one to speak is not the user.
    """
    if isinstance(said, list) and messages_in(said):
        return said
    texts = _texts(said)
    start, *labeled = SPEAKER.split("\n".join(texts))
    speakers, contents = labeled[::2], labeled[1::2]
    if start.strip() or len(set(speakers)) != 2:
        if not isinstance(said, list) or len(texts) % 2:
            return said
        speakers, contents = [str(place % 2) for place in range(len(texts))], texts
    return [
        {"role": "assistant" if speaker == speakers[-1] else "user", "content": text.strip()}
        for speaker, text in zip(speakers, contents, strict=True)
    ]


def _texts(said: Any) -> list[str]:
    """Return the texts in a list; of an object, its question and the longest other text."""
    if not isinstance(said, list):
        return [said] if isinstance(said, str) else []
    if not (asked := _question_in([each for each in said if isinstance(each, dict)], {})):
        return [text for each in said for text in _texts(each)]
    replies = [[v for k, v in each.items() if k != asked and isinstance(v, str)] for each in said]
    return [
        text
        for each, own in zip(said, replies, strict=True)
        for text in (str(each.get(asked)), max(own, key=len, default=""))
    ]


def _question_in(rows: Sequence[Any], fixed: Mapping[str, str]) -> str | None:
    """Return the name of the field with the questions."""
    try:
        return question_field(fields_of(rows), fixed).name
    except SourceError:
        return None
