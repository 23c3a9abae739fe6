"""Print metrics as a table."""

from collections.abc import Mapping
from typing import Any, NotRequired

from tabulate import tabulate
from typing_extensions import TypedDict

from bears.files.benchmark_state import heading

Means = dict[str, float | None]


class Within(TypedDict):
    """The block ``within``."""

    all: Means


class MeasuredBenchmark(TypedDict):
    """The block ``benchmark``."""

    name: str
    questions: int


class RetrievalMetrics(TypedDict):
    """The part of metrics/retrieval.json that is printed; docs/files.md describes all of it."""

    benchmark: MeasuredBenchmark
    retriever: NotRequired[str]
    all: Means
    by_type: dict[str, Means]
    by_source: dict[str, Means]
    within: NotRequired[Within]
    source: NotRequired[Means]


def table(results: Mapping[str, Any]) -> str:
    """Return a heading, and a row for each measure with a column for each group of questions.

    A column "within" has the questions that were also asked within their own group of documents;
    a column "source gold" has all questions on the gold without people's decisions.

    Args:
        results: the content of metrics/retrieval.json.
    """
    within = {"within": results["within"]["all"]} if "within" in results else {}
    source = {"source gold": results["source"]} if "source" in results else {}
    groups = {
        "all": results["all"],
        **source,
        **within,
        **groups_in(results),
    }
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    names.sort(key=lambda name: name != "n")
    rows = [[name, *(_cell(group.get(name)) for group in groups.values())] for name in names]
    align = ("left", *("right" for _ in groups))
    text = tabulate(rows, headers=["", *groups], colalign=align, disable_numparse=True)
    return f"{heading(results['benchmark'], results.get('retriever', ''))}\n\n{text}"


def groups_in(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return the means by type and by source, where there are several; one has all questions."""
    several = (results[by] for by in ("by_type", "by_source") if len(results[by]) > 1)
    return {name: means for groups in several for name, means in groups.items()}


def _cell(value: float | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.3f}"
