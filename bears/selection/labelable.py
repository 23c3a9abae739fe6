"""The items of two systems that a command lets people label."""

from pathlib import Path
from typing import Literal

from bears.answers.judging.documents import DocumentPair, Grades, LinearMeasure
from bears.answers.judging.labelable import Labelable
from bears.answers.judging.pairs import Pair, judged_in
from bears.errors import FormatError
from bears.files.qrels import read_qrels
from bears.results.revision import VERDICTS, named
from bears.selection.configuration import composed, records_of, selected
from bears.selection.systems import chosen

What = Literal["answers", "documents"]


def labelable(
    what: What, a: str, b: str, *, measure: str, grades: Path | None, benchmark: str
) -> Labelable:
    """Return the items in which two systems may differ.

    Args:
        what: answers or documents.
        a, b: words that name the systems.
        measure: of documents.
        grades: a file of the model's grades of documents.

    Raises:
        FormatError: there is nothing to label.
    """
    if what == "answers":
        pair: Labelable = Pair(*(_judged(word) for word in (a, b)))
        if not pair.names:
            raise FormatError(f"{a} and {b} have no question in common")
        return pair
    linear = LinearMeasure(measure)
    ours, theirs = (system.rankings for system in chosen([a, b], benchmark))
    records = records_of(selected(composed(benchmark)).benchmark.name)
    questions = {each.question_id: each.question for each in records.questions}
    known: Grades = read_qrels(grades) if grades else {}
    pair = DocumentPair(ours, theirs, linear, known, questions, records.corpus)
    if not pair.names:
        raise FormatError(f"{a} and {b} have the same documents in the same order: {measure}")
    return pair


def _judged(word: str) -> dict[str, dict[str, str]]:
    """Return question_id to a row of a system's judged answers."""
    path = Path(word)
    if not path.is_file():
        revision = named(word)
        found = revision and revision.output(VERDICTS)
        if not found:
            raise FormatError(
                f"{word!r:.80}: no file, and no revision or experiment with judged answers; run "
                "`dvc exp run -S generator=NAME -S judge=NAME`, or `bears answers judge FILE "
                "--questions FILE.questions.csv`"
            )
        path = found
    return judged_in(path, word)
