"""What the translation knows of the records."""

from __future__ import annotations

from pathlib import Path

from bears.files.records import write_lines
from bears.translation.task import companions_of


def test_a_document_is_translated_with_the_questions_that_it_came_with(tmp_path: Path) -> None:
    lines: list[dict[str, object]] = [
        {"record_id": "q1", "kind": "question"},
        {"record_id": "d1", "kind": "document", "questions": ["q1", "q2"]},
        {"record_id": "d2", "kind": "document", "questions": []},
    ]
    write_lines(tmp_path / "lineage.jsonl", lines)
    found = companions_of(tmp_path / "lineage.jsonl")
    assert {name: own for name, own in found.items() if own} == {"d1": ["q1", "q2"]}
    assert companions_of(tmp_path / "none.jsonl") == {}
