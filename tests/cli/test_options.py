"""Every command and every option of `bears` is used by a test, which is found by its text."""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from bears.cli import COMMANDS, main
from bears.files.records import write_lines
from benchmarks.references import parser_of, subparsers
from tests.workspace import ROOT, Workspace

SHA = "a" * 40


def options() -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the words of each command with each of its options; empty: the command itself."""
    for name in COMMANDS:
        top = parser_of(name)
        for parser in subparsers(top) or [top]:
            words = tuple(parser.prog.split()[1:])
            yield words, ""
            for action in parser._actions:
                if action.option_strings and not isinstance(action, argparse._HelpAction):
                    yield words, action.option_strings[-1]


@cache
def functions() -> dict[str, set[str]]:
    """Return test, or helper of tests, to the words in its texts."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "tests").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        whole = texts(ast.parse(source))
        if not path.name.startswith("test_"):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                # What a test's module says, such as the command that it is about, counts with it.
                found[f"{path.relative_to(ROOT)}::{node.name}"] = texts(node) | {
                    f"module {word}" for word in whole
                }
    return found


def texts(tree: ast.AST) -> set[str]:
    strings = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    return {
        word for text in strings if isinstance(text, str) for word in re.split(r"[\s=`]+", text)
    }


@pytest.mark.parametrize(("words", "option"), list(options()))
def test_every_option_is_used_by_a_test(words: tuple[str, ...], option: str) -> None:
    used = [
        name
        for name, said in functions().items()
        if all(word in said or f"module {word}" in said for word in words)
        and (not option or option in said or f"module {option}" in said)
    ]
    assert used, f"no test uses bears {' '.join(words)} {option}"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["init", "new"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--hub", "me/data", "--set", f"revision={SHA}"),
            f"dataset me/data at {SHA} cannot be read",
        ),
        (("--ir-dataset", "beir/nope"), "ir_datasets has no 'beir/nope'"),
    ],
)
def test_a_benchmark_of_the_hub_or_of_ir_datasets_is_looked_for_there(
    command: str,
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing listens at the hub's address."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    # The hub's package waits longer before each of five attempts.
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.chdir(tmp_path)
    if command == "new":
        assert main(["init", "mine"]) == 0
        monkeypatch.chdir(tmp_path / "mine")
    else:
        words = tuple(word for word in words if "revision" not in word and word != "--set")
        said = said.replace(SHA, "main")
    assert main([command, "other", *words]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_exports_that_were_changed_and_preferences(workspace: Workspace) -> None:
    run = workspace.root / "data/mini/runs/bm25.trec"
    (workspace.root / "other.trec").write_bytes(run.read_bytes())
    said = workspace.python("bears", "compare", str(run), "other.trec", "--prefer", "cost")
    assert "The same: " in said
    words = ["--prefer", "speed", "--measure", "recall@5", "--all-commits", "--out", "r.html"]
    workspace.python("bears", "report", *words)
    assert "recall@5" in workspace.text("r.html")
    workspace.python("bears", "leaderboard", "--all-commits")
    workspace.python("bears", "export", "out")
    asked = json.loads(workspace.text("out/queries.json"))
    lines = [{"question_id": each["question_id"], "answer": "x"} for each in asked]
    write_lines(workspace.root / "a.jsonl", lines)
    with (workspace.root / "out/queries.json").open("a") as file:
        file.write(" ")
    for command in (
        ("answers", "score", "a.jsonl"),
        ("answers", "judge", "a.jsonl", "--judge", "contains"),
        ("traces", "import", "a.jsonl", "--out", "a.traces.jsonl"),
    ):
        words = [*command, "--folder", "out"]
        assert "differs" in workspace.python("bears", *words, code=1)
        # The file has no traces, which is found after the export was taken.
        code = int("traces" in command)
        said = workspace.python("bears", *words, "--unattested", code=code)
        assert ("a.jsonl" if code else "unattested") in said
