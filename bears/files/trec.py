"""TREC run files, runs in columns, and the one rule that orders the documents of a question.

A line is ``question_id Q0 doc_id rank score tag`` and ends with LF or CR LF. Tabs separate its
columns if it has any, else one or more spaces do. No column is empty, and an id has no white space.
Words after the tag belong to it. As in trec_eval, the score and the document id alone decide the
order when a file is read, not the rank column or the order of the lines.
"""

import math
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import chain, compress, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bears.errors import FormatError
from bears.files.intake.files import numbered_lines, opened
from bears.files.manifest import check
from bears.files.records import atomic_write
from bears.types import Hit, Ranking, Run

COLUMNS = ("question_id", "Q0", "doc_id", "rank", "score", "tag")
BLOCK = 8 * 1024 * 1024
"""Bytes that Arrow parses at once; more blocks have more dictionaries to join."""
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RunTable:
    """The rankings of a run, each in order and without repetitions; made by `run_table`.

    It has columns, since one object per document would take too much memory.

    Attributes:
        question_ids: the questions, n of them.
        starts: shape (n + 1,); question i has the lines from ``starts[i]`` up to
            ``starts[i + 1]``, best first.
        doc_ids: every document of the run, once.
        documents: shape (lines,), index into ``doc_ids``.
        scores: shape (lines,).
        remarks: reasons to doubt that the scores are scores.
    """

    question_ids: Sequence[str]
    starts: NDArray[np.int64]
    doc_ids: Sequence[str]
    documents: Codes
    scores: Floats
    remarks: tuple[str, ...] = ()

    def rankings(self) -> dict[str, Ranking]:
        """Return each question_id with its ranking."""
        documents, scores = self.documents.tolist(), self.scores.tolist()
        hits = [
            Hit(self.doc_ids[code], score) for code, score in zip(documents, scores, strict=True)
        ]
        starts = self.starts.tolist()
        return {
            question_id: tuple(hits[starts[i] : starts[i + 1]])
            for i, question_id in enumerate(self.question_ids)
        }


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRun:
    """A run of dictionaries, as other tools have it; made by `scored_run`.

    A line is that of a `RunTable`. Documents are looked up by their ids, of which a run has too
    many to number them all.

    Attributes:
        run: question_id to doc_id to score.
        question_ids, starts, scores: as in a `RunTable`.
    """

    run: Mapping[str, Mapping[str, float]]
    question_ids: Sequence[str]
    starts: NDArray[np.int64]
    scores: Floats

    def rankings(self) -> dict[str, Ranking]:
        """Return each question_id with its ranking."""
        return {key: order(map(Hit._make, own.items())) for key, own in self.run.items()}

    def lines(self, question: int, doc_ids: Iterable[str]) -> dict[str, int]:
        """Return the documents that question i has found, each with its line."""
        own = self.run[self.question_ids[question]]
        begin, end = self.starts[question : question + 2].tolist()
        known = {doc_id: float(own[doc_id]) for doc_id in doc_ids if doc_id in own}
        scores, sought = self.scores[begin:end][::-1], list(known.values())
        lower = np.searchsorted(scores, sought, "left")
        not_higher = np.searchsorted(scores, sought, "right")
        lines = dict(zip(known, (end - not_higher).tolist(), strict=True))
        for doc_id in compress(known, not_higher - lower > 1):
            tied = [each for each, score in own.items() if float(score) == known[doc_id]]
            lines[doc_id] += sum(each > doc_id for each in tied)
        return lines


def scored_run(run: Mapping[str, Mapping[str, float]]) -> ScoredRun:
    """Return a run of question_id to doc_id to score.

    Raises:
        FormatError: a score is not finite.
    """
    starts = np.cumsum([0, *map(len, run.values())])
    every = chain.from_iterable(own.values() for own in run.values())
    scores = np.fromiter(every, np.float64, int(starts[-1]))
    for at in np.flatnonzero(~np.isfinite(scores))[:1]:
        question = int(np.searchsorted(starts, at, "right")) - 1
        key, own = list(run.items())[question]
        raise FormatError(
            f"question {key!r}, document {list(own)[at - starts[question]]!r}: the score "
            f"{scores[at]} is not finite"
        )
    for begin, end in pairwise(starts.tolist()):
        scores[begin:end][::-1].sort()
    return ScoredRun(run, list(run), starts, scores)


def run_of_rankings(run: Run) -> ScoredRun:
    """Return the same for rankings in any order.

    Raises:
        FormatError: a document occurs twice in a question, or a score is not finite.
    """
    found = {question_id: dict(ranking) for question_id, ranking in run.items()}
    for question_id, ranking in run.items():
        if len(found[question_id]) < len(ranking):
            raise FormatError(
                f"question {question_id!r}: a document occurs more than once in a ranking"
            )
    return scored_run(found)


def order(hits: Iterable[Hit]) -> Ranking:
    """Return the ranking of ``hits``: score descending, then UTF-8 bytes of doc_id descending.

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
        ignore_unknown: leave out questions outside ``question_ids``.
        ascending_ids: order documents of equal score as Anserini does, not as trec_eval does.

    Returns:
        The questions that have a line, in the order of their first one; none for an empty file.

    Raises:
        FormatError: the file is absent; or, naming the line: fewer than six columns, not UTF-8, an
            id with whitespace, a score that is not a finite number, a document that the
            question already has, a question outside ``question_ids``; or the file differs from
            its manifest, if it has one.
    """
    check(path)
    lines = _parsed(path) or _walked(path)
    known = np.array([question_ids is None or i in question_ids for i in lines.question_ids], bool)
    questions, documents, scores = lines.questions, lines.documents, lines.scores
    contradicted = int(known[_contradicted(lines)].sum())
    if not known.all():
        kept = known[questions]
        if not ignore_unknown:
            _walked(path)  # Arrow also ends lines at a lone CR, which would change their numbers.
            line = int(kept.argmin())
            raise FormatError(
                f"{path}, line {line + 1}: question {lines.question_ids[questions[line]]!r} is not "
                "a question of this benchmark; `bears submit score --ignore-unknown` skips such"
            )
        questions = (np.cumsum(known, dtype=np.int32) - 1)[questions[kept]]
        documents, scores = documents[kept], scores[kept]
    kept_ids = list(compress(lines.question_ids, known))
    try:
        table = run_table(kept_ids, questions, lines.doc_ids, documents, scores, ascending_ids)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    remarks = tuple(_remarks(table, contradicted))
    return replace(table, remarks=remarks)


class _Lines(NamedTuple):
    """The lines of a run in columns; questions and documents are indexes into the ids."""

    question_ids: list[str]
    doc_ids: list[str]
    questions: Codes
    documents: Codes
    ranks: Codes
    scores: Floats


def _parsed(path: Path) -> _Lines | None:
    """Return the lines as Arrow reads them, twenty times as fast as `_walked`.

    It is None if a line is invalid, has words after its tag, or does not separate its columns by
    one space (or one tab, if the first line has tabs).
    """
    with closing(opened(path)) as stream:
        tabs = b"\t" in stream.peek().partition(b"\n")[0]  # type: ignore[attr-defined]
    # Arrow would end a line at a lone CR, and drop white space around a number.
    if _holds(path, b"\r") or _holds(path, b" " if tabs else b"\t"):
        return None
    from pyarrow import ArrowInvalid, csv, dictionary, float64, int32, string

    text = dictionary(int32(), string())
    types = dict.fromkeys(COLUMNS, text) | {"rank": int32(), "score": float64()}
    with closing(opened(path)) as stream:
        try:
            table = csv.read_csv(
                stream,
                csv.ReadOptions(column_names=COLUMNS, block_size=BLOCK),
                csv.ParseOptions(
                    delimiter="\t" if tabs else " ", quote_char=False, ignore_empty_lines=False
                ),
                csv.ConvertOptions(column_types=types, null_values=[]),
            )
        except ArrowInvalid:
            return None
    question_ids, questions = _coded(table["question_id"])
    doc_ids, documents = _coded(table["doc_id"])
    ranks, scores = (_joined(table[name].chunks) for name in ("rank", "score"))
    others = (_coded(table[name])[0] for name in ("Q0", "tag"))
    # Arrow takes empty columns, and does not know other white space.
    if any(" ".join(words).split() != words for words in (question_ids, doc_ids, *others)):
        return None
    if not np.isfinite(scores).all():
        return None
    return _Lines(question_ids, doc_ids, questions, documents, ranks, scores)


def _holds(path: Path, mark: bytes) -> bool:
    """Return whether a mark occurs in a file; a CR before LF does not count."""
    before = b""
    with closing(opened(path)) as stream:
        while block := stream.read(BLOCK):
            found = (before + block).replace(b"\r\n", b"") if mark in before + block else b""
            before = b"\r" if block.endswith(b"\r") else b""
            if mark in found.removesuffix(before):
                return True
    return before == mark


def _coded(column: Any) -> tuple[list[str], Codes]:
    chunks = column.unify_dictionaries().chunks
    return chunks[0].dictionary.to_pylist(), _joined([chunk.indices for chunk in chunks])


def _joined(chunks: Sequence[Any]) -> NDArray[Any]:
    return np.concatenate([np.from_dlpack(chunk) for chunk in chunks])


def _walked(path: Path) -> _Lines:
    """Return the lines as Python reads them. Raises FormatError, naming the first invalid one."""
    question_ids: dict[str, int] = {}
    doc_ids: dict[str, int] = {}
    questions, documents, ranks, scores = array("i"), array("i"), array("i"), array("d")
    for number, line in numbered_lines(path):
        try:
            question, document, rank, score = _columns(line)
            for name, word, ids, codes in (
                ("question_id", question.decode(), question_ids, questions),
                ("doc_id", document.decode(), doc_ids, documents),
            ):
                if word not in ids:
                    _check_word(word, name)
                codes.append(ids.setdefault(word, len(ids)))
        except ValueError as error:
            raise FormatError(f"{path}, line {number}: {error}") from None
        # Ranks that are not numbers are ignored.
        ranks.append(int(rank) if rank.isdigit() and len(rank) < 10 else -1)
        scores.append(score)
    columns = np.array(questions), np.array(documents), np.array(ranks), np.array(scores)
    return _Lines(list(question_ids), list(doc_ids), *columns)


def _contradicted(lines: _Lines) -> Codes:
    """Return the questions in which a line of a worse rank than the one before scores higher."""
    questions, ranks, scores = lines.questions, lines.ranks, lines.scores
    worse = (ranks[1:] > ranks[:-1]) & (ranks[:-1] >= 0) & (scores[1:] > scores[:-1])
    return np.unique(questions[1:][worse & (questions[1:] == questions[:-1])])


def _remarks(table: RunTable, contradicted: int) -> Iterator[str]:
    """Yield reasons to doubt that the scores of a run are scores."""
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
            "so only their ids decide the order"
        )


@contextmanager
def run_writer(path: Path, tag: str) -> Iterator[Callable[[str, Ranking], None]]:
    """Write a run atomically: yield a function that writes a question's ranking in its `order`.

    Scores are printed as the shortest decimals that read back as the same float, so the bytes are
    the same on every machine. A question with an empty ranking gets no line.

    Raises:
        FormatError: an id or the tag is empty or holds whitespace, a document occurs twice in a
            question, or a score is NaN or infinite. Then no file is written or replaced.
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
        # A numpy scalar would print as "np.float32(0.5)".
        lines.append(f"{question_id} Q0 {hit.doc_id} {rank} {float(hit.score)!r} {tag}\n")
    return "".join(lines)


def _columns(line: bytes) -> tuple[bytes, bytes, bytes, float]:
    """Return question, document, rank and score of a line."""
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    if b"\r" in line:
        raise ValueError("a carriage return within the line; end lines with LF or CR LF")
    columns = line.split(b"\t" if b"\t" in line else b" ")
    if b"\t" not in line or b"" in columns[: len(COLUMNS)]:
        columns = list(filter(None, columns))
    # Words may follow the tag; but if the rank is not a number, an id was cut in two.
    if len(columns) < len(COLUMNS) or (len(columns) > len(COLUMNS) and not columns[3].isdigit()):
        raise ValueError(f"{len(columns)} columns, expected six: {' '.join(COLUMNS)}")
    text = columns[4]
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    # Python reads "1_0" as a number, unlike other tools.
    if not math.isfinite(score) or b"_" in text:
        raise ValueError(f"the score {text.decode()!r:.80} is not a finite number")
    return columns[0], columns[2], columns[3], score


def _check_word(text: str, column: str) -> None:
    if text.split() != [text]:
        raise ValueError(f"{column} {text!r} is empty or holds whitespace")


def run_table(
    question_ids: Sequence[str],
    questions: Codes,
    doc_ids: Sequence[str],
    documents: Codes,
    scores: Floats,
    ascending_ids: bool = False,
) -> RunTable:
    """Return the table of lines in any order, ordered as `bears.files.trec.order` orders them.

    Args:
        questions: shape (lines,), index into ``question_ids``.
        documents: shape (lines,), index into ``doc_ids``.
        scores: shape (lines,), finite.
        ascending_ids: order documents of equal score by ascending id, as Anserini does.

    Raises:
        FormatError: a question has a document twice.
    """
    # Python compares strings by code point, and UTF-8 bytes sort in that same order.
    by_id = sorted(range(len(doc_ids)), key=doc_ids.__getitem__, reverse=ascending_ids)
    code_of = np.empty(len(by_id), np.int32)
    code_of[by_id] = np.arange(len(by_id))
    doc_ids, documents = [doc_ids[code] for code in by_id], code_of[documents]
    pairs = questions.astype(np.int64)
    pairs *= len(doc_ids)
    pairs += documents
    pairs.sort()
    for pair in pairs[1:][pairs[1:] == pairs[:-1]][:1]:
        question, document = divmod(int(pair), len(doc_ids))
        raise FormatError(
            f"question {question_ids[question]!r}, document {doc_ids[document]!r} occurs more than "
            "once in a ranking"
        )
    del pairs
    if not _in_order(questions, documents, scores):
        lines = np.lexsort((documents, scores, -questions))[::-1]
        documents, scores = documents[lines], scores[lines]
    counts = np.bincount(questions, minlength=len(question_ids))
    starts = np.concatenate(([0], np.cumsum(counts)))
    return RunTable(question_ids, starts, doc_ids, documents, scores)


def _in_order(questions: Codes, documents: Codes, scores: Floats) -> bool:
    """Return whether the lines are in order already, as in most files; sorting is slow."""
    tied = (scores[1:] == scores[:-1]) & (documents[1:] < documents[:-1])
    falls = (questions[1:] == questions[:-1]) & ((scores[1:] < scores[:-1]) | tied)
    return bool((falls | (questions[1:] > questions[:-1])).all())
