"""Files of sources, in every form that a set is published in."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

Row = dict[str, Any]
Rows = list[Row]


def lines(rows: list[Any]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def array(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def table(rows: Rows) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), stream)
    return stream.getvalue()


def put(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def columns(rows: Rows) -> dict[str, list[Any]]:
    """Return an object of lists, as the hub has objects within a row."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def without(row: Row, field: str) -> Row:
    return {name: value for name, value in row.items() if name != field}


def asked(identifier: str, question: str, *answers: tuple[str, int], **more: Any) -> Row:
    """Return a question of SQuAD with its answers and where they begin."""
    found = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": identifier, "question": question, "answers": found, **more}


def article(title: str, *paragraphs: tuple[str, Rows]) -> Row:
    """Return an article of SQuAD with its paragraphs and their questions."""
    listed = [{"context": context, "qas": qas} for context, qas in paragraphs]
    return {"title": title, "paragraphs": listed}


def flat(articles: Rows) -> Rows:
    """Return the hub's rows of SQuAD's articles."""
    return [
        {
            "id": qa["id"],
            "title": each["title"],
            "context": paragraph["context"],
            "question": qa["question"],
            "answers": columns(qa["answers"])
            if qa["answers"]
            else {"text": [], "answer_start": []},
        }
        for each in articles
        for paragraph in each["paragraphs"]
        for qa in paragraph["qas"]
    ]
