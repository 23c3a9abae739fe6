"""A class name exists once in the project."""

import ast
from collections import Counter

from tests.workspace import ROOT


def test_a_class_name_exists_once() -> None:
    names = Counter(
        node.name
        for folder in ("bears", "stages")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []
