"""Answers that people have judged: the ground on which a judge is measured."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bears.errors import FormatError
from bears.formats.records import problems_of
from bears.formats.spreadsheet import read_cells
from bears.intake.json_text import json_value, lines

WORDS = {
    **dict.fromkeys(("true", "1", "pass", "yes"), True),
    **dict.fromkeys(("false", "0", "fail", "no"), False),
    **dict.fromkeys(("", "null", "none"), None),
}
ALTERNATIVES = "/"
FIELDS = ("system", "question_id", "question", "gold_answers", "answer", "label")


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


class _Texts(TypedDict):
    system: str
    question_id: str
    question: str
    gold_answers: list[str]
    answer: str


_TEXTS = TypeAdapter(_Texts)


def read_labels(path: Path) -> list[LabelledAnswer]:
    """Read CSV, JSON Lines or a JSON array of answers with people's labels.

    A row has ``system, question_id, label, question, gold_answers, answer``. A label is true or
    false, 1 or 0, pass or fail, yes or no; empty or null where there is none yet. ``gold_answers``
    is a JSON list, or a text in which they are parted by "/". EVOUNA's own rows, which have
    ``answer_<system>`` and ``judge_<system>`` for several systems, are read too; there a question
    that is ``improper``, or on which a label is missing, is left out for all of them.

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
            labelled = _labelled(part, where)
            key = labelled.system, labelled.question_id
            if key in found:
                raise FormatError(f"{where}: {key[0]!r} answers {key[1]!r} in an earlier row too")
            found[key] = labelled
    if not found:
        raise FormatError(f"{path}: no labels; expected rows of {', '.join(FIELDS)}")
    return list(found.values())


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    if path.suffix == ".csv":
        cells = (row for _, row in read_cells(path))
        header = next(cells, [])
        for number, row in enumerate(cells, start=1):
            if len(row) != len(header):
                raise FormatError(
                    f"{path}, row {number}: {len(row)} cells, but {len(header)} columns"
                )
            yield number, dict(zip(header, row, strict=True))
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


def _labelled(row: Mapping[str, Any], where: str) -> LabelledAnswer:
    if missing := [name for name in FIELDS if name not in row]:
        raise FormatError(f"{where}: lacks {', '.join(missing)}; a row has {', '.join(FIELDS)}")
    label = row["label"]
    word = str(label).strip().lower() if label is not None else ""
    if word not in WORDS:
        raise FormatError(f"{where}: label {label!r:.80}; expected true, false or nothing")
    values = {**row, "gold_answers": _golds(row["gold_answers"]), "answer": row["answer"] or ""}
    try:
        texts = _TEXTS.validate_python(values, strict=True)
    except ValidationError as error:
        raise FormatError(f"{where}: {problems_of(error)}") from None
    return LabelledAnswer(
        texts["system"],
        texts["question_id"],
        texts["question"],
        tuple(texts["gold_answers"]),
        texts["answer"],
        WORDS[word],
    )


def _golds(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(FormatError):
            return json_value(value.encode(), "gold_answers")
    return value.split(ALTERNATIVES) if isinstance(value, str) else value
