"""Files of sources, in every form that a set is published in."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from bears.config.shape import Source
from bears.layout import LOCAL
from bears.sources.parts import Parts

Row = dict[str, Any]
Rows = list[Row]


def lines(rows: list[Any]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def array(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def parts_of(
    name: str,
    tables: Mapping[str, Sequence[Path]],
    folder: Path = LOCAL,
    fields: dict[str, str] | None = None,
    **settings: Any,
) -> Parts:
    """Return the tables of a source of which nothing else is known."""
    return Parts(Source(name, "en", "", settings=settings, fields=fields), tables, folder)


def table(rows: Rows) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), stream)
    return stream.getvalue()


def workbook(*sheets: str, **parts: str) -> bytes:
    """A file of Excel with these rows, in XML; strings are inline, and style 1 is a date."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    package = "http://schemas.openxmlformats.org/package/2006/"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml."
    numbers = range(1, len(sheets) + 1)
    files = {
        "[Content_Types].xml": f'<Types xmlns="{package}content-types">'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{kind}styles+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        + "".join(f'<sheet name="s{n}" sheetId="{n}" r:id="r{n}"/>' for n in numbers)
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}relationships">'
        + "".join(
            f'<Relationship Id="r{n}" Type="{office}/worksheet" Target="worksheets/{n}.xml"/>'
            for n in numbers
        )
        + "</Relationships>",
        "xl/styles.xml": f'<styleSheet xmlns="{main}"><cellXfs><xf numFmtId="0"/>'
        '<xf numFmtId="14"/></cellXfs></styleSheet>',
    }
    for n, rows in zip(numbers, sheets, strict=True):
        sheet = f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'
        files[f"xl/worksheets/{n}.xml"] = sheet
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in {**files, **parts}.items():
            packed.writestr(name, content)
    return stream.getvalue()


def row(*cells: str) -> str:
    """A row of a workbook's sheet; a cell that begins with ``<`` is XML."""
    text = "<c t='inlineStr'><is><t>{}</t></is></c>".format
    found = (cell if cell.startswith("<") else text(cell) for cell in cells)
    return f"<row>{''.join(found)}</row>"


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
