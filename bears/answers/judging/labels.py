"""Answers that people have judged: the ground on which a judge is measured."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bears.answers.judging.ruling import Case
from bears.errors import FormatError
from bears.files.intake.json_text import json_value, lines
from bears.files.records import problems_of
from bears.files.spreadsheet import read_named
from bears.language.normalisation import without_citations

WORDS = {
    **dict.fromkeys(("true", "1", "pass", "yes"), True),
    **dict.fromkeys(("false", "0", "fail", "no"), False),
    **dict.fromkeys(("", "null", "none"), None),
}
ALTERNATIVES = "/"
FIELDS = ("system", "question_id", "label")
TEXTS = ("question", "gold_answers", "answer")
EXPECTED = (
    f"a row has {', '.join((*FIELDS, *TEXTS))}, the last three unless --benchmark names the "
    "benchmark whose answers are labelled"
)
JudgedAlready = Callable[[str, str], Case | None]
"""System and question_id to the answer that it gave; None for a question that there is not."""


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """What a system answered to a question, and what a person said of it.

    Args:
        label: whether it is right; None where nobody has said.
        golds: right answers.
    """

    system: str
    question_id: str
    question: str
    golds: tuple[str, ...]
    answer: str
    label: bool | None
    aliases: tuple[str, ...] = ()

    def case(self) -> Case:
        """What is put before a judge."""
        answer = without_citations(self.answer).strip()
        return Case(self.question_id, self.question, self.golds, answer, self.aliases)


class _Texts(TypedDict):
    system: str
    question_id: str
    question: str
    gold_answers: list[str]
    answer: str


_TEXTS = TypeAdapter(_Texts)


def read_labels(path: Path, judged: JudgedAlready | None = None) -> list[LabelledAnswer]:
    """Read CSV, JSON Lines or a JSON array of answers with people's labels.

    A row has ``system, question_id, label``, and ``question, gold_answers, answer`` unless these
    are known. A label is true or false, 1 or 0, pass or fail, yes or no; empty or null where there
    is none yet. ``gold_answers`` is a JSON list, or a text in which they are parted by "/".
    EVOUNA's own rows, which have ``answer_<system>`` and ``judge_<system>`` for several systems,
    are read too; there a question that is ``improper``, or on which a label is missing, is left
    out for all of them.

    Args:
        path: the file.
        judged: where the answers are found whose rows do not have them.

    Raises:
        FormatError: naming the row that lacks a field or has a wrong one, or that stands twice.
    """
    found: dict[tuple[str, str], LabelledAnswer] = {}
    for number, row in _rows(path):
        where = f"{path}, row {number}"
        if not isinstance(row, Mapping):
            raise FormatError(f"{where}: expected an object, found {row!r:.80}")
        parts = _evouna(row, number) if "golden_answer" in row else [row]
        for part in parts:
            labelled = _labelled(part, where, judged)
            key = labelled.system, labelled.question_id
            if key in found:
                raise FormatError(f"{where}: {key[0]!r} answers {key[1]!r} in an earlier row too")
            found[key] = labelled
    if not found:
        raise FormatError(f"{path}: no labels; {EXPECTED}")
    return list(found.values())


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    if path.suffix == ".csv":
        yield from enumerate((row for _, row in read_named(path)[1]), start=1)
    elif path.suffix == ".json":
        whole = json_value(path)
        yield from enumerate(whole if isinstance(whole, list) else [whole], start=1)
    else:
        yield from lines(path)


def _evouna(row: Mapping[str, Any], number: int) -> Iterator[Mapping[str, Any]]:
    systems = [key.removeprefix("judge_") for key in row if key.startswith("judge_")]
    labels = {system: row[f"judge_{system}"] for system in systems}
    if row.get("improper") or None in labels.values():
        return
    for system, label in labels.items():
        yield {
            "system": system,
            "question_id": str(number),
            "question": row.get("question"),
            "gold_answers": row["golden_answer"],
            "answer": row.get(f"answer_{system}"),
            "label": label,
        }


def _labelled(row: Mapping[str, Any], where: str, judged: JudgedAlready | None) -> LabelledAnswer:
    case = None
    if judged and not any(name in row for name in TEXTS):
        case = _case(row, where, judged)
        row = {**row, "question": case.question, "gold_answers": [*case.golds]}
        row["answer"] = case.answer
    if missing := [name for name in (*FIELDS, *TEXTS) if name not in row]:
        raise FormatError(f"{where}: lacks {', '.join(missing)}; {EXPECTED}")
    label = row["label"]
    word = str(label).strip().lower() if label is not None else ""
    if word not in WORDS:
        raise FormatError(f"{where}: label {label!r:.80}; expected true, false or nothing")
    answer = "" if row["answer"] is None else row["answer"]
    values = {**row, "gold_answers": _golds(row["gold_answers"]), "answer": answer}
    try:
        texts = _TEXTS.validate_python(values, strict=True)
    except ValidationError as error:
        raise FormatError(f"{where}: {problems_of(error)}") from None
    return LabelledAnswer(
        *(texts["system"], texts["question_id"], texts["question"]),
        *(tuple(texts["gold_answers"]), texts["answer"], WORDS[word]),
        case.aliases if case else (),
    )


def _case(row: Mapping[str, Any], where: str, judged: JudgedAlready) -> Case:
    """The answer that a row is about and does not have."""
    system, question_id = row.get("system"), row.get("question_id")
    if not isinstance(system, str) or not isinstance(question_id, str):
        raise FormatError(f"{where}: system {system!r:.80}, question_id {question_id!r:.80}")
    case = judged(system, question_id)
    if case is None:
        raise FormatError(f"{where}: the benchmark has no question {question_id!r:.80}")
    return case


def _golds(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(FormatError):
            return json_value(value.encode(), "gold_answers")
    return value.split(ALTERNATIVES) if isinstance(value, str) else value
