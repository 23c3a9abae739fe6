"""What judging reads: the questions with all that is known of their answers, and a system's."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bears.configuration import parse
from bears.evaluation.answers.predictions import read_predictions
from bears.evaluation.answers.references import with_references
from bears.formats.records import read_documents, read_json, read_lines, read_questions
from bears.formats.trec import read_table
from bears.judging.contexts import read_contexts
from bears.judging.hearing import Hearing
from bears.judging.ruling import cases_of
from bears.types import Question


def read_hearing(paths: Mapping[str, Path], language: str, run: Path | None = None) -> Hearing:
    """The answers of a system, to be judged.

    Args:
        paths: of ``queries``, ``corpus`` and ``answers``; of ``lineage`` and ``sidecar`` where
            there are such: they know of further annotators' answers, and of aliases.
        language: BCP 47 tag of the answers.
        run: what the generator's documents were taken from, where that is known.

    Raises:
        FormatError: a file is malformed.
    """
    questions = _questions(paths["queries"], paths.get("lineage"), language)
    documents = read_documents(paths["corpus"])
    predictions = read_predictions(paths["answers"], questions, documents)
    cases = cases_of(questions, predictions, language, _aliases(paths.get("sidecar")))
    hearing = Hearing(questions, cases, predictions, language, read_contexts(paths["answers"]))
    if run is not None:
        rankings = read_table(run, {question.question_id for question in questions}).rankings()
        hearing.retrieved = {key: {hit.doc_id for hit in hits} for key, hits in rankings.items()}
    return hearing


def _questions(queries: Path, lineage: Path | None, language: str) -> list[Question]:
    rows = [row for _, row in read_lines(lineage)] if lineage else []
    references = {row["record_id"]: row["references"] for row in rows if "references" in row}
    return with_references(read_questions(queries), references, language)


def _aliases(sidecar: Path | None) -> Mapping[str, Sequence[str]]:
    read = read_json(sidecar).get("aliases", {}) if sidecar else {}
    return parse(dict[str, list[str]], read, f"{sidecar}: aliases")
