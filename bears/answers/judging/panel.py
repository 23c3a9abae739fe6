"""One judge, or a panel whose majority decides."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, cycle, islice
from typing import Any

from bears.answers.judging.calibration import interval_of, kappa_of
from bears.answers.judging.model import ModelJudge, VerdictTask
from bears.answers.judging.ruling import Case, Item, Judge, Ruling, Verdict
from bears.config.typed import build, require_target
from bears.llm.use import KeptReplies

ROOM = "bears.answers.judging"
MODEL, PANEL = f"{ROOM}.model.ModelJudge", f"{ROOM}.panel.Panel"
Judges = Mapping[str, Judge | ModelJudge]
"""Judge's name to a judge that compares words, or to the settings of a model."""
Rulings = dict[str, list[Ruling]]
"""Judge's name to its rulings, in the order of the cases, once for each repeat."""


@dataclass(frozen=True)
class Panel:
    """Several judges, whose majority decides."""

    judges: Judges


def judges_of(judge: Mapping[str, Any], generator: str = "") -> Judges:
    """Return the judges of one conf/judge/<name>.yaml by their names; empty for ``none``.

    Args:
        judge: the file's content.
        generator: if it is ``none``, only the judges of rankings are returned.

    Raises:
        ConfigurationError: the description of a judge is wrong, or of an earlier version of BEARS.
    """
    if judge["name"] == "none":
        return {}
    where, parts = f"judge {judge['name']}", judge.get("judges", {})
    require_target(judge, where, PANEL if parts else MODEL)
    for name, part in parts.items():
        require_target(part, f"judge {name}", MODEL)
    built = build(judge, where, ROOM)
    found = built.judges if isinstance(built, Panel) else {judge["name"]: built}
    ranked = generator == "none"
    return {name: each for name, each in found.items() if not ranked or each.scale == "relevance"}


def tasks_of(judges: Judges, cases: Sequence[Case | Item], language: str) -> list[VerdictTask]:
    """Return the tasks of those judges that are models."""
    models = (judge for judge in judges.values() if isinstance(judge, ModelJudge))
    return [VerdictTask(model, cases, language) for model in models]


def rulings_of(
    judges: Judges,
    cases: Sequence[Case | Item],
    language: str,
    known: KeptReplies,
    scale: str = Case.scale,
) -> Rulings:
    """Return the rulings on the cases of a scale, of each judge that judges by it.

    Each judges as often as the one with most repeats.

    Args:
        judges: by name.
        cases: answers and items.
        language: BCP 47 tag of the texts.
        known: the kept verdicts of models.

    Raises:
        RepliesMissing: the verdicts of a model on some cases are missing.
    """
    own = [case for case in cases if case.scale == scale]
    found = {
        name: VerdictTask(judge, own, language).rulings(known)
        if isinstance(judge, ModelJudge)
        else [Ruling(judge.verdict(case, language)) for case in own]
        for name, judge in judges.items()
        if judge.scale == scale
    }
    most = max(map(len, found.values()), default=0)
    # Beside such a judge, one with fewer repeats says the same again.
    return {name: [*islice(cycle(own), most)] for name, own in found.items()}


def majority(rulings: Sequence[Ruling]) -> Ruling:
    """Return the majority verdict, ignoring abstentions; unscored if it is a tie."""
    if len(rulings) == 1:
        return rulings[0]
    counts = Counter(ruling.verdict for ruling in rulings)
    if counts["pass"] == counts["fail"]:
        return Ruling("unscored", "the judges are split" if counts["pass"] else "no judge knows")
    verdict: Verdict = "pass" if counts["pass"] > counts["fail"] else "fail"
    reasons = [ruling.reason for ruling in rulings if ruling.verdict == verdict and ruling.reason]
    return Ruling(verdict, "; ".join(dict.fromkeys(reasons)))


def agreements(rulings: Rulings) -> dict[str, dict[str, Any]]:
    """Return how well each pair of judges agrees on the answers that both have scored."""
    found = {}
    for (one, ours), (other, theirs) in combinations(rulings.items(), 2):
        counts = Counter((a.verdict, b.verdict) for a, b in zip(ours, theirs, strict=True))
        table = [[counts[a, b] for b in ("pass", "fail")] for a in ("pass", "fail")]
        n, kappa = sum(map(sum, table)), kappa_of(table)
        found[f"{one}, {other}"] = {
            "n": n,
            "agreement": round((table[0][0] + table[1][1]) / n, 5) if n else None,
            "kappa": kappa and round(kappa.value, 5),
            "kappa_95": [round(end, 5) for end in interval_of(kappa) or ()] or None,
        }
    return found
