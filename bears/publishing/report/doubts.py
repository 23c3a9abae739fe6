"""What may void the numbers of a comparison, and what those of a judge are worth."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain, combinations
from typing import Any

from bears.answers.judging.labelable import grades_in
from bears.answers.judging.ruling import VALUES
from bears.evaluation.timing import BUSY
from bears.publishing.report.advice import Sentence, command
from bears.publishing.report.words import signed
from bears.results.labeled import LABELED, estimate_of, labelable_of, labels_of
from bears.results.system import Doubts, System
from bears.results.values import PASS_RATE

MANY = 10
"""How many equal verdicts or grades make a judge doubtful."""
VERDICTS = {value: word for word, value in VALUES.items()}


def doubts(systems: Sequence[System], measure: str) -> list[Sentence]:
    """Return what may void the numbers, a sentence each."""
    found: list[Sentence] = []
    for system in systems:
        about = {"system": system.name, "measure": measure}
        for cut in system.doubts.unread:
            share = f"{100 * cut.share:.0f}"
            found.append(("doubt_unread", {**about, **asdict(cut), "share": share}))
        if system.costs.others is not None and system.costs.others > BUSY:
            found.append(("advice_busy", about))
        if system.doubts.unmatched:
            found.append(("doubt_unmatched", {**about, "n": system.doubts.unmatched}))
    found += constant_judges(systems)
    # These are of the benchmark, which is the same for all.
    shared = next((each.doubts for each in systems if each.doubts != Doubts()), Doubts())
    if lacking := shared.undefined.get(measure):
        found.append(("doubt_undefined", {"n": lacking, "measure": measure}))
    if (ceiling := shared.ceiling.get(measure)) is not None:
        found.append(("doubt_ceiling", {"measure": measure, "ceiling": ceiling}))
    if shared.lost:
        found.append(("doubt_lost", {"n": shared.lost}))
    return found


def constant_judges(systems: Sequence[System]) -> list[Sentence]:
    """Return a doubt for each judge that gives one verdict, or one grade, to everything."""
    given: dict[tuple[str, str], list[Any]] = {}
    for system in systems:
        judge = system.judge or "the judge"
        if "pass_rate" in system.values:
            verdicts = [VERDICTS.get(value, "") for value in system.defined("pass_rate")]
            given.setdefault((judge, "verdict"), []).extend(verdicts)
        if any(name.startswith("graded_") for name in map(str, system.values)):
            grades = (own.values() for own in grades_in(system.judged).values())
            given.setdefault((judge, "grade"), []).extend(chain.from_iterable(grades))
    return [
        (f"doubt_constant_{what}", {"judge": judge, "given": each[0], "n": len(each)})
        for (judge, what), each in given.items()
        if len(each) >= MANY and {*each} == {each[0]} and each[0] != ""
    ]


def label_notes(systems: Sequence[System]) -> Iterator[Sentence]:
    """Yield what people labeled of pairs of judged answers, and of each system's graded items."""
    graded = [each for each in systems if each.judged]
    labels = labels_of(graded)
    for what, measure in LABELED.items():
        having = [each for each in graded if measure in each.values]
        groups = combinations(having, 2 if measure == PASS_RATE else 1)
        found = [(measure, group, estimate_of(measure, group, labels)) for group in groups]
        known = [each for each in found if each[2]]
        # Of pairs without labels one is enough to say so.
        for _, group, one in known or (found[:1] if measure == PASS_RATE else found):
            names = [each.name for each in group]
            about: dict[str, Any] = {"measure": measure, "what": what, "subject": " - ".join(names)}
            about["judge"] = group[0].judge or "the judge"
            if one:
                about |= {"n": one["labels"], "of": one["of"]}
                about |= {name: signed(one[name]) for name in ("value", "low", "high")}
                about |= {key: f"{100 * one[key]:.0f}" for key in ("worth", "after_100")}
                yield "labels_some" if one["worth"] else "labels_alone", about
            elif pair := labelable_of(measure, group):
                options = ["--what", what] * (what != "answers")
                given = sum(bool(draw.labels) for draw in pair.draws(labels))
                about |= {"n": given, "of": len(pair.names)}
                about["command"] = command(["labels", "next", *names, *options], group)
                yield "labels_none", about
