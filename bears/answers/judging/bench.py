"""Who judges: one judge, or several whose majority decides."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from bears.answers.judging.calibration import kappa_of
from bears.answers.judging.model import VerdictTask
from bears.answers.judging.ruling import Case, Judge, Ruling, Verdict
from bears.answers.judging.settings import JudgeSettings
from bears.config import build, parse
from bears.llm.kept import PublishedMemory

ROOM = "bears.answers.judging"
Judges = Mapping[str, Judge | JudgeSettings]
"""By name: one that compares words, or how a model is asked."""
Rulings = dict[str, list[Ruling]]
"""A judge's name to its rulings, in the order of the cases."""


def judges_of(judge: Mapping[str, Any]) -> Judges:
    """The judges of one conf/judge/<name>.yaml, by their names; ``none`` has none.

    Raises:
        ConfigurationError: one of them is described wrongly.
    """
    if judge["name"] == "none":
        return {}
    parts = judge.get("judges") or {judge["name"]: judge}
    return {name: _judge(part, f"judge {name}") for name, part in parts.items()}


def _judge(part: Mapping[str, Any], where: str) -> Judge | JudgeSettings:
    if "_target_" not in part:
        return parse(JudgeSettings, part, where)
    built: Judge = build(part, where, ROOM)
    return built


def tasks_of(judges: Judges, cases: Sequence[Case], language: str) -> list[VerdictTask]:
    """What those of the judges that are models are asked for."""
    models = (judge for judge in judges.values() if isinstance(judge, JudgeSettings))
    return [VerdictTask(model, cases, language) for model in models]


def rulings_of(
    judges: Judges, cases: Sequence[Case], language: str, known: PublishedMemory
) -> Rulings:
    """What each judge says of each case.

    Args:
        judges: by name.
        cases: the answers.
        language: BCP 47 tag of the answers.
        known: the verdicts that models gave.

    Raises:
        MemoryMiss: a model was never asked about some of the cases.
    """
    return {
        name: VerdictTask(judge, cases, language).rulings(known)
        if isinstance(judge, JudgeSettings)
        else [
            Ruling(judge.verdict(case.question, case.golds, case.answer, language))
            for case in cases
        ]
        for name, judge in judges.items()
    }


def majority(rulings: Sequence[Ruling]) -> Ruling:
    """What most of the judges say that say something; unscored where as many say the opposite."""
    if len(rulings) == 1:
        return rulings[0]
    counts = Counter(ruling.verdict for ruling in rulings)
    if counts["pass"] == counts["fail"]:
        return Ruling("unscored", "the judges are split" if counts["pass"] else "no judge knows")
    verdict: Verdict = "pass" if counts["pass"] > counts["fail"] else "fail"
    reasons = [ruling.reason for ruling in rulings if ruling.verdict == verdict and ruling.reason]
    return Ruling(verdict, "; ".join(dict.fromkeys(reasons)))


def agreements(rulings: Rulings) -> dict[str, dict[str, Any]]:
    """Each pair of judges: on how many both have a verdict, and how far the verdicts agree."""
    found = {}
    for one, other in combinations(rulings, 2):
        pairs = [
            (a.verdict == "pass", b.verdict == "pass")
            for a, b in zip(rulings[one], rulings[other], strict=True)
            if "unscored" not in (a.verdict, b.verdict)
        ]
        counts = Counter(pairs)
        table = [[counts[a, b] for b in (True, False)] for a in (True, False)]
        kappa = kappa_of(table)
        found[f"{one}, {other}"] = {
            "n": len(pairs),
            "agreement": round((table[0][0] + table[1][1]) / len(pairs), 5) if pairs else None,
            "kappa": kappa and round(kappa.value, 5),
            "kappa_95": kappa and kappa.interval and [round(end, 5) for end in kappa.interval],
        }
    return found
