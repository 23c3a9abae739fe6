"""Convert a source's own files to documents and questions, with a record of their origin."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bears.config.shape import Source
from bears.errors import SourceError
from bears.files.progress import Progress
from bears.files.records import atomic_write, sha256_of
from bears.files.rows import files_of, row_to_line
from bears.files.spreadsheet import write_csv
from bears.language.declared import LENGTH, MOST, SOME, disagreeing
from bears.language.scripts import letters
from bears.layout import LOCAL
from bears.sources.location import found_on_hub, locate, write_tables
from bears.sources.parts import Parts, Reader, numbered_records
from bears.sources.source import layout_of, on_hub
from bears.types import Document

LOOKED_AT = 300
"""The number of documents that are compared with the declared language."""


def convert(
    source: Source,
    reader: Reader,
    mirror: Path | None,
    root: Path,
    out: Path,
    folder: Path = LOCAL,
    called: str = "",
) -> dict[str, Any]:
    """Write the documents and the questions of ``source`` (JSON Lines, atomically).

    Args:
        source: what to read.
        reader: from its files to records.
        mirror: a folder that replaces the hub, see `locate`.
        root: what a relative path is relative to.
        out: the names of both files begin with it, see `bears.files.rows.files_of`. A report of
            single records is written beside them.
        folder: where a reader may keep what it fetches by itself, and the record of first fetches.
        called: what the records name as their source, if not the source's name.

    Returns:
        Its provenance: origin, revision, and for each file name, sha256, bytes and rows, and for
        the hub's whether its digest is ``pinned`` or known from the ``first fetch`` alone. Where
        there are any, also ``notes``: the number of times that the reader met something;
        ``failures``: what of the source could not be read, and why; and ``warnings``.

    Raises:
        SourceError: a file is absent, damaged, empty, has another number of rows than known, or
            texts that are not in the source's language.
    """
    source, parts = located(source, mirror, root, folder)
    parts.dataset = called or source.name
    seen: list[str] = []
    documents, questions = files_of(out.parent, out.name)
    with (
        atomic_write(documents) as of_documents,
        atomic_write(questions) as of_questions,
        Progress(desc=f"read {source.name}", unit=" records") as bar,
    ):
        for record in numbered_records(reader(parts)):
            if isinstance(record, Document):
                of_documents.write(row_to_line(record))
                begin = record.content[:LENGTH]
                if len(seen) < LOOKED_AT and letters(begin):
                    seen.append(begin)
            else:
                of_questions.write(row_to_line(record))
            bar.update()
        _check_rows(source, parts, mirror)
        named = source.fields or {}
        if lost := [word for word in named if word not in parts.met]:
            names = ", ".join(f"{word}: {named[word]}" for word in lost)
            raise SourceError(
                f"source {source.name}: fields has {{{names}}}, but no row has a field of that name"
            )
        if warning := _check_language(source, seen):
            parts.report.warnings.append(warning)
        if parts.report.skipped:
            parts.report.warnings.append(left_out(parts))
    report = report_of(out)
    report.unlink(missing_ok=True)
    if parts.report.remarks:
        write_csv(report, ("record", "what", "text"), parts.report.remarks)
    return _provenance(source, parts, mirror)


def left_out(parts: Parts) -> str:
    """Return how many rows were skipped, and what was wrong with the first three."""
    skipped, rows = parts.report.skipped, sum(parts.counts.values())
    first = "; ".join([*skipped[:3], "…"] if len(skipped) > 3 else skipped)
    return (
        f"source {parts.name}: {len(skipped)} of {rows} rows are left out "
        f"(on_bad_row: skip): {first}"
    )


def located(
    source: Source, mirror: Path | None, root: Path, folder: Path, first_only: Sequence[str] = ()
) -> tuple[Source, Parts]:
    """Return a source as it was found, and its files; see `convert` and `locate`."""
    if source.shape and source.hub and not source.path and mirror is None:
        source = found_on_hub(source, folder)
    if source.ir_dataset and mirror is None:
        source = replace(source, path=str(write_tables(source.ir_dataset, folder)))
    tables = locate(source, mirror, root, folder, first_only)
    return source, Parts(source, tables, folder)


def report_of(rows: Path) -> Path:
    """Return the path of the report beside the records of a source."""
    return rows.with_name(f"{rows.name}.report.csv")


def _check_language(source: Source, texts: Sequence[str]) -> str:
    """Return a warning if some texts, and raise SourceError if most, are in another language."""
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
        names = [parts.called(file) for files in parts.tables.values() for file in files]
        raise SourceError(f"source {source.name}: there is no row in {', '.join(names)}")
    if len(parts.report.skipped) == found:
        raise SourceError(f"{left_out(parts)}. No row can be used; check the shape and its fields")
    # A mirror may hold some of the hub's rows only.
    pinned = not source.hub if source.path else mirror is None
    if pinned and source.rows is not None and found != source.rows:
        raise SourceError(
            f"source {source.name}: {found} rows, expected {source.rows}; "
            "the file is truncated or not the pinned one"
        )


def _provenance(source: Source, parts: Parts, mirror: Path | None) -> dict[str, Any]:
    """Return the entry of a source in data/raw/<benchmark>/sources.json."""
    if source.ir_dataset and mirror is None:
        origin = {"ir_dataset": source.ir_dataset}
    elif source.path:
        origin = {"path": source.path}
    elif mirror is not None:
        origin = {"mirror_of": source.hub or source.name}
    elif layout_of(source):
        pins = {f"{part.hub} {part.revision}" for part in on_hub(source).values()}
        origin = {"hub": ", ".join(sorted(pins))}
    else:
        origin = {"hub": source.hub, "revision": source.revision}
    files = []
    for path, rows in parts.counts.items():
        entry = {"name": parts.called(path), "sha256": sha256_of(path)}
        if "hub" in origin:
            entry["checksum"] = "pinned" if source.pin_of(path) else "first fetch"
        files.append({**entry, "bytes": path.stat().st_size, "rows": rows})
    found: dict[str, Any] = {
        "source": source.name,
        "licence": source.licence,
        **origin,
        "rows_expected": source.rows,
        "files": files,
    }
    report = parts.report
    notes = {"notes": dict(sorted(report.notes.items())), "failures": report.failures}
    found |= {key: value for key, value in notes.items() if value or layout_of(source)}
    return found | ({"warnings": report.warnings} if report.warnings else {})
