"""What changed between the records of two systems, and which questions stayed the same."""

from collections import Counter
from collections.abc import Mapping

from bears.files.records import read_questions, stream_documents
from bears.layout import EVERY, pattern
from bears.results.system import System
from bears.types import Question

Parts = Mapping[str, Mapping[str, object]]
"""The parts of each record, by its id, that may change."""


def changes(base: System, candidate: System) -> tuple[str, list[str]]:
    """Count what was added, removed or changed, as far as the records are here.

    Returns:
        The counts in words, and the ids of the questions whose text and gold are the same, as far
        as both are known: files of values only have ids.

    Raises:
        FormatError: the records are damaged.
    """
    old, new = _questions(base), _questions(candidate)
    said = _difference(old, new, "question")
    said += _difference(_documents(base), _documents(candidate), "document")
    both = base.values.index.intersection(candidate.values.index)
    return ", ".join(said), [q for q in both if not _changed(old[q], new[q])]


def _questions(system: System) -> Parts:
    found: dict[str, Mapping[str, object]] = {key: {} for key in map(str, system.values.index)}
    questions = read_questions(system.queries) if system.queries else ()
    decided: dict[str, set[object]] = {}
    for one in system.decisions:
        decided.setdefault(one.question_id, set()).add((one.place, one.decision))
    return found | {each.question_id: _parts(each, decided) for each in questions}


def _parts(question: Question, decided: Mapping[str, set[object]]) -> Mapping[str, object]:
    # A span moves with the text before it, and is still the same gold.
    spans = [(span.doc_id, span.quotation, span.lost) for span in question.gold_spans]
    answers = question.gold_answer, question.answers
    gold = answers, question.grades, question.judged, spans, decided.get(question.question_id)
    return {"text": (question.question, question.turns), "gold": gold}


def _documents(system: System) -> Parts:
    if system.revision:
        path = system.revision.within(pattern(EVERY.translated), "corpus.json")
    else:
        path = system.queries and system.queries.with_name("corpus.json")
    documents = stream_documents(path) if path else ()
    return {each.doc_id: {"text": hash((each.content, each.group))} for each in documents}


def _difference(old: Parts, new: Parts, word: str) -> list[str]:
    """Count the records that are in one alone, and those of which a part changed."""
    if not (old and new):
        return []
    both = old.keys() & new.keys()
    counts = Counter({"{} added": len(new) - len(both), "{} removed": len(old) - len(both)})
    for key in sorted(both):
        counts.update(f"{part} of {{}} changed" for part in _changed(old[key], new[key]))
    return [text.format(f"{n} {word}{'s' * (n != 1)}") for text, n in counts.items() if n]


def _changed(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """Return the parts that both have and that differ."""
    return [part for part in old if part in new and old[part] != new[part]]
