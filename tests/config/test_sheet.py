"""Tables that people fill in: what comes back is what was shown, or it is refused."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bears.config.ledger.page import ROOM
from bears.config.ledger.sheet import SHOWN, WHOLE, Row, Sheet
from bears.errors import ConfigurationError, FormatError
from tests.sheets import on_page, saved

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
    with pytest.raises(FormatError, match="lacks decision"):
        taken(path, [{"id": "1", "question": "q", "text": "t"}], texts)


DOCUMENTS = Sheet(*PARTS, about="one", choices=("y", "n"), document="text")


@given(
    texts=TEXTS,
    cuts=st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40)), min_size=6, max_size=6),
    data=st.data(),
)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_what_a_page_saves_is_taken_as_the_table_is(
    texts: list[tuple[str, str]],
    cuts: list[tuple[int, int]],
    data: st.DataObject,
    tmp_path: Path,
) -> None:
    page, file = tmp_path / "p.html", tmp_path / "p.json"
    cells = [
        {"id": str(n), "question": q, "text": t[start : start + length], WHOLE: t}
        for n, ((q, t), (start, length)) in enumerate(zip(texts, cuts, strict=False))
    ]
    DOCUMENTS.write(page, cells)
    rows = on_page(page)
    for cell, row in zip(cells, rows, strict=True):
        assert {name: row[name] for name in ("id", "question", "text")} == {
            name: cell[name] for name in ("id", "question", "text")
        }
        assert row.get(WHOLE, cell[WHOLE]) == cell[WHOLE]
    words = data.draw(st.lists(st.sampled_from(["y", "N ", ""]), min_size=6, max_size=6))
    decided = [{**row, "decision": word} for row, word in zip(rows, words, strict=False)]
    now = {cell["id"]: cell for cell in cells}

    def read() -> list[tuple[str, str]]:
        return DOCUMENTS.read(
            file, lambda row: now.get(row["id"]), lambda _, row: (row["id"], row["decision"])
        )

    expected = [(row["id"], row["decision"].strip().lower()) for row in decided if row["decision"]]
    saved(file, decided)
    if not expected:
        with pytest.raises(FormatError, match="no row has a decision"):
            read()
        return
    assert read() == expected
    # A contradiction, a damaged file, and a file of something else.
    one = next(row for row in decided if row["decision"])
    saved(file, [*decided, {**one, "decision": "y" if "N" in one["decision"] else "n"}])
    with pytest.raises(ConfigurationError, match="a row above has another decision"):
        read()
    saved(file, decided)
    whole = file.read_bytes()
    file.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(FormatError, match="is not what a page saves"):
        read()


@pytest.mark.parametrize("text", ['{"rows": []}', "[1]", "{}", '{"sheet": "bears", "rows": [1]}'])
def test_another_file_is_refused_in_one_sentence(text: str, tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    file.write_text(text)
    with pytest.raises(
        FormatError, match=r"is not what a page saves .*save with the key D"
    ) as told:
        SHEET.read(file, lambda _: {}, lambda _, row: row)
    assert "\n" not in str(told.value)
    page = tmp_path / "p.html"
    SHEET.write(page, [])
    with pytest.raises(FormatError, match=r"is the page, which has no decisions .*p\.json"):
        SHEET.read(page, lambda _: {}, lambda _, row: row)


def test_choices_are_taken_in_any_case_and_in_chinese(tmp_path: Path) -> None:
    sheet = Sheet(*PARTS, choices=("relevant", "partial_support"))
    file = tmp_path / "p.json"
    words = {" Relevant": "relevant", "相關": "relevant", "部分支持": "partial_support"}
    words |= {"PARTIAL support": "partial_support"}
    rows = [{"id": str(n), "question": "", "text": "", "author": ""} for n in range(len(words))]
    both = [
        {**row, "decision": word, SHOWN: sheet.digest(row)}
        for row, word in zip(rows, words, strict=True)
    ]
    saved(file, both)
    found = sheet.read(file, lambda _: {}, lambda _, row: row["decision"])
    assert found == [*words.values()]
    saved(file, [{**both[0], "decision": "perhaps"}])
    with pytest.raises(ConfigurationError, match="decision is 'perhaps'; expected one of relevant"):
        sheet.read(file, lambda _: {}, lambda _, row: row)


def test_choices_of_an_earlier_version_count_in_its_tables_alone(tmp_path: Path) -> None:
    before = Sheet(*PARTS, choices=tuple("01234"))
    now = Sheet(*PARTS, choices=tuple("0123"), earlier=tuple("01234"))
    row = {"id": "1", "question": "q", "text": "t", "decision": "4", "author": ""}
    file = tmp_path / "p.json"

    def read() -> list[str]:
        return now.read(file, lambda _: {}, lambda _, each: each["decision"])

    saved(file, [{**row, SHOWN: before.digest(row)}])
    assert read() == ["4"]
    saved(file, [{**row, SHOWN: now.digest(row)}])
    with pytest.raises(ConfigurationError, match="decision is '4'; expected one of 0, 1, 2, 3"):
        read()


def test_a_text_of_several_items_is_on_a_page_once_and_long_ones_are_cut(tmp_path: Path) -> None:
    page, text = tmp_path / "p.html", "字" * 100_000
    both = {"question": "q", "text": text[:2000]}
    DOCUMENTS.write(page, [{"id": n, **both, WHOLE: text} for n in range(100)])
    assert page.stat().st_size < 400_000
    DOCUMENTS.write(page, [{"id": n, **both, WHOLE: f"{n} {text}"} for n in range(100)])
    assert ROOM / 2 < page.stat().st_size < ROOM + 200_000
    rows = on_page(page)
    assert {row["text"] for row in rows} == {text[:2000]}
    assert {row[WHOLE][-1] for row in rows} == {"…"}
