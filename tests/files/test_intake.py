"""The door for files from outside: what it lets in is right, what it refuses it names."""

import gzip
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bears.errors import FormatError
from bears.files.intake import files
from bears.files.intake.files import (
    begin,
    items,
    json_value,
    lines,
    members,
    opened,
    read_text,
    read_whole,
    text_and_encoding,
)
from bears.files.intake.tables import csv_rows
from bears.files.intake.yaml_text import yaml_value
from bears.files.spreadsheet import read_cells
from bears.files.visible import blank
from tests.sources.files import row, workbook

TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from('"\\[]{},:'))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63) + 1, 2**63 - 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


def put(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def all_lines(path: Path) -> Any:
    return list(lines(path))


def all_items(path: Path) -> Any:
    return list(items(path))


def all_rows(path: Path) -> Any:
    return list(csv_rows(path))


def outer_keys(path: Path) -> Any:
    return members(path)["data"]


READERS = [json_value, all_lines, all_items]


@settings(max_examples=50)
@given(st.lists(VALUES), st.booleans(), st.sampled_from([None, 2]), st.integers(1, 20))
def test_elements_are_what_json_loads_finds_wherever_the_file_is_cut(
    tmp_path_factory: pytest.TempPathFactory,
    values: list[Any],
    escapes: bool,
    indent: int | None,
    size: int,
) -> None:
    path = tmp_path_factory.mktemp("cut") / "a.json"
    put(path, json.dumps(values, ensure_ascii=escapes, indent=indent))
    below = put(path.with_name("b.json"), json.dumps({"a": [[1]], "data": values, "b": {"c": []}}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "CHUNK", size)
        assert list(items(path)) == values
        assert list(items(below, "data")) == values
        assert members(below)["data"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1 << 18])
def test_nan_is_null_outside_of_texts_wherever_the_file_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(files, "CHUNK", size)
    rows = [float("nan"), "NaN", ["NaN, NaN", float("nan")], {"NaN": float("nan"), "a": '\\"NaN'}]
    content = json.dumps([*rows, "N" * 99, "NaN\\", {"é": "NaN"}, float("nan")])
    path = put(tmp_path / "a.json", content)
    assert list(items(path, nan="none")) == json.loads(content, parse_constant=lambda _: None)
    with pytest.raises(FormatError):
        list(items(path))


@settings(max_examples=50)
@given(st.data())
def test_a_damaged_list_is_refused_unless_json_loads_reads_it(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = bytearray(json.dumps(data.draw(st.lists(VALUES, min_size=1)), indent=1).encode())
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place : place + data.draw(st.integers(0, 2))] = data.draw(
        st.sampled_from([b"", b"]", b"}", b"[", b",", b'"', b"\\", b":", b"1"])
    )
    path = put(tmp_path_factory.mktemp("damaged") / "a.json", bytes(whole))
    try:
        expected = json.loads(whole)
    except ValueError:
        expected = None
    try:
        found = all_items(path)
    except FormatError:
        found = None
    if isinstance(expected, list) and found is None:
        # The one thing that json.loads takes and we refuse.
        with pytest.raises(FormatError, match=r"repeated|surrogate|integer overflow"):
            all_items(path)
    else:
        assert found == (expected if isinstance(expected, list) else None)


LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9)
)


EVILS: dict[tuple[Callable[[Path], Any], ...], list[tuple[str | bytes, str]]] = {
    (json_value, all_lines, all_items): [
        ("[" + "1" * 5_000 + "]", "number out of range|integer overflow"),
        ("[" * 30_000, "nested too deeply|recursion limit exceeded"),
        ('[{"a":' * 30_000, "nested too deeply|recursion limit exceeded"),
        ('[{"a": 1, "b": {"c": 1, "c": 2}}]', 'object: "c"|the key .c. is repeated'),
        (r'[{"a": 1, "\u0061": 2}]', 'object: "a"|the key .a. is repeated'),
        (r'["\ud800"]', "half of a surrogate pair"),
        (r'["\ud800\u0041"]', "half of a surrogate pair"),
        (b'["\xed\xa0\x80"]', "not UTF-8: line 1, byte [12] is 0xED|byte 3 is 0xED"),
        ('["é"]'.encode("latin-1"), "is 0xE9. Save it as UTF-8, or: iconv -f ENCODING"),
        ('["é"]'.encode("utf-16"), "iconv -f UTF-16 -t UTF-8"),
        ('["é"]'.encode("utf-16-le"), "byte [12] is a NUL"),
        ('["差旅費於返回後七日內報支"]'.encode("big5"), "iconv -f BIG5"),
        (b"PK\x03\x04\0\0", "it is a zip file"),
        (b'["a\0"]', "not UTF-8|control character"),
        ("[NaN]", "not valid JSON"),
        ('["a', "not valid JSON"),
        ("[1,]", "not valid JSON"),
        ("[1] 2", "not valid JSON"),
    ],
    (json_value, all_items): [("", "not valid JSON"), (" \n", "not valid JSON")],
    (outer_keys,): [
        ('{"data": {}, "data": {}}', "the key 'data' is repeated"),
        ('{"data": {} "b": 1}', "not valid JSON"),
        ('{"data": {}', "not valid JSON"),
    ],
    (yaml_value,): [
        (LAUGHS, "line 2: its aliases stand for too much"),
        ("a: &a [1]\nb: [" + "*a, " * 5_000 + "*a]", "its aliases stand for too much"),
        ("[" * 30_000, "line 1: .*nested too deeply"),
        ("a: 1\nb: {c: 1, c: 2}", "not valid YAML .the key 'c' is repeated at line 2"),
        ('a: 1\n"a": 2', "not valid YAML .the key 'a' is repeated at line 2"),
        ("a: " + "1" * 5_000, "not valid YAML .Exceeds the limit"),
        ("a: [1", "not valid YAML"),
        ("a: !!python/object:os.path 1", "not valid YAML"),
        (r'a: "\ud800"', "not valid YAML"),
        ("a: é".encode("utf-16"), "iconv -f UTF-16"),
        ("a: é".encode("latin-1"), "is 0xE9"),
        (b"a: \0", "NUL"),
    ],
    (all_rows,): [
        ("a,a\n", "line 1: two columns are called 'a'"),
        ("a,b\n1\n", "line 2: 1 cells, expected 2: a, b"),
        ("a,b\n1,2,3\n", "line 2: 3 cells, expected 2"),
        ('a,b\n1,"2', "line 2: not valid CSV"),
        ('a,b\n1,"2"3\n', "line 2: not valid CSV"),
        (b"a,b\n1,\0\n", "NUL"),
        ("a,é\n".encode("latin-1"), "not UTF-8: line 1, byte 3"),
        ("a,b\n".encode("utf-16"), "UTF-16"),
        ("a\n" + "x" * 50_000_001, "field larger than field limit"),
    ],
}


@pytest.mark.parametrize(
    ("read", "content", "said"),
    [
        (read, content, said)
        for readers, rows in EVILS.items()
        for content, said in rows
        for read in readers
    ],
)
def test_evil_content_is_refused_in_one_sentence_that_names_the_file(
    read: Callable[[Path], Any], content: bytes | str, said: str, tmp_path: Path
) -> None:
    path = put(tmp_path / "evil", content)
    with pytest.raises(FormatError, match=said) as refused:
        read(path)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)


def test_numbers_that_a_c_parser_overflows_are_right_or_refused(tmp_path: Path) -> None:
    numbers = [-(2**63) - 1, -(2**63), 2**63, 2**64, 10**399, 0.1, 1e22]
    path = put(tmp_path / "a.json", json.dumps(numbers))
    assert json_value(path) == numbers
    for number in numbers[:5]:
        with pytest.raises(FormatError, match="integer overflow"):
            all_items(put(tmp_path / "b.json", f"[{number}]"))
    assert all_items(put(tmp_path / "c.json", "[0.1, 1e22, 9223372036854775807]")) == [
        0.1,
        1e22,
        2**63 - 1,
    ]


@pytest.mark.parametrize("read", READERS)
def test_a_byte_order_mark_is_no_part_of_the_text(
    read: Callable[[Path], Any], tmp_path: Path
) -> None:
    plain = read(put(tmp_path / "a.json", '["é"]'))
    assert read(put(tmp_path / "b.json", b'\xef\xbb\xbf["\xc3\xa9"]')) == plain


def test_lines_end_with_lf_alone(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", '"\u2028\u0085"\n"b"\r\n"c"')
    assert list(lines(path)) == [(1, "\u2028\u0085"), (2, "b"), (3, "c")]


def test_an_object_with_a_list_is_told_from_a_row_without_reading_on(tmp_path: Path) -> None:
    row = put(tmp_path / "row.json", '{"a": {"d": [0]}, "c": 1, "d": []}\n{"a": nonsense')
    assert [members(row).get(key) for key in ("a", "c", "d")] == [False, False, True]
    assert begin(put(tmp_path / "list.json", " [nonsense")) == b"["


@pytest.fixture
def things(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as bound:
        before = Path.cwd()
        os.chdir(tmp_path)  # a socket's name may have no more than a hundred characters
        bound.bind("socket")
        os.chdir(before)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pipe", "a folder, a pipe or a device"),
        ("folder", "a folder, a pipe or a device"),
        ("zeros", "a folder, a pipe or a device"),
        ("socket", "cannot be read"),
        ("dangling", "no such file; the link leads to .*nothing"),
        ("loop", "cannot be read"),
        ("absent", "no such file"),
        ("a\0b", "cannot be read"),
        ("x" * 300, "cannot be read"),
    ],
)
def test_what_is_no_regular_file_is_not_waited_for(name: str, said: str, things: Path) -> None:
    for read in (opened, read_whole, read_text, json_value, all_items, all_lines, yaml_value):
        with pytest.raises(FormatError, match=said):
            read(things / name)


def test_a_packed_file_is_unpacked_but_not_for_ever(tmp_path: Path) -> None:
    assert all_items(put(tmp_path / "a.json.gz", gzip.compress(b"[1, 2]"))) == [1, 2]
    bomb = put(tmp_path / "bomb.json.gz", gzip.compress(b" " * 70_000_000 + b"[1]"))
    with pytest.raises(FormatError, match=r"unpacks to too many bytes; the limit is 67108864"):
        all_items(bomb)
    for content in (gzip.compress(b"[1]" * 999)[:-9], b"[1]"):
        with pytest.raises(FormatError, match="cannot be unpacked"):
            all_lines(put(tmp_path / "cut.jsonl.gz", content))


def test_what_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "a.json", json.dumps(["x" * 50]))
    monkeypatch.setattr(files, "WHOLE_BYTES", 30)
    for read in (json_value, all_lines):
        with pytest.raises(FormatError, match=r"has too many bytes; the limit is 30$"):
            read(path)
    monkeypatch.setattr(files, "TEXT_BYTES", 1000)
    monkeypatch.setattr(files, "CHUNK", 100)
    assert all_items(put(path, json.dumps(["x" * 1000]))) == ["x" * 1000]
    with pytest.raises(FormatError, match="a text is too long; the limit is 1000"):
        all_items(put(path, json.dumps(["x" * 9000])))


def test_a_stream_may_be_as_deep_as_the_limit_wherever_it_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "CHUNK", 7)
    deepest = "[" * 100 + '"[[[\\"[["' + "]" * 100
    assert all_items(put(tmp_path / "a.json", deepest)) == json.loads(deepest)
    with pytest.raises(FormatError, match="nested too deeply"):
        all_items(put(tmp_path / "a.json", f"[{deepest}]"))


def test_our_own_yaml_is_read_as_the_library_reads_it() -> None:
    for path in [*Path("conf").rglob("*.yaml"), Path("dvc.yaml"), Path("params.yaml")]:
        assert yaml_value(path) == yaml.safe_load(path.read_text(encoding="utf-8"))


def test_a_cell_may_be_longer_than_the_library_allows(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", 'a,b\n1,"' + "x\n" * 100_000 + '"\n2,3\n')
    assert list(csv_rows(path))[1:] == [(2, ["1", "x\n" * 100_000]), (100_003, ["2", "3"])]


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "\ufeffa;b\r\n1;2", "a\tb\n\n1\t2\n\t\n"])
def test_tables_are_read_as_spreadsheets_save_them(content: str, tmp_path: Path) -> None:
    rows = list(csv_rows(put(tmp_path / "a.csv", content)))
    assert [cells for _, cells in rows] == [["a", "b"], ["1", "2"]]


def test_empty_cells_that_excel_leaves_out_at_the_end_come_back(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "a,b,c\r\n1\r\n2,3,4\r\n")
    assert [cells for _, cells in csv_rows(path, short=True)][1:] == [
        ["1", "", ""],
        ["2", "3", "4"],
    ]
    with pytest.raises(FormatError, match="line 3: 2 cells, expected 3"):
        list(csv_rows(put(path, "a,b,c\r\n1,2,3\r\n2,3"), short=True))


def test_a_workbook_gives_the_texts_that_a_spreadsheet_shows(tmp_path: Path) -> None:
    cells = [
        *("<c><v>3.0</v></c>", "<c><v>0.30000000000000004</v></c>", "<c s='1'><v>45352</v></c>"),
        *("<c s='1'><v>45352.5</v></c>", "<c><f>1+1</f><v>2</v></c>", "<c><f>1+1</f></c>", "end"),
    ]
    rows = row("What?", *cells), row(*["<c/>"] * 9), row("'=1+1", *["<c/>"] * 9)
    sheet = row("Question", *"abcdefg") + "".join(rows)
    path = put(tmp_path / "a.XLSX", workbook("", row("notes"), sheet, row("question", "other")))
    assert list(read_cells(path)) == [
        (1, ["Question", *"abcdefg"]),
        (2, ["What?", "3", "0.3", "2024-03-01", "2024-03-01T12:00:00", "2", "", "end"]),
        (4, ["=1+1", *[""] * 7]),
    ]


FAR = "<row r='1048576'><c r='XFD1048576'><v>1</v></c></row>"
FARTHER = "<row r='999999999'><c r='A999999999'><v>1</v></c></row>"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"question\n", "save it anew as .xlsx"),
        # An encrypted file, and an old one, begin like this.
        (bytes.fromhex("D0CF11E0A1B11AE1") + bytes(512), "has a password"),
        (workbook(row("question"))[:-99], "cannot be unpacked"),
        (workbook("<row><c>"), "not a readable workbook"),
        (workbook(row("question") + row("a", "b")), "row 2: 2 cells, expected 1"),
        (workbook(row("question", "question")), "two columns are called 'question'"),
        (workbook(row("question") + FAR), "row 1048576: 16384 cells"),
        pytest.param(
            workbook(row("question") + FARTHER),
            "a sheet has more than 16777216 cells",
            marks=pytest.mark.slow,
        ),
        (workbook(row("question"), **{"xl/a.xml": " " * 70_000_000}), "unpack to 700"),
        (workbook(row("question"), **{"xl/a.png": " " * 70_000_000}), "unpack to 700"),
    ],
)
def test_a_workbook_that_is_none_or_too_large_is_refused(
    content: bytes, said: str, tmp_path: Path
) -> None:
    with pytest.raises(FormatError) as error:
        list(read_cells(put(tmp_path / "a.xlsx", content)))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_text_that_shows_nothing_is_blank() -> None:
    assert all(
        map(blank, ["", " \t\n", "\u200b", "\u2060\ufeff", "\u3164\u2800", "\x00", "\ue000"])
    )
    assert not any(map(blank, ["a", " 。", "\u200b1", "字", "\u0301", "😀", "?"]))


@pytest.mark.parametrize(
    ("data", "declared", "expected"),
    [
        ("čšž".encode(), "cp1250", ("čšž", "utf-8")),
        ("č š".encode("cp1250"), "cp1250", ("č š", "cp1250")),
        ("čšž".encode("utf-16"), "", ("čšž", "utf-16")),
    ],
)
def test_a_declared_encoding_counts_where_utf_8_does_not_fit(
    data: bytes, declared: str, expected: tuple[str, str]
) -> None:
    assert text_and_encoding(data, "x", declared) == expected


@pytest.mark.parametrize(("data", "declared"), [(b"\xe8", ""), (b"\xe8\0", "cp1250"), (b"a\0", "")])
def test_what_is_not_utf_8_needs_another_encoding_and_no_nul(data: bytes, declared: str) -> None:
    with pytest.raises(FormatError) as caught:
        text_and_encoding(data, "x", declared)
    assert "either" not in str(caught.value)
