"""What translation costs a retriever: the recipe of docs/translation.md, and values of others."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.workspace import ROOT


def recipe() -> dict[str, Any]:
    """Return what the recipe defines."""
    page = (ROOT / "docs/translation.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code.partition("\nprint(")[0], names)
    return names


@pytest.mark.slow
@pytest.mark.parametrize(
    ("retriever", "before", "after"),
    [
        ("bm25", 0.709, 0.735),
        pytest.param("wordllama", 0.572, 0.397, marks=pytest.mark.slow),
        pytest.param("hybrid", 0.658, 0.593, marks=pytest.mark.slow),
    ],
)
def test_published_bears_costs_what_others_measured(
    retriever: str, before: float, after: float, shared_data: Path
) -> None:
    found = recipe()["tax"](shared_data / "bears-published", retriever)
    assert found["n"] == 40
    assert (round(found["mean_b"], 3), round(found["mean_a"], 3)) == (before, after)
    told = f"{found['difference']:+.3f} [{found['low']:+.3f}, {found['high']:+.3f}]"
    cells = f"{before:.3f}", f"{after:.3f}", told.replace("-", "−")
    row = f"| `{retriever}` | {' | '.join(cells)} |"
    assert row in (ROOT / "docs/translation.md").read_text(encoding="utf-8")
