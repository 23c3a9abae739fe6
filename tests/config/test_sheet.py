"""Tables that people fill in: what comes back is what was shown, or it is refused."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bears.config.ledger.sheet import SHOWN, Row, Sheet
from bears.errors import ConfigurationError, FormatError

PARTS = ("id",), ("question", "text"), ("decision", "author")
SHEET = Sheet(*PARTS, about="one", choices=("y", "n"))
CELL = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="'\u2028\u2029"))
TEXTS = st.lists(st.tuples(CELL, CELL.filter(str.strip)), min_size=2, max_size=6, unique=True)


def written(path: Path, texts: list[tuple[str, str]], sheet: Sheet = SHEET) -> list[Row]:
    """Write a table and return its rows, each decided."""
    sheet.write(path, ({"id": n, "question": q, "text": t} for n, (q, t) in enumerate(texts)))
    with path.open(encoding="utf-8", newline="") as file:
        return [{**row, "decision": "y"} for row in csv.DictReader(file)]


def taken(path: Path, rows: list[Row], texts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the ids and decisions of a table with these rows."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    now = {str(n): {"question": q, "text": t} for n, (q, t) in enumerate(texts)}
    return SHEET.read(path, lambda row: now.get(row["id"]), lambda _, r: (r["id"], r["decision"]))


@given(texts=TEXTS, data=st.data())
@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_row_counts_for_what_it_showed_alone(
    texts: list[tuple[str, str]], data: st.DataObject, tmp_path: Path
) -> None:
    path = tmp_path / "sheet.csv"
    rows = written(path, texts)
    every = [(str(n), "y") for n in range(len(texts))]
    assert taken(path, rows, texts) == every
    # Spreadsheets reorder rows, change spaces, and know no digests of earlier versions.
    assert sorted(taken(path, rows[::-1], texts)) == every
    spaced = [{**row, "text": f"{row['text']} \r\n"} for row in rows]
    assert taken(path, spaced, texts) == every
    assert taken(path, [{**row, SHOWN: ""} for row in rows], texts) == every
    a, b = data.draw(st.permutations(range(len(rows))))[:2]

    def changed(n: int, **cells: str) -> list[Row]:
        return [{**row, **cells} if i == n else row for i, row in enumerate(rows)]

    other = Sheet(*PARTS, about="two", choices=("y", "n"))
    forged = [
        changed(a, id=rows[b]["id"]),
        changed(a, text=rows[a]["text"] + "x"),
        changed(a, text=rows[a]["text"] + "x", **{SHOWN: ""}),
        changed(a, **{SHOWN: rows[b][SHOWN]}),
        changed(a, id="99"),
        [*rows, {**rows[a], "decision": "n"}],
        written(path, texts, other),
    ]
    for each in forged:
        with pytest.raises(ConfigurationError):
            taken(path, each, texts)
    # What is shown now is not what was shown then.
    later = [(q, t + "!") if n == a else (q, t) for n, (q, t) in enumerate(texts)]
    with pytest.raises(ConfigurationError, match=f"row {a + 2}: its text is not the one"):
        taken(path, rows, later)


def test_every_wrong_row_is_listed(tmp_path: Path) -> None:
    path, texts = tmp_path / "sheet.csv", [("q", f"t{n}") for n in range(40)]
    rows = written(path, texts)
    with pytest.raises(ConfigurationError) as refused:
        taken(path, [{**row, "text": "?"} for row in rows], texts)
    lines = str(refused.value).split("\n")
    assert [line.partition(":")[0] for line in lines[:20]] == [
        f"{path}, row {n}" for n in range(2, 22)
    ]
    assert lines[20:] == ["… and 20 more"]
    with pytest.raises(FormatError, match="lacks decision, author"):
        taken(path, [{"id": "1", "question": "q", "text": "t"}], texts)
