"""What people label of two systems, or of one, that a command names."""

import shlex
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import pandas as pd

from bears.answers.judging.labelable import HIGHEST, LINEAR, Labelable, linear
from bears.errors import FormatError
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
