"""Read answers with people's labels, against which a judge is measured."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator
from typing_extensions import TypedDict

from bears.answers.judging.ruling import Case, Verdict
from bears.errors import FormatError
from bears.evaluation.answers.predictions import answer_rows
from bears.files.intake.files import json_value
from bears.files.intake.yaml_text import table_of
from bears.files.records import value_as
from bears.language.normalization import without_citations

WORDS: Mapping[str, bool | None] = table_of(__file__)
ALTERNATIVES = "/"


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """A system's answer to a question, with a person's label and a judge's verdict.

    Args:
        label: whether it is right; None if it has no label.
        verdict: unscored before it is judged.
    """

    system: str
    case: Case
    label: bool | None
    verdict: Verdict = "unscored"

    @property
    def disagrees(self) -> bool:
        """Return whether person and judge contradict each other."""
        return self.label is not None and self.verdict == ("fail" if self.label else "pass")


def _label(value: Any) -> bool | None:
    word = str(value).strip().lower() if value is not None else ""
    if word not in WORDS:
        raise ValueError("expected true, false or nothing")
    return WORDS[word]


def _golds(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(FormatError):
            return json_value(value.encode(), "gold_answers")
    return value.split(ALTERNATIVES) if isinstance(value, str) else value


class _LabelledTexts(TypedDict):
    system: str
    question_id: str
    label: Annotated[bool | None, BeforeValidator(_label)]
    question: str
    gold_answers: Annotated[list[str], BeforeValidator(_golds)]
    answer: Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


def read_labels(path: Path) -> list[LabelledAnswer]:
    """Read CSV, JSON Lines or a JSON array of answers with people's labels.

    A row has ``system, question_id, question, gold_answers, answer, label``. A label is true or
    false, 1 or 0, pass or fail, yes or no; empty or null where it is still to come.
    ``gold_answers`` is a JSON list, or a text in which they are separated by "/". EVOUNA's own
    rows, with ``answer_<system>`` and ``judge_<system>`` for several systems, are read too. If such
    a question is ``improper``, or lacks a label, it is skipped for all systems.

    Args:
        path: the file.

    Raises:
        FormatError: a row lacks a field, has a wrong one, or is repeated.
    """
    found: dict[tuple[str, str], LabelledAnswer] = {}
    for number, (place, row) in enumerate(answer_rows(path), start=1):
        where = f"{path}, {place}"
        if not isinstance(row, Mapping):
            raise FormatError(f"{where}: expected an object, found {row!r:.80}")
        for part in _evouna(row, number) if "golden_answer" in row else [row]:
            texts = value_as(_LabelledTexts, part, where)
            system, question = texts["system"], texts["question_id"]
            if (system, question) in found:
                raise FormatError(f"{where}: {system!r} answers {question!r} before too")
            answer = without_citations(texts["answer"]).strip()
            case = Case(question, texts["question"], tuple(texts["gold_answers"]), answer)
            found[system, question] = LabelledAnswer(system, case, texts["label"])
    if not found:
        raise FormatError(f"{path}: no labels")
    return list(found.values())


def _evouna(row: Mapping[str, Any], number: int) -> Iterator[Mapping[str, Any]]:
    systems = [key.removeprefix("judge_") for key in row if key.startswith("judge_")]
    labels = {system: row[f"judge_{system}"] for system in systems}
    if not row.get("improper") and None not in labels.values():
        for system, label in labels.items():
            yield {
                "system": system,
                "question_id": str(number),
                "question": row.get("question"),
                "gold_answers": row["golden_answer"],
                "answer": row.get(f"answer_{system}"),
                "label": label,
            }
