"""bears.layout and dvc.yaml spell the same paths, and nothing else spells them."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator

import yaml

from bears import layout
from tests.workspace import ROOT

STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
FILES = layout.BenchmarkFiles("${benchmark}")
RETRIEVER, SYSTEM = "${retriever}", "${retriever}.${generator}"


def options(stage: str) -> dict[str, str]:
    """Return the paths of a stage's command by their options."""
    words = shlex.split(STAGES[stage]["cmd"])[3:]
    return {
        option.removeprefix("--"): path
        for option, path in zip(words[::2], words[1::2], strict=True)
    }


def test_the_layout_is_that_of_the_pipeline() -> None:
    expected = {
        "config": {"conf": layout.CONF, "out": layout.CONFIG, "code": layout.CODE},
        "download": {"rows": FILES.rows, "provenance": FILES.sources},
        "sample": {"out": FILES.sampled},
        "translate": {"replies": FILES.replies(), "out": FILES.translated},
        "verify": {"out": FILES.verified, "metrics": layout.VERIFICATION},
        "audit": {"out": FILES.audited, "metrics": layout.AUDIT},
        "index": {"corpus": FILES.corpus, "out": FILES.index(RETRIEVER)},
        "rewrite": {"queries": FILES.queries, "out": FILES.rewritten("${rewriter}")},
        "retrieve": {"run": FILES.run(RETRIEVER), "within": FILES.within(RETRIEVER)},
        "evaluate": {"metrics": layout.RETRIEVAL},
        "generate": {
            "out": FILES.answers(f"{RETRIEVER}.${{generator}}"),
            "replies": layout.REPLIES,
        },
        "judge": {
            "lineage": FILES.lineage,
            "sidecar": FILES.sidecar,
            "metrics": layout.ANSWERS,
            "headline": layout.HEADLINE,
        },
    }
    assert expected.keys() == STAGES.keys()
    for stage, paths in expected.items():
        for option, path in paths.items():
            assert options(stage)[option] == str(path), f"{stage} --{option}"


def test_made_questions_are_kept_in_a_folder_of_their_own() -> None:
    assert str(FILES.replies("questions").parent) == options("sample")["replies"]
    assert FILES.replies("answers").parent == layout.REPLIES


def test_a_pattern_takes_any_name_but_no_run_within_groups() -> None:
    run = layout.pattern(layout.EVERY.run("*"))
    assert re.fullmatch(run, "data/mini/runs/gpt-4.1.trec")
    assert not re.fullmatch(run, "data/mini/runs/bm25.within.trec")
    assert not re.fullmatch(run, "data/mini/runs/a/b.trec")
    within = layout.pattern(layout.EVERY.within("*"))
    assert re.fullmatch(within, "data/mini/runs/bm25.within.trec")


SPELLED = re.compile(r"(data|metrics|conf|\.bears)/\S*|\.bears|params\.yaml")
FOLDERS = {"data", "metrics", "conf"}
ALLOWED = {"data/{split}*", "conf/source/NAME.yaml"}
"""Paths within a dataset on the hub, and a help text."""


def spelled(code: str) -> Iterator[str]:
    """Yield the texts of a program that are paths of artifacts; prose may name them."""
    nodes = list(ast.walk(ast.parse(code)))
    parts = {part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        match node:
            case ast.JoinedStr(values=values):
                text = "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "{}" for part in values
                )
                yield from [text] if SPELLED.fullmatch(text) else []
            case ast.Constant(value=str(text)) if SPELLED.fullmatch(text) and node not in parts:
                yield text
            case ast.Call(func=ast.Name(id="Path"), args=[ast.Constant(value=text)]):
                yield from FOLDERS & {text}
            case ast.BinOp(op=ast.Div(), right=ast.Constant(value=text)):
                yield from FOLDERS & {text}


def test_no_other_module_spells_a_path_of_an_artifact() -> None:
    files = [file for room in ("bears", "stages") for file in (ROOT / room).rglob("*.py")]
    found = {
        str(file.relative_to(ROOT)): paths
        for file in files
        if file != ROOT / "bears" / "layout.py"
        if (paths := set(spelled(file.read_text(encoding="utf-8"))) - ALLOWED)
    }
    assert found == {}
