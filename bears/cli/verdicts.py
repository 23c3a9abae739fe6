"""Verdicts in a command: a model is asked for those that the memory lacks."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from bears.answers.judging.bench import Judges, Rulings, judges_of, rulings_of, tasks_of
from bears.answers.judging.model import NAME, VerdictTask
from bears.answers.judging.ruling import Case
from bears.cli.filling import asked
from bears.cli.selection import CONF, composed
from bears.config import checkout
from bears.errors import ConfigurationError, MemoryMiss
from bears.files.shown import complain
from bears.llm.kept import MemoryEntry, load
from bears.llm.workflow import Workflow

JUDGES = CONF / "judge"
MEMORY = "data/memory/{}.verdicts.jsonl"


def add_asking(parser: argparse.ArgumentParser) -> None:
    """What a command is given that may ask a model."""
    parser.add_argument("--judge", required=True, help="one of conf/judge")
    parser.add_argument("--yes", action="store_true", help="do not ask before spending")
    parser.add_argument(
        "--set",
        dest="overrides",
        action="append",
        default=[],
        metavar="OVERRIDE",
        help="a Hydra override of the judge: --set judge.budget=5",
    )


def read_judges(name: str, overrides: Sequence[str] = ()) -> Judges:
    """The judges that conf/judge/<name>.yaml describes; a panel has several.

    Raises:
        ConfigurationError: there is none of this name.
    """
    known = sorted({path.stem for path in JUDGES.glob("*.yaml")} - {"none"})
    if known and name not in known:
        raise ConfigurationError(f"--judge {name}: {JUDGES} has {', '.join(known)}")
    return judges_of(composed("", [f"judge={name}", *overrides])["judge"])


def verdicts(
    judges: Judges, cases: Sequence[Case], language: str, memory: str, agreed: bool
) -> Rulings:
    """What each judge says of each case; what a model had to be asked is published at once.

    Args:
        judges: by name.
        cases: the answers.
        language: BCP 47 tag of the answers.
        memory: what the file of its verdicts is called after.
        agreed: whether ``--yes`` was given.

    Raises:
        MemoryMiss: as of `_asked`.
    """
    path = Path(MEMORY.format(memory))
    known = load(path, NAME)
    for task in tasks_of(judges, cases, language):
        if task.resolve(known).missing:
            known.add(*_asked(Workflow(task, path, checkout()), agreed))
    return rulings_of(judges, cases, language, known)


def _asked(workflow: Workflow[VerdictTask], agreed: bool) -> list[MemoryEntry]:
    """Have a model judge what is missing, and publish it; what failed is unscored for now.

    Raises:
        MemoryMiss: the asking ended early, or gave nothing; what came is in the journal.
    """
    report = asked(workflow, agreed)
    if report.stopped or (report.failed and not report.stored):
        why = report.stopped or "; ".join(next(iter(report.failed.values()))[1])
        raise MemoryMiss(
            f"{report.missing} verdicts are still missing: {why}. What came is kept; run the same "
            "again"
        )
    workflow.publish()
    failed = list(workflow.given_up(every=True))
    if failed:
        complain(
            f"{len(failed)} answers are unscored, since asking for them failed; run this again"
        )
    return [*load(workflow.memory, NAME), *failed]
