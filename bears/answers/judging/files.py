"""What judging reads: the questions with all that is known of their answers, and a system's."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bears.answers.judging.causes import Context
from bears.answers.judging.hearing import Hearing
from bears.answers.judging.ruling import VERDICTS, Verdict, cases_of
from bears.config import parse
from bears.errors import FormatError
from bears.evaluation.answers.forms import read_rows
from bears.evaluation.answers.predictions import read_predictions
from bears.evaluation.answers.references import read_referenced
from bears.files.records import problems_of, read_documents, read_json
from bears.files.spreadsheet import read_named
from bears.files.trec import read_table


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
    questions = read_referenced(paths["queries"], paths.get("lineage"), language)
    documents = read_documents(paths["corpus"])
    predictions = read_predictions(paths["answers"], questions, documents)
    cases = cases_of(questions, predictions, language, _aliases(paths.get("sidecar")))
    hearing = Hearing(questions, cases, predictions, language, read_contexts(paths["answers"]))
    if run is not None:
        rankings = read_table(run, {question.question_id for question in questions}).rankings()
        hearing.retrieved = {key: {hit.doc_id for hit in hits} for key, hits in rankings.items()}
    return hearing


def records_in(folder: Path, answers: Path) -> dict[str, Path]:
    """The paths that `read_hearing` wants.

    Args:
        folder: of the records: the pipeline's, or an export.
        answers: the file of answers.
    """
    places = {
        "queries": [folder / "queries.json"],
        "corpus": [folder / "corpus.json"],
        "lineage": [folder / "lineage.jsonl", folder.parent / "sampled" / "lineage.jsonl"],
        "sidecar": [folder / "sidecar.json"],
    }
    found = {name: next(filter(Path.exists, paths), None) for name, paths in places.items()}
    return {name: path for name, path in found.items() if path} | {"answers": answers}


def read_contexts(path: Path) -> dict[str, Context]:
    """Return question_id to what was shown, as far as a file of answers says it.

    Raises:
        FormatError: naming the line that has something else under these names.
    """
    names, context_of = [each.name for each in fields(Context)], TypeAdapter(Context)
    found = {}
    for given, row in read_rows(path):
        told = {name: row[name] for name in names if row.get(name) is not None}
        try:
            found[given.question_id] = context_of.validate_python(told)
        except ValidationError as error:
            raise FormatError(f"{given.where}: {problems_of(error)}") from None
    return found


def read_verdicts(path: Path) -> dict[str, Verdict]:
    """question_id to its verdict, from what `write_judged` wrote.

    Raises:
        FormatError: naming the line that has none.
    """
    header, rows = read_named(path)
    if not {"question_id", "verdict"} <= {*header}:
        raise FormatError(f"{path}: no columns question_id and verdict; name a .questions.csv")
    found: dict[str, Verdict] = {}
    for line, row in rows:
        verdict = row["verdict"]
        if verdict not in VERDICTS:
            raise FormatError(f"{path}, line {line}: verdict {verdict!r:.80}; expected {VERDICTS}")
        found[row["question_id"]] = verdict
    return found


def _aliases(sidecar: Path | None) -> Mapping[str, Sequence[str]]:
    read = parse(dict[str, Any], read_json(sidecar), str(sidecar)) if sidecar else {}
    return parse(dict[str, list[str]], read.get("aliases", {}), f"{sidecar}: aliases")
