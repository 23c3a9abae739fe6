"""TREC run files, and the one rule that orders the documents of a question.

A line is ``question_id Q0 doc_id rank score tag``, columns parted by ASCII spaces or tabs. The
rank column and the order of the lines carry no meaning when a file is read: as in trec_eval, the
score and the document id decide, and words after the tag belong to it.
"""

import math
from array import array
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from bears.errors import FormatError
from bears.files.intake.files import line_blocks, numbered_lines
from bears.files.manifest import check
from bears.files.records import atomic_write
from bears.files.run_table import Codes, Floats, RepeatedDocument, RunTable, run_table
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
    lines = _Lines()
    for number, block in line_blocks(path):
        lines.add(_parsed(block) or _walked(path, number, block))
    words, doc_ids = list(lines.questions), list(lines.documents)
    # Arrow parts columns at spaces alone; to name the line of such an id all of them are walked.
    if any(" ".join(ids).split() != ids for ids in (words, doc_ids)):
        for number, block in line_blocks(path):
            _walked(path, number, block)
    questions, documents = (
        np.frombuffer(codes, np.int32) for codes in (lines.question, lines.document)
    )
    scores = np.frombuffer(lines.score)
    known = np.array([question_ids is None or word in question_ids for word in words], np.bool_)
    contradicted = sum(known[list(lines.contradicted)].tolist())
    if not known.all():
        kept = known[questions]
        if not ignore_unknown:
            at = int(kept.argmin())
            raise FormatError(
                f"{path}, line {at + 1}: question {words[questions[at]]!r} is not a question of "
                "this benchmark; --ignore-unknown leaves such questions out"
            )
        questions = (np.cumsum(known, dtype=np.int32) - 1)[questions[kept]]
        documents, scores = documents[kept], scores[kept]
    asked = [word for word, is_known in zip(words, known, strict=True) if is_known]
    try:
        table = run_table(asked, questions, doc_ids, documents, scores, ascending_ids)
    except RepeatedDocument as error:
        number, (question_id, doc_id) = _second_line(path, *error.line), error.line
        raise FormatError(
            f"{path}, line {number}: question {question_id!r} already has document {doc_id!r}"
        ) from None
    remarks = tuple(_remarks(table, contradicted))
    return replace(table, unknown=len(words) - len(asked), remarks=remarks)


class _Lines:
    """The lines of a run as they come, sixteen bytes each; an id is its place in a dictionary."""

    def __init__(self) -> None:
        self.questions: dict[str, int] = {}
        self.documents: dict[str, int] = {}
        self.question, self.document, self.score = array("i"), array("i"), array("d")
        self.contradicted: set[int] = set()
        self._last = np.array([-1], np.int32), np.array([-1], np.int32), np.array([0.0])

    def add(self, columns: tuple[Any, ...]) -> None:
        """Take some lines, as `_parsed` returns them."""
        question, document = (
            _coded(ids, known)
            for ids, known in zip(columns, (self.questions, self.documents), strict=False)
        )
        rank, score = (
            np.concatenate([np.from_dlpack(c) for c in each.chunks]) for each in columns[2:]
        )
        for codes, new in (
            (self.question, question),
            (self.document, document),
            (self.score, score),
        ):
            codes.frombytes(new.tobytes())
        both = [
            np.append(old, new)
            for old, new in zip(self._last, (question, rank, score), strict=True)
        ]
        self.contradicted.update(_contradicted(*both).tolist())
        self._last = question[-1:], rank[-1:], score[-1:]


def _coded(ids: Any, known: dict[str, int]) -> Codes:
    """Return the places of ``ids`` in ``known``, to which new ones are added."""
    chunks = ids.unify_dictionaries().chunks
    words = chunks[0].dictionary.to_pylist()
    codes = np.array([known.setdefault(word, len(known)) for word in words], np.int32)
    return np.concatenate([codes[np.from_dlpack(chunk.indices)] for chunk in chunks])


def _parsed(block: bytes) -> tuple[Any, ...] | None:
    """Return question, document, rank and score of lines in Arrow's arrays, the ids encoded.

    It is None where a line is invalid or has words after its tag.
    """
    from pyarrow import ArrowInvalid, BufferReader, csv, dictionary, float64, int32, string

    plain = block.replace(b"\r\n", b"\n") if block.endswith(b"\n") else block + b"\n"
    for sign in (b"\t", b"\v", b"\f"):
        plain = plain.replace(sign, b" ")
    while b"  " in plain:
        plain = plain.replace(b"  ", b" ")
    plain = plain.replace(b" \n", b"\n")
    # The parser ends a line at a lone CR, and leaves out a byte order mark anywhere.
    if b"\r" in plain or plain.startswith(BOM_UTF8):
        return None
    text = dictionary(int32(), string())
    types = {"question_id": text, "doc_id": text, "rank": int32(), "score": float64()}
    try:
        table = csv.read_csv(
            BufferReader(plain),
            csv.ReadOptions(column_names=COLUMNS),
            csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[]),
        )
    except ArrowInvalid:
        return None
    finite = all(np.isfinite(np.from_dlpack(part)).all() for part in table["score"].chunks)
    return tuple(table.columns) if finite else None


def _walked(path: Path, first: int, block: bytes) -> tuple[Any, ...]:
    """Return the same of lines from number ``first`` on. Raises FormatError, naming one."""
    from pyarrow import chunked_array, float64, int32, string

    known: dict[bytes, str] = {}
    rows = []
    for number, line in enumerate(BytesIO(block), start=first):
        try:
            question, document, rank, score = _columns(line)
            for name, word in (("question_id", question), ("doc_id", document)):
                if word not in known:
                    _check_word(word.decode(), name)
                    known[word] = word.decode()
        except ValueError as error:
            raise FormatError(f"{path}, line {number}: {error}") from None
        # A rank that is no number is as good as none.
        place = int(rank) if rank.isdigit() and len(rank) < 10 else -1
        rows.append((known[question], known[document], place, score))
    kinds = (string(), string(), int32(), float64())
    columns = [
        chunked_array([column], kind)
        for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)
    ]
    return (*(ids.dictionary_encode() for ids in columns[:2]), *columns[2:])


def _contradicted(questions: Codes, ranks: Codes, scores: Floats) -> Codes:
    """Return the questions in which a line of a worse rank than the one before scores higher."""
    worse = (ranks[1:] > ranks[:-1]) & (ranks[:-1] >= 0) & (scores[1:] > scores[:-1])
    found: Codes = np.unique(questions[1:][worse & (questions[1:] == questions[:-1])])
    return found


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
