"""Export the translations that a person should look at, and read back the decisions."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bears.config.ledger.entries import Review
from bears.config.ledger.sheet import Row, Sheet
from bears.config.typed import parse
from bears.language.answers import kept
from bears.language.gates import check
from bears.language.text import Text
from bears.language.yes_no import yes_or_no
from bears.translation.source_texts import Place, Resolution
from bears.translation.spans import mark
from bears.translation.task import TranslationTask

SHEET = Sheet(
    ("record_id", "field"),
    ("flags", "source", "translation"),
    ("decision", "text", "reason", "author"),
    choices=("accept", "correct", "retranslate"),
    needs={"correct": ("text", "translation")},
)
"""A correction has its text under ``text``."""
READ = ("source", "translation")
"""What must be the same when a decision comes back; flags are those of a version of the gates."""

LOST = "no translated gold document contains it, though one did before translation"


def flagged(
    task: TranslationTask, found: Resolution, failures: Iterable[Mapping[str, Any]]
) -> list[Row]:
    """Return a row for every translation with a flag or a doubt, and for every failure."""
    rows = [
        _row(f["record_id"], f["field"], f["reasons"], f["text"], f["translation"])
        for f in failures
    ]
    doubts: dict[tuple[str, str], list[str]] = {}
    for doubt in found.doubts:
        doubts.setdefault((doubt.record_id, doubt.field), []).append(doubt.message)
    languages = task.languages()
    answers = {i: (s, t) for (i, field, s), t in found.texts.items() if field == "gold_answer"}
    lost = _answers_lost(task, found)
    for (record_id, field, source), translation in found.texts.items():
        if (record_id, field) in task.source_texts.accepted:
            continue
        given = answers.get(record_id, ()) if field == "question" else ()
        language = languages[record_id]
        text = Text(field, source, translation, language, task.language.name, given)  # type: ignore[arg-type]
        flags = [flag.message for flag in check(text, task.language, task.severities)]
        flags += [LOST] if field == "gold_answer" and record_id in lost else []
        if flags := [*doubts.get((record_id, field), ()), *flags]:
            rows.append(_row(record_id, field, flags, source, translation))
    return rows


def translated(task: TranslationTask, found: Resolution) -> dict[Place, dict[str, str]]:
    """Return each text that is translated, to what `flagged` shows of it."""
    shown: dict[Place, dict[str, str]] = {}
    for each in task.source_texts.requests():
        text = found.texts.get((each.record_id, each.field, each.text))
        known = {} if text is None else {"translation": text}
        shown[each.record_id, each.field] = {"source": each.text, **known}
    return shown


def read_decisions(
    path: Path, texts: Mapping[Place, Mapping[str, str]], author: str = ""
) -> list[Review]:
    """Read the rows in which a person wrote a decision on a translation.

    Args:
        path: a table of `SHEET`, with decisions.
        texts: each text that may be decided on, to its ``source`` and ``translation``, as far as
            they must be those that the person read.
        author: of rows without one.

    Raises:
        FormatError: the file is absent or not a table, or lacks a column.
        ConfigurationError: naming each row with an unknown decision, a correction without a text,
            another text, or another decision than a row above.
    """

    def entry(where: str, row: Row) -> Review:
        return parse(Review, {name: row[name] for name in (*SHEET.place, *SHEET.blanks)}, where)

    return SHEET.read(
        path, lambda row: texts.get((row["record_id"], row["field"])), entry, author=author
    )


def _answers_lost(task: TranslationTask, found: Resolution) -> set[str]:
    """Return the questions whose answer was in a gold document only before translation."""
    before = {d.doc_id: d.content for d in task.source_texts.documents}
    lost = set()
    for question in task.source_texts.questions:
        place = (question.question_id, "gold_answer", question.gold_answer)
        gold = [i for i in question.gold_doc_ids if mark(before.get(i, ""), question.gold_answer)]
        after = [found.texts.get((i, "content", before[i])) for i in gold]
        texts = [text for text in after if text is not None]
        language = task.source_texts.languages[question.source_dataset]
        word = yes_or_no(question.gold_answer, language)
        if not gold or word or place not in found.texts or len(texts) < len(gold):
            continue
        if kept(found.texts[place], question.gold_answer, texts, task.language) == "lost":
            lost.add(question.question_id)
    return lost


def _row(record_id: str, field: str, flags: Sequence[str], source: str, translation: str) -> Row:
    known = {"record_id": record_id, "field": field, "flags": "; ".join(flags)}
    texts = {"source": source, "translation": translation}
    return known | texts
