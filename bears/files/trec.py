"""TREC run files, and the one rule that orders the documents of a question.

A line is ``question_id Q0 doc_id rank score tag``, columns parted by ASCII spaces or tabs. The
rank column and the order of the lines carry no meaning when a file is read: as in trec_eval, the
score and the document id decide, and words after the tag belong to it.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from bears.errors import FormatError
from bears.files.intake.files import numbered_lines
from bears.files.manifest import check
from bears.files.records import atomic_write
from bears.files.run_table import RepeatedDocument, RunColumns, RunTable
from bears.types import Hit, Ranking

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


def read_table(
    path: Path,
    question_ids: Collection[str] | None,
    ignore_unknown: bool = False,
    ascending_ids: bool = False,
) -> RunTable:
    """Read a run in columns.

    Args:
        path: the file; lines end with LF or CR LF, and may be in any order.
        question_ids: the questions of the benchmark, or None to accept every question.
        ignore_unknown: leave out and count questions outside ``question_ids``.
        ascending_ids: order documents of equal score as Anserini does, not as trec_eval does.

    Returns:
        Only the questions that have a line, in the order of their first one; an empty file is an
        empty run.

    Raises:
        FormatError: the file is absent; or, naming the line: fewer than six columns, not UTF-8, an
            id that holds whitespace, a score that is not a finite number, a document that the
            question already has, a question outside ``question_ids``; or the file differs from
            its manifest, where one covers it.
    """
    check(path)
    reader = _Reader(question_ids, ignore_unknown)
    reader.read(path)
    try:
        table = reader.columns.table(ascending_ids)
    except RepeatedDocument as error:
        number, (question_id, doc_id) = _second_line(path, *error.line), error.line
        raise FormatError(
            f"{path}, line {number}: question {question_id!r} already has document {doc_id!r}"
        ) from None
    remarks = tuple(_remarks(table, len(reader.contradicted)))
    return replace(table, unknown=len(reader.unknown), remarks=remarks)


class _Reader:
    """Takes the lines of a run into columns."""

    def __init__(self, question_ids: Collection[str] | None, ignore_unknown: bool) -> None:
        self.columns = RunColumns()
        self.unknown: set[bytes] = set()
        self.contradicted: set[bytes] = set()
        self._known = None if question_ids is None else {q.encode() for q in question_ids}
        self._ignore_unknown = ignore_unknown

    def read(self, path: Path) -> None:
        last, last_rank, last_score = b"", b"", math.inf
        for number, line in numbered_lines(path):
            try:
                question, document, rank, score = _columns(line)
                if question != last:
                    self._check_question(question)
                    last, last_score = question, math.inf
                if document not in self.columns.documents:
                    _check_word(document.decode(), "doc_id")
            except ValueError as error:
                raise FormatError(f"{path}, line {number}: {error}") from None
            if question not in self.unknown:
                if score > last_score and _falls(last_rank, rank):
                    self.contradicted.add(question)
                last_rank, last_score = rank, score
                self.columns.add(question, document, score)

    def _check_question(self, question: bytes) -> None:
        if question in self.columns.questions or question in self.unknown:
            return
        question_id = question.decode()
        _check_word(question_id, "question_id")
        if self._known is not None and question not in self._known:
            if not self._ignore_unknown:
                raise ValueError(
                    f"question {question_id!r} is not a question of this benchmark; "
                    "--ignore-unknown leaves such questions out"
                )
            self.unknown.add(question)


def _falls(last_rank: bytes, rank: bytes) -> bool:
    """Whether a rank is worse than the one before it, where both are numbers."""
    if not (last_rank.isdigit() and rank.isdigit()):
        return False
    # As numbers of any length.
    last_rank, rank = last_rank.lstrip(b"0"), rank.lstrip(b"0")
    return (len(rank), rank) > (len(last_rank), last_rank)


def _remarks(table: RunTable, contradicted: int) -> Iterator[str]:
    """What makes one doubt that the scores of a run are scores."""
    if contradicted:
        yield (
            f"in {contradicted} of {len(table.question_ids)} questions a document of a worse rank "
            "has a higher score; the score decides, so if these are distances, negate them"
        )
    several = np.diff(table.starts) > 1
    first, last = table.starts[:-1][several], table.starts[1:][several] - 1
    tied = int((table.scores[first] == table.scores[last]).sum())
    if 2 * tied > len(first):
        yield (
            f"in {tied} of {len(table.question_ids)} questions all documents have the same score, "
            "so that their ids alone decide the order"
        )


def _second_line(path: Path, question_id: str, doc_id: str) -> int:
    """The line at which a document comes for the second time."""
    wanted = (question_id.encode(), doc_id.encode())
    lines = (number for number, line in numbered_lines(path) if _columns(line)[:2] == wanted)
    next(lines)
    return next(lines)


@contextmanager
def run_writer(path: Path, tag: str) -> Iterator[Callable[[str, Ranking], None]]:
    """Write a run atomically: gives a function that writes a question's ranking, as `order` has it.

    Scores are printed as the shortest decimals that read back as the same float, so the bytes are
    the same on every machine. A question with an empty ranking leaves no line.

    Raises:
        FormatError: an id or the tag is empty or holds whitespace, a document occurs twice in a
            question, a score is NaN or infinite. No file is then written or replaced.
    """

    def write(question_id: str, ranking: Ranking) -> None:
        try:
            _check_word(tag, "tag")
            stream.write(_lines(question_id, ranking, tag).encode("utf-8"))
        except ValueError as error:
            raise FormatError(f"{path} was not written: {error}") from None

    with atomic_write(path) as stream:
        yield write


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


def _columns(line: bytes) -> tuple[bytes, bytes, bytes, float]:
    """Question, document, rank and score of a line."""
    # bytes.split knows ASCII whitespace alone, so that an ideographic space stays inside its
    # column and is reported instead of being taken for a separator.
    columns = line.split()
    # Words may follow the tag. A rank that is none then says that an id was cut in two.
    if len(columns) < len(COLUMNS) or (len(columns) > len(COLUMNS) and not columns[3].isdigit()):
        raise ValueError(f"{len(columns)} columns, expected six: {' '.join(COLUMNS)}")
    if b"\r" in line and b"\r" in line.rstrip(b"\r\n"):
        raise ValueError("a carriage return within the line; end lines with LF or CR LF")
    text = columns[4]
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    # Python reads "1_0" as a number; no other tool does.
    if not math.isfinite(score) or b"_" in text:
        raise ValueError(f"the score {text.decode()!r:.80} is not a finite number")
    return columns[0], columns[2], columns[3], score


def _check_word(text: str, column: str) -> None:
    if text.split() != [text]:
        raise ValueError(f"{column} {text!r} is empty or holds whitespace")
