"""Match a system's answers with the questions and documents of a benchmark."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain

from bears.errors import FormatError
from bears.evaluation.answers.forms import Given
from bears.evaluation.by_text import id_by_text
from bears.evaluation.repeats import repeats_of
from bears.language.overlap import Chunks
from bears.trace import Trace
from bears.types import Chunk, Document, Question

FLOAT = "FLOAT SELECTED"
SECTION = " ::: "
"""Part of the name of a section, which annotators sometimes gave as evidence."""
Find = Callable[[str, str], str | None]
"""Return the id of the document that evidence names, given the group of its question, or None."""


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
