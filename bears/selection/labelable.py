"""The items of two systems, or of one, that a command lets people label."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from bears.answers.judging import labelable as judged_items
from bears.answers.judging.labelable import Labelable
from bears.answers.judging.pairs import judged_in, verdict_pair
from bears.errors import FormatError
from bears.files.qrels import read_qrels
from bears.results.labeled import grades_of
from bears.selection.configuration import composed, records_of, selected
from bears.selection.systems import chosen

What = Literal["answers", "documents", "nuggets", "citations"]
MEASURES = {
    "documents": "precision@10",
    "nuggets": "nugget_all",
    "citations": "citation_recall",
    "answers": "",
}
"""The measure of each that is compared if none is named."""


def labelable(
    what: What, a: str, b: str, *, measure: str, grades: Path | None, benchmark: str
) -> Labelable:
    """Return the items in which two systems may differ, or those of one.

    Args:
        what: what people label.
        a, b: words that name the systems; b may be empty, but for answers.
        measure: of the items; empty: the one of `MEASURES`.
        grades: a file of the model's grades of documents.

    Raises:
        FormatError: there is nothing to label.
    """
    words, measure = [a, *filter(None, [b])], measure or MEASURES[what]
    if what == "answers":
        if not b:
            raise FormatError("answers are labeled in pairs; name a second system")
        both = verdict_pair(*(_judged(word, benchmark) for word in words))
        if not both.names:
            raise FormatError(f"{a} and {b} have no question in common")
        return both
    if what == "documents":
        pair = _documents(words, measure, grades, benchmark)
    else:
        ours, theirs = (*(_judged(word, benchmark) for word in words), {})[:2]
        pair = judged_items.answer_pair(what, measure, ours, theirs)
    if not pair.names:
        raise FormatError(f"{' and '.join(words)}: nothing that changes {measure} can be labeled")
    return pair


def _documents(
    words: Sequence[str], measure: str, grades: Path | None, benchmark: str
) -> Labelable:
    judged_items.linear(measure)  # Refuses another one before anything is read.
    systems = chosen(words, benchmark, least=1)
    records = records_of(selected(composed(benchmark)).benchmark.name)
    questions = {each.question_id: each.question for each in records.questions}
    ours, theirs = (*(system.rankings for system in systems), {})[:2]
    found = read_qrels(grades, judged_items.HIGHEST) if grades else grades_of(systems)
    return judged_items.document_pair(ours, theirs, measure, found, questions, records.corpus)


def _judged(word: str, benchmark: str) -> dict[str, dict[str, str]]:
    """Return question_id to a row of a system's judged answers."""
    path = Path(word)
    if not path.is_file():
        (system,) = chosen([word], benchmark, least=1)
        if not system.files:
            raise FormatError(
                f"{word!r:.80} has no judged answers; run `dvc exp run -S generator=NAME -S "
                "judge=NAME`, or `bears answers judge FILE --questions FILE.questions.csv`"
            )
        path = system.files[1]
    return judged_in(path, word)
