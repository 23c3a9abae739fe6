"""What decides between systems, their answers or their rankings, and what is compared below it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bears.errors import FormatError
from bears.evaluation.comparison.result import compare
from bears.evaluation.comparison.values import shared_measures
from bears.evaluation.evaluate import our_name
from bears.files.intake.yaml_text import table_of
from bears.results.labeled import lead
from bears.results.origins import OF_ANSWERS
from bears.results.system import System
from bears.results.values import BY_JUDGES

JUDGED: Sequence[str] = table_of(__file__)
"""What a judge says of answers; the first that two systems have decides."""
UNJUDGED = ("graded_precision@10", "graded_dcg@10", "answer_f1")
"""What decides if there are neither judged answers nor rankings to compare."""


@dataclass(frozen=True)
class ComparedTable:
    """Systems that are compared in one table.

    Args:
        systems: those that have its measures.
        measures: the ones to compare.
        main: the one that decides.
    """

    systems: Sequence[System]
    measures: Sequence[str]
    main: str

    @property
    def judge(self) -> str:
        """Return the judge of the systems, if they have one and the same."""
        judges = {system.judge for system in self.systems}
        return min(judges) if len(judges) == 1 else ""

    def called(self, measure: str, labels: int | None = None) -> str:
        """Return a measure with who gives it: a judge, or people with so many labels."""
        if labels:
            return f"{measure} ({labels} labels of people)"
        given = self.judge and re.fullmatch(BY_JUDGES, measure)
        return f"{measure} ({self.judge})" if given else measure

    def compared(self, margin: float | None = None) -> dict[str, Any]:
        """Compare the systems, as `compare` does; where people labeled, their labels lead.

        ``called`` is the main measure with who gives it.
        """
        found = lead(compare(self.systems, self.measures, self.main, margin), self.systems)
        return {**found, "called": self.called(found["main"])}

    def warnings(self) -> list[str]:
        """Warn of systems whose main measure different judges give."""
        judges = {system.name: system.judge for system in self.systems}
        if not re.fullmatch(BY_JUDGES, self.main) or len({*judges.values()}) < 2:
            return []
        said = ", ".join(f"{name} by {judge or 'one unknown'}" for name, judge in judges.items())
        return [f"{self.main} is by different judges: {said}; let one judge all to compare them"]


def parts_of(
    systems: Sequence[System], main: str, chosen: Sequence[str] = ()
) -> list[ComparedTable]:
    """Divide what systems have into tables; the first one decides.

    Judged answers decide where two systems have them, and rankings are compared below. Systems with
    the same rankings are one row there. Unjudged answers are compared below rankings.

    Args:
        systems: of one benchmark.
        main: the measure that orders its rankings.
        chosen: the measures to compare; empty for all.
    """
    if chosen:
        having = [each for each in systems if all(_has(each, our_name(name)) for name in chosen)]
        return [ComparedTable(having if len(having) > 1 else systems, chosen, main)]
    parts = [*_answers(systems), *_rankings(systems, main)]
    parts.sort(
        key=lambda part: (part.main not in JUDGED, bool(re.fullmatch(OF_ANSWERS, part.main)))
    )
    return parts or [ComparedTable(systems, (), main)]


def _has(system: System, measure: str) -> bool:
    return measure in system.values and bool(system.values[measure].notna().any())


def _answers(systems: Sequence[System]) -> Iterator[ComparedTable]:
    """Yield the systems that have the first measure of answers that two of them have."""
    names = [name for each in systems for name in map(str, each.values)]
    others = [name for name in names if re.fullmatch(OF_ANSWERS, name)]
    for main in dict.fromkeys([*JUDGED, *UNJUDGED, *others]):
        having = [each for each in systems if _has(each, main)]
        if len(having) > 1:
            measures = [m for m in shared_measures(having, ()) if re.fullmatch(OF_ANSWERS, m)]
            yield ComparedTable(having, measures, main)
            return


def _rankings(systems: Sequence[System], main: str) -> Iterator[ComparedTable]:
    """Yield the systems with different rankings; those with the same if there are no others."""
    for having in (one_of_each(systems), systems):
        for some in (having, [each for each in having if _has(each, main)]):
            try:
                names = [m for m in shared_measures(some, ()) if not re.fullmatch(OF_ANSWERS, m)]
            except (FormatError, IndexError):
                continue
            if len(some) > 1 and names:
                yield ComparedTable(some, names, main if main in names else names[0])
                return
        if any(_answers(systems)):
            return


def one_of_each(systems: Sequence[System]) -> list[System]:
    """Return a system for each ranking, named without the generator and the judge."""
    same: dict[str, list[System]] = {}
    for system in systems:
        same.setdefault(system.same_run or f"only {system.name}", []).append(system)
    names = [(each[0].retrieval or each[0].name) for each in same.values()]
    return [
        replace(
            group[0],
            name=name if names.count(name) == 1 else group[0].name,
            what=", ".join(dict.fromkeys(each.what for each in group if each.what)),
        )
        for name, group in zip(names, same.values(), strict=True)
    ]
