"""What `audit` found, for the table that people decide in, and their decisions on it."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bears.config import Config
from bears.config.ledger.entries import judgements_of
from bears.config.ledger.table import Row, read_judgements
from bears.files.manifest import check
from bears.files.records import read_lines, read_questions, stream_documents
from bears.translation.review import COLUMNS


def candidate_rows(config: Config) -> list[Row]:
    """A row for each candidate of `audit` on which nobody has decided, the surest first.

    None before the stage ran.
    """
    folder = Path("data") / config["benchmark"]["name"]
    path = folder / "audited" / "candidates.jsonl"
    if not path.is_file():
        return []
    check(path.parent)
    decided = {one.place for one in judgements_of(config["ledger"]["judgements"])}
    rows = [row for _, row in read_lines(path)]
    rows = [row for row in rows if (row["question_id"], row["doc_id"]) not in decided]
    rows.sort(key=_surest)
    questions = {q.question_id: q for q in read_questions(folder / "translated" / "queries.json")}
    wanted = {row["doc_id"] for row in rows}
    corpus = stream_documents(folder / "translated" / "corpus.json")
    contents = {d.doc_id: d.content for d in corpus if d.doc_id in wanted}
    found = []
    for row in rows:
        question = questions[row["question_id"]]
        flags = ", ".join(f"{name} {value}" for name, value in row["signals"].items())
        known = {
            "record_id": question.question_id,
            "field": "gold_doc_ids",
            "doc_id": row["doc_id"],
            "flags": flags,
            "source": f"{question.question}\n{question.gold_answer}",
            "translation": contents[row["doc_id"]],
        }
        found.append(dict.fromkeys(COLUMNS, "") | known)
    return found


def _surest(row: Mapping[str, Any]) -> float:
    """What sorts candidates; a duplicate of gold is as sure as can be."""
    return -float(row["signals"].get("stands_in", 1))


def judged_pairs(config: Config, table: Path) -> list[dict[str, Any]]:
    """The decisions on documents in a table, as entries of the ledger. Raises `read_judgements`."""
    translated = Path("data") / config["benchmark"]["name"] / "translated"
    questions, documents = set(), set()
    # A folder that is only sampled has no pairs to decide on yet.
    if (translated / "corpus.json").is_file():
        questions = {q.question_id for q in read_questions(translated / "queries.json")}
        documents = {d.doc_id for d in stream_documents(translated / "corpus.json")}
    return [
        {name: value for name, value in asdict(one).items() if value}
        for one in read_judgements(table, questions, documents)
    ]
