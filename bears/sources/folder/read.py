"""Read a user's own folder, of documents or of records, and report what became of its files."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, takewhile
from pathlib import Path
from typing import Annotated

from pydantic import Field

from bears.config.shape import Source
from bears.errors import BearsError, MalformedRow, SourceError
from bears.files.progress import Progress
from bears.files.records import read_questions, stream_documents
from bears.files.shown import complain
from bears.identity import identifier_of
from bears.language.overlap import overlaps
from bears.language.tags import unspaced
from bears.layout import TEXTS
from bears.sources.folder.asked import ENDINGS, Places, check_asked, questions
from bears.sources.folder.conversations import ROW
from bears.sources.folder.documents import KINDS, Content, margins, read_document
from bears.sources.folder.walk import files_below, leads_outside
from bears.sources.parts import Parts, RowRecords, own_question, pool_document
from bears.sources.pdf_text import read_ahead
from bears.sources.rows import BadField, Ids, not_blank
from bears.types import Document, ForbidsExtra, Positive

QUESTIONS = "questions"
"""The name of the file of questions in a folder, before its ending."""
LEFT_OUT = "left out: "
"""The beginning of a remark in the report."""
PASSAGE = 24
"""Letters and digits that are compared at once; a third of them in languages without spaces."""
COPIES = 50
"""A passage in more documents than this is boilerplate, and does not count."""
Share = Annotated[float, Field(gt=0, le=1)]


@dataclass(frozen=True)
class FolderSettings(ForbidsExtra):
    """How a folder is read.

    Args:
        questions: a file of rows, see `bears.sources.folder.asked.question_rows`; empty:
            `QUESTIONS` with one of its `ENDINGS` in the folder, if there is one.
        encoding: of texts that are not UTF-8 and declare no encoding, such as ``cp1252``; empty:
            they are left out.
        repeated: a short text near the beginning or end of a file is dropped if at least this
            share of the files of its kind, and three of them, have it there; null: never.
        edge: how many blocks count as near.
        near_duplicate: a file is dropped as a repetition of an earlier one if both have the same
            numbers and at least this share of their passages in common; null: never.
    """

    questions: str = ""
    encoding: str = ""
    repeated: Share | None = 0.5
    edge: Positive = 3
    near_duplicate: Annotated[float, Field(ge=0.5, le=1)] | None = 0.9


def read_folder(parts: Parts, folder: Path) -> Iterator[RowRecords]:
    """Yield the documents of a folder, then the questions, if there are any.

    A document is a file, and its id the path within the folder. What is left out, dropped or read
    in an unexpected way goes into the report.

    Raises:
        ConfigurationError: a setting is wrong.
        SourceError: there is no document, a question cannot be used, or there are two files of
            questions, or it is a link to a file outside.
        FormatError: the file of questions cannot be read.
    """
    settings = parts.settings(FolderSettings)
    table = questions_file(folder, settings.questions)
    if table and not settings.questions and leads_outside(table, folder):
        raise SourceError(
            f"{table} is a link to a file outside of the folder, which is not read. Copy the file "
            f"into the folder, or name it as sources.{parts.name}.settings.questions"
        )
    if table:
        # Before minutes of reading.
        check_asked(table, parts.source.fields or {})
    contents, left_out = _documents(parts, folder, settings, table)
    if settings.repeated:
        _drop_repeated(parts, contents, settings.edge, settings.repeated)
    texts = {name: content.text for name, content in contents.items()}
    for path in parts.names:
        parts.count(path, 1)
    replaced = _replaced_by(parts, texts, settings.near_duplicate)
    read = {name: text for name, text in texts.items() if name not in replaced}
    for name, text in read.items():
        yield [pool_document(parts.dataset, name, text)]
    if not table:
        return
    places = Places(read, replaced, left_out, {name: contents[name].dropped for name in read})
    fixed, language = parts.source.fields or {}, parts.source.language
    found, remarks, reading = questions(table, parts.name, parts.dataset, places, fixed, language)
    parts.met.update(fixed)
    parts.report.fields = reading.table
    for name, role, example, number in reading.table:
        what = f"{role}, such as {example:.80}: {number}"
        parts.report.remarks.append((f"{table.name}, field {name}", what, ""))
        if name == ROW and "conversation" not in fixed:
            complain(
                f"{table}: a row has several questions, which are asked independently of each "
                f"other; if they are the turns of a conversation: --set 'conversation={ROW}'; if "
                "not: --set conversation="
            )
    parts.count(table, sum(map(len, found)))
    for line, text in remarks:
        parts.report.remarks.append((f"{table.name}, {line}", text, ""))
        parts.report.notes[f"lines of {table.name} with a remark in the report"] += 1
    yield from found


def texts_of(folder: Path, record: Path) -> dict[str, str]:
    """Return the text of each document of a folder by its id, as `read_folder` makes them.

    Args:
        record: see `bears.sources.convert.convert`.

    Raises what `read_folder` raises.
    """
    source = Source(name="own", language="en", licence="NOASSERTION", shape="own")
    records = read_folder(Parts(source, {"folder": [folder]}, record), folder)
    every = takewhile(lambda record: isinstance(record, Document), chain.from_iterable(records))
    return {each.doc_id: each.content for each in every if isinstance(each, Document)}


def questions_file(folder: Path, named: str = "") -> Path | None:
    """Return the file of a folder's questions, if there is one. Raises SourceError if two are."""
    if named:
        path = folder / named
        return path.resolve() if ".." in path.parts else path
    there = [folder / f"{QUESTIONS}{end}" for end in ENDINGS]
    there = [path for path in there if path.exists()]
    if len(there) > 1:
        raise SourceError(f"{there[0]} and {there[1]} are both there; remove one of them")
    return there[0] if there else None


def _documents(
    parts: Parts, folder: Path, settings: FolderSettings, table: Path | None
) -> tuple[dict[str, Content], dict[str, str]]:
    """Return each file that is a document by its id, and for every other one why it is not."""
    contents: dict[str, Content] = {}
    left_out: dict[str, str] = {}
    files, texts_of_pdfs = list(files_below(folder)), parts.folder / TEXTS
    pdfs = [path for path, skipped in files if not skipped and path.suffix.lower() == ".pdf"]
    read_ahead(pdfs, texts_of_pdfs)
    for path, reason in Progress(files, desc="files", unit=" files"):
        if path == table:
            continue
        name = identifier_of(path.relative_to(folder).as_posix())
        if not reason and path.suffix.lower() not in KINDS:
            reason = "not one of " + " ".join(KINDS)
        elif not reason:
            try:
                contents[name] = read_document(path, settings.encoding, texts_of_pdfs)
                parts.names[path] = name
                parts.report.remarks += [(name, *remark) for remark in contents[name].remarks]
                continue
            except BearsError as error:
                reason = str(error).replace(f"{path}: ", "").replace(f"{path} ", "it ")
                parts.report.failures[name] = reason
        left_out[name] = reason
        parts.report.remarks.append((name, f"{LEFT_OUT}{reason}", ""))
    if not contents:
        such = next((f", such as {name}: {why}" for name, why in left_out.items()), "")
        raise SourceError(
            f"source {parts.name}: there is no document in {folder}, and {len(left_out)} files "
            f"that are left out{such}"
        )
    if left_out:
        parts.report.notes["files left out"] = len(left_out)
    return contents, left_out


def _drop_repeated(parts: Parts, contents: Mapping[str, Content], edge: int, share: float) -> None:
    """Drop what many files of one kind have at their edges, unless a file would become empty."""
    for kind in sorted({content.kind for content in contents.values()}):
        same = {name: c for name, c in contents.items() if c.kind == kind}
        sheets = [content.blocks for content in same.values()]
        for name, found in zip(same, margins(sheets, edge, share), strict=True):
            blocks = same[name].blocks
            own = [block for i, block in enumerate(blocks) if i not in found]
            if found and own:
                dropped = [blocks[i] for i in sorted(found)]
                what = "dropped: other files begin or end with it too"
                parts.report.remarks += [(name, what, text) for text in dropped]
                parts.report.notes["texts dropped that many files begin or end with"] += len(
                    dropped
                )
                same[name].blocks = own
                same[name].dropped += dropped


def _replaced_by(parts: Parts, texts: Mapping[str, str], least: float | None) -> dict[str, str]:
    """Map each document that repeats an earlier one nearly, numbers included, to that one."""
    if least is None:
        return {}
    ids, contents = list(texts), list(texts.values())
    numbers = [sorted(re.findall(r"\d+", text)) for text in contents]
    width = PASSAGE // 3 if unspaced(parts.source.language) else PASSAGE
    earlier = defaultdict[int, list[tuple[float, int]]](list)
    for pair in overlaps(contents, width, least, COPIES)[0]:
        first, second = sorted(pair[:2])
        if pair.common >= least and numbers[first] == numbers[second]:
            earlier[second].append((pair.common, first))
    found: dict[int, int] = {}
    for position, others in sorted(earlier.items()):
        # A document equal to a dropped one gets the same replacement.
        similar = [(share, first) for share, first in others if share == 1 or first not in found]
        if similar:
            share, first = max(similar, key=lambda each: (each[0], -each[1]))
            found[position] = found.get(first, first)
            what = f"dropped: {share:.0%} the same as {ids[first]}"
            parts.report.remarks.append((ids[position], what, contents[position]))
    if found:
        parts.report.notes["files dropped as near duplicates"] = len(found)
    return {ids[dropped]: ids[first] for dropped, first in found.items()}


CORPUS, QUERIES = "corpus.json", "queries.json"


def read_own(parts: Parts) -> Iterator[RowRecords]:
    """Yield the documents, then the questions.

    If the part ``folder`` has both files, its records are taken as they are; see
    `bears.types.Document` and `bears.types.Question`. Otherwise `read_folder` reads it.

    Raises:
        SourceError: it is not a folder, or has only one of the two files.
        BearsError: see `read_folder`.
        FormatError: a file has another format, naming the record and the field.
        MalformedRow: a question is empty, or an id is empty or used twice.
    """
    (folder,) = parts.tables["folder"]
    if not folder.is_dir():
        raise SourceError(f"source {parts.name}: {folder} is a file; name the folder that it is in")
    there = [name for name in (CORPUS, QUERIES) if (folder / name).exists()]
    if len(there) == 1:
        raise SourceError(
            f"source {parts.name}: {folder} has {there[0]} only; it needs both {CORPUS} and "
            f"{QUERIES}"
        )
    return _records(parts, folder) if there else read_folder(parts, folder)


def _records(parts: Parts, folder: Path) -> Iterator[RowRecords]:
    documents, questions = Ids(), Ids()
    path, number = folder / CORPUS, 0
    try:
        for number, document in enumerate(stream_documents(path), start=1):
            documents.new(document.doc_id, "doc_id")
            parts.count(path, number)
            yield [document]
        path = folder / QUERIES
        for number, question in enumerate(read_questions(path), start=1):
            questions.new(question.question_id, "question_id")
            not_blank(question.question, "question")
            parts.count(path, number)
            yield [own_question(question)]
    except BadField as bad:
        raise MalformedRow(path.name, number, bad.field, bad.problem) from None
