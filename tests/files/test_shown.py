"""Texts of other people act nowhere: not in a terminal, a spreadsheet, Markdown or HTML."""

from __future__ import annotations

import ast
import csv
import io
import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bears.files.records import write_records
from bears.files.shown import for_terminal, markdown, markdown_table
from bears.files.spreadsheet import csv_text, guard, read_cells, restored, write_csv
from bears.files.visible import blank, one_line
from bears.types import Question
from tests.modules import trees
from tests.workspace import ROOT, environment_for

HOSTILE = [
    *("\x1b[31mred", "\x9b31m", "\x1b]0;title\x07", "\x1b]8;;x\x07", "\x7f\x08"),
    *("\u202eevil", "\u2066a\u2069", "zero\u200bwidth", "\ufeffbom", "\u00adsoft"),
    *("\u3164", "\u2800", "\U000e0041tag", "a\rb", "a\x00b", "a\u2028b", "a\x85b", "\u061cm"),
]

# ----------------------------------------------------------------------------- the terminal


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_invisible_reaches_a_terminal(text: str) -> None:
    for shown in (one_line(text), for_terminal(text)):
        assert all(c.isprintable() and c not in "\u3164\u2800" for c in shown), ascii(shown)
        assert json.loads(f'"{shown}"') == text  # what was there can be read


def test_text_is_shown_on_one_line_without_control() -> None:
    for text, shown in {
        "plain 中文\u3000（全形） à\u00a0?": "plain 中文\u3000（全形） à\u00a0?",
        "a\x1b[31mred": "a\\u001b[31mred",
        "two\nlines": "two\\nlines",
        "x" * 100: "x" * 79 + "…",
    }.items():
        assert one_line(text) == shown


@given(st.text())
def test_json_is_the_same_value_when_it_was_shown(text: str) -> None:
    printed = for_terminal(json.dumps({text: [text]}, ensure_ascii=False, indent=2))
    assert json.loads(printed) == {text: [text]}
    assert all(c.isprintable() or c in "\n\t\u00a0\u3000" for c in printed)


def test_a_command_prints_no_control_to_either_stream(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom bears.config.edge import ended\n"
        "from bears.errors import FormatError\n"
        "def work():\n    print('\\x1b[2J\\u202e', 'next\\nline')\n"
        "    raise FormatError('id \\x1b]0;x\\x07 of http://u:pw@host\\nsecond line')\n"
        "sys.exit(ended('bears', work))\n"
    )
    environment = {**environment_for(sys.executable), "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True)
    assert done.returncode == 1
    assert done.stdout.decode() == "\\u001b[2J\\u202e next\nline\n"
    assert done.stderr.decode() == "bears: id \\u001b]0;x\\u0007 of http://…@host\nsecond line\n"


# ----------------------------------------------------------------------------- spreadsheets

FORMULAS = [
    *("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\rx", "\nx", " =1+1", "\u00a0=1", "\u3000+1"),
    *("＝1+1", "＋1", "－1", "＠x", "﹦1", "﹢1", "﹣1", "﹫x", "⁺1", "⁼1", "\u200b=1", "\ufeff=1"),
    *("'=quoted", "' =1", "''=1", "\u202e=1", "=cmd|' /C calc'!A0"),
]


@pytest.mark.parametrize("cell", FORMULAS)
def test_no_cell_begins_a_formula(cell: str) -> None:
    assert guard(cell) == f"'{cell}"
    assert restored(guard(cell)) == cell


@given(st.text())
def test_any_cell_comes_back_and_begins_no_formula(cell: str) -> None:
    assert restored(guard(cell)) == cell
    seen = next((c for c in guard(cell) if not blank(c)), "x")
    assert unicodedata.normalize("NFKC", seen)[0] not in "=+-@"


@pytest.mark.parametrize("cell", ["", "a=b", "1-2", "'quoted'", "中文", "a\tb", "' "])
def test_an_everyday_cell_stays_as_it_is(cell: str) -> None:
    assert guard(cell) == cell == restored(cell)


def test_a_table_comes_back_as_it_was_and_its_numbers_stay_numbers(tmp_path: Path) -> None:
    rows = [[cell, -1.5, None] for cell in FORMULAS]
    write_csv(tmp_path / "t.csv", ("text", "number", "nothing"), rows)
    found = [cells for _, cells in read_cells(tmp_path / "t.csv")]
    assert found[1:] == [[cell, "-1.5", ""] for cell in FORMULAS]
    cells = list(csv.reader(io.StringIO(csv_text(("a",), [["=1"], [-1]]))))
    assert cells == [["a"], ["'=1"], ["-1"]]


# ----------------------------------------------------------------------------- Markdown, HTML

MARKUP = [
    *("<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "&lt;b&gt;", "</td><td>"),
    *("[x](javascript:alert(1))", "![x](http://evil.com/x.png)", "[x]: http://evil.com", "`code`"),
    *("http://evil.com", "https://evil.com/a_b", "www.evil.com", "WWW.evil.com"),
    "<http://evil.com>",
    *("ftp://evil.com", "mail@evil.com", "@name", "#12", "owner/repo#1", "**bold** _it_ ~~s~~"),
    *("a|b", "| a | b |", "two\nlines", "\n\n# heading", "$x$", "\\", "\\[x](y)", "a\u202eb"),
]


def rendered(text: str) -> str:
    """As a host with GitHub's extensions renders it."""
    return str(MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text))


@pytest.mark.parametrize("text", MARKUP)
def test_no_text_leaves_its_cell_or_becomes_anything_else(text: str) -> None:
    table = markdown_table(["a", "b"], [[text, "end"]])
    assert len(table.splitlines()) == 3
    html = rendered(table)
    for tag in ("a", "img", "script", "code", "strong", "em", "s", "h1", "b"):
        assert f"<{tag} " not in html, html
        assert f"<{tag}>" not in html, html
    assert html.count("<td") == 2
    visible = " ".join(text.split()).replace("\u202e", "\\u202e")
    escaped = visible.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    cell = html.split("<td", 1)[1].split(">", 1)[1].split("</td>")[0]
    assert cell.replace("\u200b", "") == escaped  # a person sees what was written


@pytest.mark.parametrize("text", ["http://evil.com", "https://evil.com", "www.evil.com"])
def test_a_bare_address_is_no_link(text: str) -> None:
    for written in (markdown(text), markdown(f"see {text.upper()} there")):
        assert not any(link in written.lower() for link in ("p://", "s://", "www.e"))


@pytest.mark.parametrize("text", ["@name", "a @name", "#12", "owner/repo#1"])
def test_no_mention_and_no_number_of_an_issue_is_left(text: str) -> None:
    assert not any(mention in rendered(markdown(text)) for mention in ("@n", "#1"))


@given(st.text())
def test_any_text_is_one_paragraph_of_plain_text(text: str) -> None:
    html = rendered(f"x {markdown(text)} x")
    assert html.count("<") == 2
    assert html.startswith("<p>x ")


# ----------------------------------------------------------------------------- one place

ALLOWED = {
    "csv.writer": {"bears/files/spreadsheet.py"},
    "csv.DictWriter": set(),
    "html.escape": {"bears/files/shown.py"},
    "sys.stderr": {
        *("bears/files/shown.py", "bears/files/progress.py"),
        *("bears/config/edge.py", "bears/cli/__init__.py"),
        "bears/__main__.py",
    },
}
TABLE = {"bears/files/shown.py"}
"""Who writes tables in Markdown."""


def names_used(tree: ast.AST) -> set[str]:
    """``module.name`` of whatever is used, also where it was imported by its name."""
    used = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used.add(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.ImportFrom):
            used |= {f"{node.module}.{alias.name}" for alias in node.names}
    return used


def test_nothing_else_writes_tables_or_to_stderr() -> None:
    for file, tree in trees().items():
        used = names_used(tree)
        for name in used & ALLOWED.keys():
            assert file in ALLOWED[name], f"{file} uses {name}; see bears/files/shown.py"
        texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        if "tabulate.tabulate" in used and texts & {"pipe", "github", "html", "unsafehtml"}:
            assert file in TABLE, f"{file} writes Markdown or HTML; see bears/files/shown.py"


def test_records_in_git_change_by_lines(tmp_path: Path) -> None:
    asked = Question("q1", "Kdo?", "č", (), "s", "ad-hoc")
    write_records(tmp_path / "a.json", [asked])
    (row,) = json.loads((tmp_path / "a.json").read_bytes())
    expected = json.dumps([row], ensure_ascii=False, indent=2)
    assert (tmp_path / "a.json").read_text("utf-8").strip() == expected
