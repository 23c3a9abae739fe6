"""data/code.yaml: which edits make which stages stale."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path
from subprocess import run
from typing import Any

import grimp
import pytest

from bears.config import code
from bears.config.code import Modules, code_digests
from bears.errors import ConfigurationError
from tests.modules import trees
from tests.workspace import ROOT, STAGES

FILES = {
    "bears/__init__.py": '"""Bears."""\n',
    "bears/errors.py": "class FormatError(Exception):\n    text = 'a file'\n",
    "bears/measure.py": '"""Measures."""\n\n\ndef mean(x: int):\n    """Return it."""\n'
    "    return x\n",
    "bears/retrieval/__init__.py": "",
    "bears/retrieval/bm25.py": "from bears.measure import mean\n\n\nclass BM25:\n    k = mean(1)\n",
    "stages/__init__.py": "",
    "stages/index.py": "import json\n",
    "stages/evaluate.py": "from bears.measure import mean\n",
}
READ: dict[str, Any] = {
    "index": {"parts": [{"_target_": "bears.retrieval.bm25.BM25", "k1": 0.9}]},
    "evaluate": {"measures": ["bears"]},
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Write a small project whose stage `index` imports nothing but builds a BM25."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "old", "new", "stale"),
    [
        ("bears/measure.py", '"""Measures."""\n', "# A comment.\n\n", ""),
        ("bears/measure.py", "Return it.", "Return the mean.", ""),
        ("bears/measure.py", "mean(x: int)", "mean(\n    x: int\n)", ""),
        ("bears/measure.py", "return x", "return 2 * x", "index evaluate"),
        ("bears/retrieval/bm25.py", "mean(1)", "mean(2)", "index"),
        ("bears/retrieval/__init__.py", "", "import os\n", "index"),
        ("bears/__init__.py", "", "import os\n", "index evaluate"),
        ("stages/index.py", "json", "re", "index"),
        ("bears/retrieval/new.py", "", "class New: ...\n", ""),
        ("bears/measure.py", "", "from bears.errors import FormatError\n", ""),
        ("bears/errors.py", "a file", "some file", ""),
        ("stages/__init__.py", "", "import os\n", ""),
    ],
)
def test_an_edit_makes_stages_stale_that_can_run_it(
    project: Path, path: str, old: str, new: str, stale: str
) -> None:
    before, file = code_digests(Modules(project), READ), project / path
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    after = code_digests(Modules(project), READ)
    assert {stage for stage in READ if after[stage] != before[stage]} == set(stale.split())


SAYS = """
from bears.errors import FormatError, MalformedRow
from bears.files.progress import Progress
from bears.files.shown import complain
from bears.measure import mean

def f(x, file):
    if x:
        raise FormatError(f"{x} is odd")
    complain(f"{x}: odd")
    print("odd", end="")
    print("odd", file=file)
    mean("odd")
    with open(file), Progress(total=x):
        return x
    raise ValueError("odd")
"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ('(f"{x} is odd")', "('expected an even x', x)", True),
        ('complain(f"{x}: odd")', "", True),
        ('complain(f"{x}: odd")', 'complain(f"warning: {mean(x)}")', True),
        ('print("odd", end="")', 'print("even")', True),
        (", Progress(total=x)", "", True),
        # Who catches the error, when, and its cause.
        ("raise FormatError(", "raise MalformedRow(", False),
        ("    if x:", "    if not x:", False),
        ('is odd")', 'is odd") from None', False),
        # Other calls of the same form.
        ('print("odd", file', 'print("even", file', False),
        ('mean("odd")', 'mean("even")', False),
        ("open(file), ", "", False),
        ('ValueError("odd")', 'ValueError("even")', False),
        ("from bears.measure import mean\n", "", False),
    ],
)
def test_what_is_only_said_does_not_count(project: Path, old: str, new: str, same: bool) -> None:
    (project / "stages/index.py").write_text(SAYS, encoding="utf-8")
    before = code_digests(Modules(project), READ)
    assert SAYS.count(old) == 1
    (project / "stages/index.py").write_text(SAYS.replace(old, new), encoding="utf-8")
    assert (code_digests(Modules(project), READ) == before) == same


DOING = {"add", "append", "extend", "next", "pop", "remove", "update", "write"}


@pytest.mark.slow
def test_nothing_is_done_in_what_is_only_said() -> None:
    for file, tree in trees().items():
        imported = [
            f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        ]
        said = [node for node in ast.walk(tree) if code._says(node, imported)]
        for node in (inner for outer in said for inner in ast.walk(outer)):
            assert not isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom), file
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                assert name not in DOING, f"{file}, line {node.lineno}"


def test_a_package_hides_a_module_of_its_name_as_in_python(project: Path) -> None:
    package = project / "bears/measure/__init__.py"
    package.parent.mkdir()
    package.write_text("def mean(x):\n    return 3 * x\n")
    before = code_digests(Modules(project), READ)
    package.write_text("def mean(x):\n    return 4 * x\n")
    assert code_digests(Modules(project), READ) != before
    before = code_digests(Modules(project), READ)
    (project / "bears/measure.py").write_text("def mean(x):\n    return 5 * x\n")
    assert code_digests(Modules(project), READ) == before


IMPORTS = {
    "mine/__init__.py": "from . import first\nfrom .deep.inner import search\n",
    "mine/first.py": "from .rank import rank\n",
    "mine/rank.py": "def rank(): ...\n",
    "mine/deep/__init__.py": "",
    "mine/deep/inner.py": "from .. import second as two\nfrom ..third import *\n"
    "from ..open.space import x\nimport mine.seventh\ndef search(): ...\n",
    "mine/second.py": "try:\n    import absent\nexcept ImportError:\n    from . import fourth\n",
    "mine/third.py": "from importlib import import_module\nimport_module('.fifth', 'mine')\n",
    "mine/fourth.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
    "    from . import never\nelse:\n    from . import sixth\n",
    "mine/fifth.py": "import importlib\nimportlib.import_module('mine.eighth')\n",
    "mine/sixth.py": "__import__('mine.ninth')\n",
    **{f"mine/{name}.py": "" for name in ("never", "seventh", "eighth", "ninth")},
    "mine/open/space.py": "x = 1\n",
}


def test_the_closure_is_what_python_imports(project: Path) -> None:
    for name, text in IMPORTS.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    told = "import sys, mine.deep.inner; print(*(m for m in sys.modules if m[:4] == 'mine'))"
    ran = run([sys.executable, "-c", told], cwd=project, capture_output=True, text=True, check=True)
    # A folder without an __init__.py has no code.
    python = set(ran.stdout.split()) - {"mine.open"}
    assert len(python) == 14
    assert set(Modules(project).closure(["mine.deep.inner.search"])) == python
    beyond = project / "mine/rank.py"
    beyond.write_text("def f():\n    from ... import beyond\n", encoding="utf-8")
    assert set(Modules(project).closure(["mine.deep.inner.search"])) == python


def test_a_syntax_error_is_reported_with_its_file_and_line(project: Path) -> None:
    (project / "bears/measure.py").write_text("def mean(x):\n    return (x\n")
    with pytest.raises(ConfigurationError, match=r"/bears/measure\.py, line 2: .*; correct"):
        code_digests(Modules(project), READ)


def test_an_upgrade_of_a_package_with_rules_or_a_model_makes_its_users_stale(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "bears/retrieval/bm25.py").write_text("def f():\n    import rjieba\n")
    read = {**READ, "evaluate": {"encoder": {"model": "package:one_model"}}}
    installed = {"rjieba": "1.0", "one_model": "1.0", "numpy": "1.0"}
    monkeypatch.setattr("bears.config.code.version", installed.__getitem__)

    def stale(package: str) -> set[str]:
        code._version.cache_clear()
        before = code_digests(Modules(project), read)
        installed[package] += "1"
        code._version.cache_clear()
        after = code_digests(Modules(project), read)
        return {stage for stage in read if after[stage] != before[stage]}

    assert stale("rjieba") == {"index"}
    assert stale("one_model") == {"evaluate"}
    assert stale("numpy") == set()
    code._version.cache_clear()


@cache
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("bears", "stages", cache_dir=None, exclude_type_checking_imports=True)


def around(modules: set[str]) -> set[str]:
    """Return the modules and the packages around them."""
    return {".".join(m.split(".")[:n]) for m in modules for n in range(1, m.count(".") + 2)}


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_the_closure_is_what_grimp_finds(stage: str) -> None:
    graph, root = imports(), f"stages.{stage}"
    upstream = {root} | graph.find_upstream_modules(root)
    packages = around(upstream)
    # The imports of a package around a module run as well.
    upstream |= packages.union(*(graph.find_upstream_modules(each) for each in packages))
    closure = set(Modules(ROOT).closure([root]))
    assert upstream <= closure <= around(upstream)


def test_a_digest_is_the_same_under_every_version_of_python(tmp_path: Path) -> None:
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages/one.py").write_text(
        "def f(x: int, *, y=f'{1!r}') -> None:\n    return x\n", encoding="utf-8"
    )
    # Computed under Python 3.11, 3.12 and 3.13.
    assert code_digests(Modules(tmp_path), {"one": {}}) == {"one": "ecf66f74956ea47d"}
