"""The judge that a file of conf/judge names, and its rulings."""

from collections.abc import Mapping, Sequence
from typing import Any

from bears.answers.judging.model import ModelJudge, VerdictTask
from bears.answers.judging.ruling import Case, Item, Judge, Ruling
from bears.config.typed import build
from bears.llm.use import KeptReplies

AnyJudge = Judge | ModelJudge
"""A judge that compares words, or the settings of a model."""


def judge_of(judge: Mapping[str, Any], generator: str = "") -> AnyJudge | None:
    """Return the judge of one conf/judge/<name>.yaml; None for ``none``.

    Args:
        judge: the file's content.
        generator: if it is ``none``, only a judge of rankings is returned.

    Raises:
        ConfigurationError: the description of a judge is wrong.
    """
    if judge["name"] == "none":
        return None
    found: AnyJudge = build(judge, f"judge {judge['name']}", "bears.answers.judging")
    return None if generator == "none" and found.scale != "relevance" else found


def tasks_of(
    judge: AnyJudge | None, cases: Sequence[Case | Item], language: str
) -> list[VerdictTask]:
    """Return what a judge must be asked: one task if it is a model, or none."""
    return [VerdictTask(judge, cases, language)] if isinstance(judge, ModelJudge) else []


def rulings_of(
    judge: AnyJudge, cases: Sequence[Case | Item], language: str, known: KeptReplies
) -> list[Ruling]:
    """Return the rulings on the cases of the judge's scale, in order, once for each repeat.

    Args:
        cases: answers and items.
        language: BCP 47 tag of the texts.
        known: the kept verdicts of models.

    Raises:
        RepliesMissing: the verdicts of a model on some cases are missing.
    """
    if isinstance(judge, ModelJudge):
        return VerdictTask(judge, cases, language).rulings(known)
    own = (case for case in cases if case.scale == judge.scale)
    return [Ruling(judge.verdict(case, language)) for case in own]
