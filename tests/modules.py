"""The syntax trees of our own modules, for tests of what they may do."""

import ast
from functools import cache

from tests.workspace import ROOT


@cache
def trees() -> dict[str, ast.Module]:
    """Return the tree of each module of bears/ and stages/ by its path."""
    paths = [*(ROOT / "bears").rglob("*.py"), *(ROOT / "stages").glob("*.py")]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}
    return {path: ast.parse(text) for path, text in texts.items()}
