"""Generated answers: how many passed, and where the others went wrong."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bears.evaluation.intervals import wilson
from bears.results.system import System


def generated(systems: Sequence[System]) -> list[dict[str, Any]]:
    """A row for each system that answered."""
    return [
        {"system": system.name, **_figures(list(system.answers.values()))}
        for system in systems
        if system.answers
    ]


def _figures(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    verdicts = Counter(row.get("verdict") for row in answers)
    scored = verdicts["pass"] + verdicts["fail"]
    low, high = wilson(verdicts["pass"], scored) if scored else (None, None)
    rate = verdicts["pass"] / scored if scored else None
    causes = Counter(row["cause"] for row in answers if row.get("cause"))
    return {
        "n": len(answers),
        "passed": {"mean": rate, "low": low, "high": high},
        "unscored": len(answers) - scored,
        "answer_f1": _mean(answers, "answer_f1"),
        "exact_match": _mean(answers, "exact_match"),
        "causes": sorted(causes.items(), key=lambda item: (-item[1], item[0])),
    }


def _mean(answers: Sequence[Mapping[str, Any]], name: str) -> float | None:
    found = [float(row[name]) for row in answers if row.get(name) not in (None, "")]
    return sum(found) / len(found) if found else None
