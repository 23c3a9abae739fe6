"""From a source's own files to rows of one shape, with a record of where they came from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bears.errors import SourceError
from bears.files.progress import Progress
from bears.files.records import atomic_write
from bears.files.rows import files_of, row_to_line
from bears.files.spreadsheet import write_csv
from bears.language.declared import LENGTH, MOST, SOME, disagreeing
from bears.language.scripts import letters
from bears.sources.first_fetch import check_digest
from bears.sources.hub import found_on_hub
from bears.sources.location import locate
from bears.sources.parts import Parts, Reader, Table
from bears.sources.provenance import provenance
from bears.sources.records import records
from bears.sources.source import Source
from bears.types import Document

LOOKED_AT = 300
"""So many documents are held against the declared language."""


def convert(
    source: Source,
    reader: Reader,
    mirror: Path | None,
    root: Path,
    out: Path,
    folder: Path = Path(".bears"),
    called: str = "",
) -> dict[str, Any]:
    """Write the documents and the questions of ``source`` (JSON Lines, atomically).

    Args:
        source: what to read.
        reader: from its files to rows.
        mirror: a folder that stands in for the hub, see `locate`.
        root: what a relative path is relative to.
        out: what the names of both files begin with, see `bears.files.rows.files_of`.
        folder: where a reader may keep what it fetches by itself, and the record of first fetches.
        called: what documents and questions say that they are from, if not the source's name.

    Beside them, as ``<source>.report.csv``, stands what a person should know of single records.

    Returns:
        Its provenance: origin, revision, and for each file name, sha256, bytes and rows, and of
        the hub's whether its digest is ``pinned`` or known from the ``first fetch`` alone; where
        there are any, ``notes``: what the reader met with, and how often; ``failures``: what of
        the source could not be had, and why; and ``warnings``.

    Raises:
        SourceError: a file is absent, damaged, empty, holds another number of rows than known, or
            texts that are not in the source's language.
    """
    source, parts = located(source, mirror, root, folder)
    seen: list[str] = []
    documents, questions = files_of(out.parent, out.name)
    with (
        atomic_write(documents) as of_documents,
        atomic_write(questions) as of_questions,
        Progress(desc=f"read {source.name}", unit=" records") as bar,
    ):
        for record in records(reader(parts), called or source.name):
            if isinstance(record, Document):
                of_documents.write(row_to_line(record))
                begin = record.content[:LENGTH]
                if len(seen) < LOOKED_AT and letters(begin):
                    seen.append(begin)
            else:
                of_questions.write(row_to_line(record))
            bar.update()
        _check_rows(source, parts, mirror)
        _check_fields(parts)
        for table in parts.counts:
            if isinstance(table, Table):
                address = f"{table.hub}@{table.revision}/{table.name}"
                check_digest(source, table.name, table.digest.hexdigest(), folder, address)
        if warning := _check_language(source, seen):
            parts.warnings.append(warning)
        if parts.bad:
            parts.warnings.append(left_out(parts))
    _report(parts, report_of(out))
    found = provenance(source, parts, mirror)
    return found | {"warnings": parts.warnings} if parts.warnings else found


def left_out(parts: Parts) -> str:
    """Return how many rows were skipped, and what was wrong with the first three."""
    first = "; ".join(parts.bad[:3]) + "; …" * (len(parts.bad) > 3)
    return (
        f"source {parts.name}: {len(parts.bad)} of {sum(parts.counts.values())} rows are left out "
        f"(on_bad_row: skip): {first}"
    )


def located(source: Source, mirror: Path | None, root: Path, folder: Path) -> tuple[Source, Parts]:
    """A source as it was found, and where its tables are; arguments and errors as of `convert`."""
    if source.shape and source.hub and not source.path and mirror is None:
        source = found_on_hub(source, folder)
    tables = locate(source, mirror, root, folder)
    parts = Parts(
        source.name,
        tables,
        source.settings,
        folder,
        fields=source.fields or {},
        limit=source.limit,
        on_bad_row=source.on_bad_row,
    )
    return source, parts


def _check_fields(parts: Parts) -> None:
    if lost := [word for word in parts.fields if word not in parts.met]:
        names = ", ".join(f"{word}: {parts.fields[word]}" for word in lost)
        raise SourceError(
            f"source {parts.name}: fields has {{{names}}}, but no row has a field of that name"
        )


def report_of(rows: Path) -> Path:
    """The report beside the rows of a source."""
    return rows.with_name(f"{rows.name}.report.csv")


def _report(parts: Parts, path: Path) -> None:
    path.unlink(missing_ok=True)
    if parts.report:
        write_csv(path, ("record", "what", "text"), parts.report)


def _check_language(source: Source, texts: Sequence[str]) -> str:
    """A warning, if there is cause. Raises SourceError where most texts are in another language."""
    reason, share = disagreeing(texts, source.language)
    if share <= SOME:
        return ""
    message = (
        f"source {source.name}: its language is {source.language}, but {share:.0%} of the first "
        f"{len(texts)} documents do not look so ({reason})"
    )
    if share > MOST:
        raise SourceError(
            f"{message}; nothing would be found in an index for another language. Give "
            f"sources.{source.name}.language the tag of the texts, such as en, ja or zh-Hant-TW"
        )
    return message


def _check_rows(source: Source, parts: Parts, mirror: Path | None) -> None:
    found = sum(parts.counts.values())
    if not found:
        names = [parts.called(table) for tables in parts.tables.values() for table in tables]
        raise SourceError(f"source {source.name}: there is no row in {', '.join(names)}")
    if len(parts.bad) == found:
        raise SourceError(f"{left_out(parts)}. No row can be used; check the shape and its fields")
    # What stands in for the hub's files may be a part of them.
    pinned = not source.hub if source.path else mirror is None
    if pinned and source.rows is not None and found != source.rows:
        raise SourceError(
            f"source {source.name}: {found} rows, expected {source.rows}; "
            "the file is truncated or not the pinned one"
        )
