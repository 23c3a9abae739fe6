"""What people label of two systems, or of one, that a command names."""

import shlex
from dataclasses import KW_ONLY, asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from bears.answers.judging.labelable import FEWEST, HIGHEST, LINEAR, Labelable, labeled_of, linear
from bears.config.ledger.update import OpenLedger
from bears.errors import FormatError
from bears.evaluation.labeling import evidence, halving
from bears.files.qrels import read_qrels
from bears.layout import ledger_of
from bears.results.labeled import LABELED, labelable_of
from bears.results.system import System
from bears.results.values import PASS_RATE
from bears.selection.configuration import composed, records_of, selected
from bears.selection.systems import chosen


@dataclass(frozen=True)
class Labeling:
    """What people label.

    Args:
        a: a system as in `bears compare`, with judged answers, or a .questions.csv of one, as
            `dvc repro` and `answers judge --questions` write it; for documents, any system
        b: the other system; without it, the score of the first is estimated, but not of answers
        what: what people label; default: answers
        measure: of documents precision@K or dcg@K, default: precision@10; of nuggets nugget_all,
            nugget_vital or nugget_weighted, default: nugget_all
        grades: for documents: a model's grades from 0 to 4, as TREC's qrels; default: those of the
            judge that judged the systems
    """

    a: str
    b: str = ""
    _: KW_ONLY
    what: Literal["answers", "documents", "nuggets", "citations"] = "answers"
    measure: str = ""
    grades: Path | None = None
    benchmark: str = ""

    @property
    def called(self) -> str:
        """Return what the items are called."""
        return "questions" if self.what == "answers" else self.what

    @property
    def ledger(self) -> Path:
        """Return the file with the draws."""
        return ledger_of(selected(composed(self.benchmark)).benchmark.name)

    @cached_property
    def items(self) -> Labelable:
        """Return the items in which the systems may differ, or those of one.

        Raises:
            FormatError: there is nothing to label.
        """
        words = [self.a, *filter(None, [self.b])]
        measure = self.measure or LABELED[self.what].removeprefix("graded_")
        if self.what == "documents":
            linear(measure)  # Refuses another one before anything is read.
            records = records_of(selected(composed(self.benchmark)).benchmark.name)
            systems = chosen(words, self.benchmark, least=1)
            grades = read_qrels(self.grades, HIGHEST) if self.grades else None
            pair = labelable_of(f"graded_{measure}", systems, grades, records)
        else:
            sums = [*LINEAR.get(self.what, (PASS_RATE,))]
            if measure not in sums:
                raise FormatError(
                    f"--measure is {measure!r:.80}; expected {' or '.join(sums)}, which are sums "
                    f"over {self.what}"
                )
            pair = labelable_of(measure, [self._judged(word) for word in words])
        if not pair or not pair.names:
            raise FormatError(
                f"{' and '.join(words)}: nothing that changes {measure} can be labeled"
                f"{'; answers are labeled in pairs' if not self.b else ''}"
            )
        return pair

    def so_far(self, within: float | None = None) -> dict[str, Any]:
        """Return what the labels say so far.

        Args:
            within: a difference that does not matter.

        Returns:
            The systems ``a`` and ``b``; which is ``better``, if any; whether they are ``equal``,
            and labeling may ``stop``; the fields of `Evidence`; how many items are ``labelled``,
            ``of`` how many; how many ``later`` labels wait for an earlier one; the ``estimates``
            of `Labelable`; and how many ``more`` labels give an interval, or halve it.
        """
        pair = self.items
        draws = pair.draws(OpenLedger(self.ledger).decisions.labels)
        labeled = labeled_of(draws)
        drawn, of = pair.drawn(labeled), len(pair.names)
        found = evidence(pair.items, drawn, [pair.value(draw) for draw in labeled])
        better = {1: self.a, -1: self.b}.get(found.better, "")
        equal = found.low == found.high or (
            within is not None and max(-found.low, found.high) <= within
        )
        estimates = pair.estimates(labeled)
        halves = halving(pair.items, drawn) if estimates else min(FEWEST, of) - len(labeled)
        return {
            **{"a": self.a, "b": self.b, "better": better, "equal": equal and not better},
            **asdict(found),
            "stop": bool(better or equal),
            "labelled": len(labeled),
            "of": of,
            "later": sum(bool(draw.labels) for draw in draws[len(labeled) :]),
            "more": halves,
            "estimates": estimates,
        }

    def _judged(self, word: str) -> System:
        """Return a system with judged answers."""
        path = Path(word)
        if path.is_file():
            return System(word, "", pd.DataFrame(), files=(path, path))
        (system,) = chosen([word], self.benchmark, least=1)
        if not system.files:
            raise FormatError(
                f"{word!r:.80} has no judged answers; run `dvc exp run -S generator=NAME -S "
                "judge=NAME`, or `bears answers judge FILE --questions FILE.questions.csv`"
            )
        return system

    def options(self, count: int = 0) -> list[str]:
        """Return the words after a command and a file, without options that are the default."""
        what = "" if self.what == "answers" else self.what
        known = ("measure", "grades", "benchmark")
        given = {"what": what, **{name: getattr(self, name) for name in known}, "count": count}
        named = [part for name, value in given.items() if value for part in (f"--{name}", value)]
        return [*filter(None, (self.a, self.b)), *map(str, named)]

    def more(self, count: int = 0) -> str:
        """Return the command that draws more, as people can type it."""
        return shlex.join(["bears", "labels", "next", *self.options(count)])
