"""TREC run files, and the one rule that orders the documents of a question.

A line is ``question_id Q0 doc_id rank score tag``, columns parted by ASCII spaces or tabs. The
rank column and the order of the lines carry no meaning when a file is read: as in trec_eval, the
score and the document id decide, and words after the tag belong to it.
"""

from __future__ import annotations

import math
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path

import numpy as np

from bears.errors import FormatError
from bears.formats.records import atomic_write, numbered_lines, read_bytes
from bears.formats.run_table import RunTable, arranged, numbered, table_of_scores
from bears.types import Hit, Ranking, Run

BLOCK = 1 << 20
COLUMNS = ("question_id", "Q0", "doc_id", "rank", "score", "tag")


def order(hits: Iterable[Hit]) -> Ranking:
    """The ranking of ``hits``: score descending, then doc_id descending by its UTF-8 bytes.

    Source: trec_eval, form_res_rels.c, which compares equal scores by ``strcmp`` of the ids.

    Raises:
        FormatError: a document occurs twice, or a score is NaN or infinite.
    """
    # Python compares strings by code point, and UTF-8 bytes sort in that same order.
    ranking = tuple(sorted(hits, key=lambda hit: (hit.score, hit.doc_id), reverse=True))
    for hit in ranking:
        if not math.isfinite(hit.score):
            raise FormatError(f"document {hit.doc_id!r}: the score {hit.score} is not finite")
    if len({hit.doc_id for hit in ranking}) < len(ranking):
        [(doc_id, _)] = Counter(hit.doc_id for hit in ranking).most_common(1)
        raise FormatError(f"document {doc_id!r} occurs more than once in a ranking")
    return ranking


def read_run(path: Path, question_ids: Collection[str] | None) -> dict[str, Ranking]:
    """Read a run: question_id to its ranking, questions in the order of their first line.

    Arguments and errors are those of `read_table`, which is for runs of millions of lines.
    """
    return read_table(path, question_ids).rankings()


def read_table(path: Path, question_ids: Collection[str] | None) -> RunTable:
    """Read a run in columns.

    Args:
        path: the file; lines end with LF or CR LF, and may be in any order.
        question_ids: the questions of the benchmark, or None to accept every question.

    Returns:
        Only the questions that have a line, in the order of their first one; an empty file is an
        empty run.

    Raises:
        FormatError: the file is absent; or, naming the line: fewer than six columns, not UTF-8, an
            id that holds whitespace, a score that is not a finite number, a document that the
            question already has, a question outside ``question_ids``.
    """
    known = None if question_ids is None else frozenset(question_ids)
    table = _plain_table(read_bytes(path))
    if table is None or (known is not None and not known.issuperset(table.question_ids)):
        return _table_by_line(path, known)
    return table


def write_run(path: Path, run: Run, tag: str) -> None:
    """Write ``run`` atomically, questions in its order, documents as `order` has them.

    Scores are printed as the shortest decimals that read back as the same float, so the bytes are
    the same on every machine. A question with an empty ranking leaves no line.

    Raises:
        FormatError: an id or the tag is empty or holds whitespace, a document occurs twice in a
            question, a score is NaN or infinite. No file is then written or replaced.
    """
    try:
        _check_word(tag, "tag")
        with atomic_write(path) as stream:
            for question_id, ranking in run.items():
                stream.write(_lines(question_id, ranking, tag).encode("utf-8"))
    except ValueError as error:
        raise FormatError(f"{path} was not written: {error}") from None


def _lines(question_id: str, ranking: Ranking, tag: str) -> str:
    _check_word(question_id, "question_id")
    try:
        ordered = order(ranking)
    except FormatError as error:
        raise ValueError(f"question {question_id!r}, {error}") from None
    lines = []
    for rank, hit in enumerate(ordered, start=1):
        _check_word(hit.doc_id, "doc_id")
        # A numpy scalar prints as "np.float32(0.5)"; its value is a float all the same.
        lines.append(f"{question_id} Q0 {hit.doc_id} {rank} {float(hit.score)!r} {tag}\n")
    return "".join(lines)


def _plain_table(data: bytes) -> RunTable | None:
    """The table of a file of six columns with one space or tab between them, None of any other.

    Whatever is doubtful is left to `_table_by_line`, which is eight times slower, reads all that
    may be read, and names the line of what may not.
    """
    import pyarrow
    from pyarrow import csv

    data = data.replace(b"\r\n", b"\n") if b"\r" in data else data
    delimiter = "\t" if b"\t" in data[: data.find(b"\n")] else " "
    if not _single_spaced(data, delimiter.encode()):
        return None
    try:
        lines = csv.read_csv(
            pyarrow.BufferReader(data),
            csv.ReadOptions(column_names=COLUMNS),
            csv.ParseOptions(
                delimiter=delimiter,
                quote_char=False,
                double_quote=False,
                ignore_empty_lines=False,
            ),
            csv.ConvertOptions(
                column_types={
                    "question_id": pyarrow.string(),
                    "doc_id": pyarrow.string(),
                    "score": pyarrow.float64(),
                },
                include_columns=["question_id", "doc_id", "score"],
                null_values=[],
            ),
        )
        questions = lines["question_id"].dictionary_encode().combine_chunks()
        question_ids = questions.dictionary.to_pylist()
        doc_ids, documents = numbered(lines["doc_id"].dictionary_encode().combine_chunks())
        if not (_are_words(question_ids) and _are_words(doc_ids)):
            return None
        return arranged(
            question_ids,
            np.from_dlpack(questions.indices).astype(np.int64),
            doc_ids,
            documents,
            np.from_dlpack(lines["score"].combine_chunks()).astype(np.float64, copy=False),
        )
    except (pyarrow.ArrowInvalid, FormatError):
        return None


def _single_spaced(data: bytes, delimiter: bytes) -> bool:
    """Whether the delimiter and LF are all the white space, and no two of them meet."""
    if any(bytes([other]) in data for other in b" \t\v\f\r" if bytes([other]) != delimiter):
        return False
    # In blocks that stay in the processor's cache, each beginning with the last byte of another.
    for start in range(0, len(data), BLOCK):
        blank = np.frombuffer(data[max(start - 1, 0) : start + BLOCK], np.uint8) <= ord(" ")
        if (blank[1:] & blank[:-1]).any():
            return False
    return not data.startswith(delimiter) and not data.endswith(delimiter)


def _are_words(ids: list[str]) -> bool:
    return "\n".join(ids).split() == ids


def _table_by_line(path: Path, known: frozenset[str] | None) -> RunTable:
    scores: dict[str, dict[str, float]] = {}
    for number, line in numbered_lines(path):
        try:
            _add(scores, line.removeprefix(BOM_UTF8) if number == 1 else line, known)
        except ValueError as error:
            raise FormatError(f"{path}, line {number}: {error}") from None
    return table_of_scores(scores)


def _add(scores: dict[str, dict[str, float]], line: bytes, known: frozenset[str] | None) -> None:
    question_id, doc_id, score = (word.decode("utf-8") for word in _columns(line))
    if question_id not in scores:
        _check_word(question_id, "question_id")
        if known is not None and question_id not in known:
            raise ValueError(f"question {question_id!r} is not a question of this benchmark")
        scores[question_id] = {}
    _check_word(doc_id, "doc_id")
    if doc_id in scores[question_id]:
        raise ValueError(f"question {question_id!r} already has document {doc_id!r}")
    scores[question_id][doc_id] = _score(score)


def _columns(line: bytes) -> tuple[bytes, bytes, bytes]:
    # bytes.split knows ASCII whitespace alone, so that an ideographic space stays inside its
    # column and is reported instead of being taken for a separator.
    columns = line.split()
    # Words may follow the tag. A rank that is none then says that an id was cut in two.
    if len(columns) < len(COLUMNS) or (len(columns) > len(COLUMNS) and not columns[3].isdigit()):
        raise ValueError(f"{len(columns)} columns, expected six: {' '.join(COLUMNS)}")
    if b"\r" in line.rstrip(b"\r\n"):
        raise ValueError("a carriage return within the line; end lines with LF or CR LF")
    return columns[0], columns[2], columns[4]


def _score(text: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    # Python reads "1_0" and full-width digits as numbers; no other tool does.
    if not math.isfinite(score) or "_" in text or not text.isascii():
        raise ValueError(f"the score {text!r} is not a finite number")
    return score


def _check_word(text: str, column: str) -> None:
    if text.split() != [text]:
        raise ValueError(f"{column} {text!r} is empty or holds whitespace")
