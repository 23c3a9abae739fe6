"""Read the files in which systems give their answers, and match them with a benchmark's questions.

Their content is not trusted. The form of a file is detected from it, never from the file's name,
but for .xlsx."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

from bears.errors import FormatError
from bears.evaluation.repeats import repeats_of
from bears.files.intake.files import json_value, lines, numbered_lines
from bears.files.records import value_as
from bears.files.spreadsheet import read_named
from bears.language.overlap import Chunks
from bears.trace import Trace
from bears.types import Chunk, Document, Question

IDS = ("question_id", "eval_id")
NAMES = (*IDS, "question")
TEXTS = ("predicted_answer", "answer")
EVIDENCE = ("predicted_evidence", "evidence")
NAMES_OF = {"question_id": NAMES, "answer": TEXTS, "evidence": EVIDENCE}
OURS = ("confidence", "citations", "refused")
"""Further names of a trace, which may mean something else in other files."""
FORMS = (
    "JSON Lines or a JSON list of {question_id, answer, evidence: [doc_id or paragraph]}, where "
    "evidence may be absent; QASPER's {question_id, predicted_answer, predicted_evidence}; "
    "{results: [such a list]}; one object {question_id: answer}; or CSV or .xlsx with the columns "
    "question_id, answer and, as a JSON list, evidence. Without ids, question is the text"
)
FLOAT = "FLOAT SELECTED"
SECTION = " ::: "
"""Part of the name of a section, which annotators sometimes gave as evidence."""
Find = Callable[[str, str], str | None]
"""Return the id of the document that evidence names, given the group of its question, or None."""


def id_by_text(questions: Iterable[Question]) -> Callable[[str, str], str]:
    """Return a function from a text to the id of the question that it is; else to the text.

    White space, case and the Unicode form of a character do not matter. The function also takes the
    beginning of its message; it raises FormatError if several questions have the text.
    """
    ids = defaultdict[str, list[str]](list)
    for question in questions:
        ids[_form(question.question)].append(question.question_id)

    def find(text: str, where: str) -> str:
        found = ids.get(_form(text), [text])
        if len(found) > 1:
            both = f"the questions {found[0]} and {found[1]}; give question_id"
            raise FormatError(f"{where}{text!r:.80} is the text of {both}")
        return found[0]

    return find


def _form(text: str) -> str:
    return " ".join(normalize("NFC", text).split()).casefold()


TRACE = ("searches", "calls", "shown", "cut", "left_out", "cited_not_given", "given_up", "asked")


class Given(NamedTuple):
    """The answer of a file to one question.

    Args:
        where: the file and the line or record.
        by_text: whether the file names the question by its text.
        trace: with that text for the question's id, and documents or their texts as evidence.
        traced: whether the file says what the system did.
    """

    where: str
    by_text: bool
    trace: Trace
    traced: bool


def read_answers(path: Path) -> Iterator[Given]:
    """Yield the answers of a file in any of `FORMS`, in its order; other fields are ignored.

    An answer may be null, and its ``error`` may say why.

    Raises:
        FormatError: the file has no known form, or a line or record is malformed.
    """
    where = ""
    for where, row in answer_rows(path):
        yield _given(row, f"{path}, {where}")
    if not where:
        raise FormatError(f"{path}: no answers; expected {FORMS}")


def answer_rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield each row of a file of answers, after its place in it. Raises FormatError."""
    first, several = _beginning(path)
    if first.startswith(b"{") and first.endswith(b"}") and several:
        yield from ((f"line {number}", row) for number, row in lines(path, blank=True))
    elif first[:1] in (b"{", b"["):
        yield from _records(path, json_value(path))
    elif first:
        yield from _cells(path)


def _beginning(path: Path) -> tuple[bytes, bool]:
    """Return the first line that is not blank, and whether there is another one."""
    rows = filter(None, (line.strip() for _, line in numbered_lines(path)))
    return next(rows, b""), next(rows, None) is not None


def _records(path: Path, whole: Any) -> Iterator[tuple[str, Any]]:
    results = whole.get("results", whole) if isinstance(whole, Mapping) else whole
    if isinstance(results, list):
        yield from ((f"record {number}", row) for number, row in enumerate(results, start=1))
    elif not isinstance(results, Mapping):
        raise FormatError(f"{path}: not a file of answers; expected {FORMS}")
    elif results.keys() & {*IDS}:
        yield "line 1", results
    else:
        for question_id, answer in results.items():
            row = answer if isinstance(answer, Mapping) else {"answer": answer}
            yield f"question {question_id!r:.80}", {**row, "question_id": question_id}


def _cells(path: Path) -> Iterator[tuple[str, Any]]:
    header, rows = read_named(path)
    if not {*NAMES} & {*header} or not {*TEXTS} & {*header}:
        raise FormatError(f"{path}: not a file of answers; expected {FORMS}")
    for number, cells in rows:
        row: dict[str, Any] = {**cells}
        for name in row.keys() & {*EVIDENCE}:
            where = f"{path}, line {number}, {name}"
            row[name] = json_value(row[name].encode(), where) if row[name].strip() else None
        yield f"line {number}", row


def _given(row: Any, where: str) -> Given:
    if not isinstance(row, Mapping):
        raise FormatError(f"{where}: expected an object, found {row!r:.40}")
    traced = not row.keys().isdisjoint(TRACE)
    more = (*TRACE, *OURS) if traced else ()
    own = {name: row[name] for name in more if row.get(name) is not None}
    for name, names in NAMES_OF.items():
        if found := [each for each in names if each in row]:
            own[name] = row[found[0]]
        elif name == "question_id" or (name == "answer" and not more):
            raise FormatError(f"{where}: {name}: Field required, such as {names[0]}")
    # The Korean task numbers its questions. In Python, true would be the number 1.
    if type(own["question_id"]) is int:
        own["question_id"] = str(own["question_id"])
    if row.get("error"):
        own["error"] = str(row["error"])
    return Given(where, not {*IDS} & row.keys(), value_as(Trace, own, where), traced)


def finder(documents: Collection[Document]) -> Find:
    """Return a function that finds the document with an id, or in a group the one with a text.

    Among documents that were read from PDFs, it finds the one with most of the text.
    """
    ids = {document.doc_id for document in documents}
    places = {(document.group, plain(document.content)): document.doc_id for document in documents}
    from_pdf: dict[str, list[Document]] = {}
    for document in documents:
        if ":pdf:" in document.doc_id:
            from_pdf.setdefault(document.group, []).append(document)

    @cache
    def chunks(group: str) -> Chunks:
        return Chunks([document.content for document in from_pdf[group]])

    def find(group: str, evidence: str) -> str | None:
        text = plain(plain(evidence).removeprefix(FLOAT).removeprefix(":"))
        if evidence in ids or group not in from_pdf:
            return evidence if evidence in ids else places.get((group, text))
        position = chunks(group).holding_most_of(text)
        return None if position is None else from_pdf[group][position].doc_id

    return find


def plain(text: str) -> str:
    """Replace white space in ``text`` by single spaces, to compare paragraphs."""
    return " ".join(text.split())


def answers_of(
    given: Iterable[Given],
    questions: Sequence[Question],
    documents: Collection[Document],
    ignore_unknown: bool = False,
) -> list[dict[str, Trace]]:
    """Return question_id to answer for each repeat, also of unknown questions that are ignored.

    Several answers to a question are its repeats. Unless the file says what the system did for
    them, all questions must then have as many, and they must differ somewhere.

    Evidence that matches no document (see `finder`) is kept and counts as wrong. This includes
    figures and tables if captions are not documents: the official script removes them from the gold
    only. Names of sections are removed, as they are from the gold.

    Args:
        given: the answers of a file.
        questions, documents: of the benchmark.
        ignore_unknown: skip answers to unknown questions instead of failing.

    Raises:
        FormatError: an answer is to an unknown question, to one that is already answered by
            mistake, or to a text that several questions have.
    """
    known = {question.question_id: question for question in questions}
    find_question = id_by_text(questions)
    find = finder(documents)
    taken: defaultdict[str, list[Trace]] = defaultdict(list)
    twice, any_traced = "", False
    for where, by_text, trace, traced in given:
        name = trace.question_id
        key = find_question(name, f"{where}: ") if by_text else name
        if key in taken and not twice:
            twice = f"{where}: {name!r:.80}"
        any_traced = any_traced or traced
        question = known.get(key)
        if question is None and not ignore_unknown:
            raise FormatError(
                f"{where}: there is no question {key!r:.80}; --ignore-unknown skips such questions"
            )
        evidence = _matched(trace.evidence, question.group if question else "", find)
        taken[key].append(replace(trace, question_id=key, evidence=evidence))
    even = len(set(map(len, taken.values()))) == 1
    differ = any(each != own[0] for own in taken.values() for each in own)
    if twice and not any_traced and not (even and differ):
        raise FormatError(
            f"{twice} is answered twice; remove one answer, or give all questions as many, which "
            "differ somewhere"
        )
    return repeats_of(chain.from_iterable(taken.values()))


def _matched(
    evidence: tuple[Chunk, ...] | None, group: str, find: Find
) -> tuple[Chunk, ...] | None:
    """Return the chunks of documents; what is of no document stays as it is."""
    if evidence is None:
        return None
    named = (chunk for chunk in evidence if SECTION not in chunk.doc_id)
    return tuple(replace(each, doc_id=find(group, each.doc_id) or each.doc_id) for each in named)
