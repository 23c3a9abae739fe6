"""``bears labels``: what a judge is worth in labels, which answers to label, and when to stop."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any, Literal

import numpy as np
from tabulate import tabulate

from bears.answers.judging.calibration import calibrate, calibration, differences
from bears.answers.judging.chosen import rulings_of
from bears.answers.judging.labels import read_labels
from bears.answers.judging.ruling import Case
from bears.cli.answers import judge_named, verdicts_of
from bears.config.ledger.update import open_ledger
from bears.errors import FormatError
from bears.evaluation.labeling import CONVINCING
from bears.files.qrels import read_qrels
from bears.files.records import to_json
from bears.files.shown import complain, printing_to_stderr
from bears.files.visible import one_line
from bears.language.declared import identified
from bears.language.tags import check_tag
from bears.selection.labelable import Labeling

FIGURES = ("human", "judge", "agreement", "kappa", "tpr", "tnr", "alone", "corrected", "worth")
LOOKED_AT = 1000
"""From how many questions their language is taken."""
Format = Literal["table", "json"]


def price(
    labels: Path,
    *,
    judge: str = "",
    what: Literal["answers", "documents"] = "answers",
    grades: Path | None = None,
    language: str = "",
    format: Format = "table",
    yes: bool = False,
    set_: Sequence[str] = (),
) -> None:
    """Say what a judge's verdicts are worth in people's labels.

    Compares the verdicts of a judge with people's labels, system by system: agreement, kappa, the
    shares of right and of wrong answers that it recognizes, and the pass rate corrected for its
    errors, each with its 95 % interval; then the corrected difference of each pair of systems. Rows
    without a label are judged too: the corrected rate estimates how many of all answers people
    would pass. The last column is the number of labels without the judge that are worth one with
    it. The labeled answers must be a random sample. For documents, mean grades are compared
    as shares of the highest grade. For nuggets and citations, use `decide`.

    Args:
        labels: CSV, JSON Lines or a JSON array: system, question_id, question, gold_answers,
            answer, label; or EVOUNA's file; for documents, people's grades as TREC's qrels
        judge: one of conf/judge, but for documents
        what: what people labeled; default: answers
        grades: for documents: the judge's grades, as TREC's qrels
        language: BCP 47 tag of the answers; default: by their words
        format: default: table
        set_: a Hydra override of the judge: --set judge.budget=5
    """
    if what == "documents":
        systems = _graded_documents(labels, grades)
        _print(format, {"systems": systems}, _table(systems))
        return
    chosen = judge_named(judge, set_)
    if chosen.scale != Case.scale:
        raise FormatError(f"--judge {judge} judges {chosen.scale}; for these, use `decide`")
    answers = read_labels(labels)
    asked = "\n".join(each.case.question for each in answers[:LOOKED_AT])
    language = language or identified(asked) or "en"
    check_tag(language, "--language")
    cases = [each.case for each in answers]
    # The plan of what is asked must not be a part of the JSON.
    with printing_to_stderr() if format == "json" else nullcontext():
        known = verdicts_of(chosen, cases, language, labels.stem, yes)
    rulings = rulings_of(chosen, cases, language, known)
    # Of repeats the first counts.
    pairs_of = zip(answers, rulings, strict=False)
    judged = [replace(each, verdict=ruling.verdict) for each, ruling in pairs_of]
    systems, pairs = calibrate(judged), differences(judged)
    whole = {"judge": judge, "language": language, "systems": systems, "pairs": pairs}
    said = (
        f"{_table({**systems, **pairs})}\n\nanswers compared as {language} (--language names "
        f"another); {judge} and people differ on {sum(each.disagrees for each in judged):,} answers"
    )
    _print(format, whole, said)


def _graded_documents(labels: Path, grades: Path | None) -> dict[str, dict[str, Any]]:
    if not grades:
        raise FormatError("--what documents needs --grades FILE, the judge's grades")
    people, judge = read_qrels(labels), read_qrels(grades)
    pairs = [
        (people.get(question, {}).get(doc_id, nan), grade)
        for question, own in judge.items()
        for doc_id, grade in own.items()
    ]
    best = max(max(own.values()) for own in (*people.values(), *judge.values()))
    return {grades.stem: calibration(*np.array(pairs).T / max(best, 1))}


def next_(
    asked: Labeling,
    *,
    count: int = 20,
    out: Path = Path("to_label.csv"),
    format: Format = "table",
) -> None:
    """Draw the items that people should label next, and write them as a page or as a table.

    The page (.html) works in any browser, without a network, and saves a file for `import`.

    Of answers, people see the question, the gold and both systems' answers in random order, without
    names, and write pass or fail into label_1 and label_2. Of documents, they see the question and
    a document in which the rankings differ, and write a grade from 0 to 3; of nuggets, an
    answer and a fact that it may state; of citations, a sentence and the passage that it cites.
    Items that count more, and those on which the judge or earlier labels say that the systems may
    differ, are drawn more often, with probabilities that `decide` accounts for. The draws go to
    conf/ledger/BENCHMARK.yaml.

    Args:
        count: how many items; default: 20
        out: a page (.html) or a CSV file; default: to_label.csv
        format: default: table
    """
    pair, path = asked.items, asked.ledger
    with open_ledger(path) as ledger:
        draws = pair.draws(ledger.decisions.labels)
        pair.sheet.check_taken(out, [str(draw.draw) for draw in draws if draw.labels])
        new = pair.more(draws, count)
        waiting = [draw for draw in draws if not draw.labels]
        rows = map(pair.shown, [*waiting, *new])
        options = [*asked.options(), "--author", "NAME"]
        said = pair.sheet.write(out, rows, ["labels", "import"], options)
        ledger.add("labels", new)
    whole = {
        "file": str(out),
        "drawn": [draw.question_id for draw in new],
        "items": [draw.item for draw in new if draw.item],
        "waiting": len(waiting),
        "of": len(pair.names),
    }
    _print(
        format,
        whole,
        f"{out}: {len(new)} {asked.called} of {len(pair.names)}, and {len(waiting)} drawn before "
        f"that have no label; {said}",
    )


def import_labels(
    file: Path, asked: Labeling, *, author: str, replace_: bool = False, format: Format = "table"
) -> None:
    """Take a person's labels back into the ledger.

    Every row must show what `next` wrote, and be of these systems. Labels of several people are
    kept apart, and their agreement is printed; then what the labels say so far.

    Args:
        file: a table that `next` wrote, with labels in it, or what its page saved
        author: who labeled
        replace_: overwrite the author's earlier labels
        format: default: table
    """
    pair, path = asked.items, asked.ledger
    with open_ledger(path) as ledger:
        new = pair.read(file, pair.draws(ledger.decisions.labels), author)
        with printing_to_stderr() if format == "json" else nullcontext():
            taken = ledger.take("labels", new, file, "labels were given", replace_)
    known = {"ledger": str(path), "labelled": len(new), "by_others": taken.compared}
    found, said = _so_far(asked, None)
    said = f"{path}: {len(new)} {asked.called} labeled by {author}\n{said}"
    _print(format, {**found, **known}, said)


def decide(asked: Labeling, *, within: float | None = None, format: Format = "table") -> None:
    """Say which system people prefer, and whether labeling may stop.

    The answer holds however often one looks: at most one in twenty is wrong. It is reached when the
    e-value is 20 or more, or when the confidence sequence of the difference lies within --within.
    The estimate beside it has an interval that is narrower, and holds for one look. Of one system
    there is only the estimate of its score: the judge's, corrected by people.

    Args:
        within: a difference that does not matter
        format: default: table
    """
    if within is not None and not within > 0:
        raise FormatError(f"--within is {within}; expected a number above 0")
    _print(format, *_so_far(asked, within))


def _so_far(asked: Labeling, within: float | None) -> tuple[dict[str, Any], str]:
    """Return what the labels say so far, as values and in words."""
    found, (a, b) = asked.so_far(within), map(one_line, (asked.a, asked.b))
    if later := found.pop("later"):
        complain(
            f"{later} labels are not used yet: draw {found['labelled'] + 1} has none, and the "
            "order of the draws counts"
        )
    said = [f"{found['labelled']} of {found['of']} {asked.called} labeled"]
    if b:
        verdict = f"not decided; draw more with `{asked.more()}`"
        if found["better"]:
            verdict = f"{found['better']} is better; labeling may stop"
        elif found["low"] == found["high"]:
            verdict = "equal: everything is labeled"
        elif found["equal"]:
            verdict = f"equal to within {within:g}; labeling may stop"
        said = [
            one_line(verdict, 300),
            f"{said[0]}; {a} - {b}: {found['difference']:+.3f}, 95 % confidence sequence "
            f"{found['low']:+.3f} to {found['high']:+.3f}; e = {found['e']:.3g} (decided from "
            f"{CONVINCING:g})",
        ]
    for whose, one in found["estimates"].items():
        turn = -1 if b and one["value"] < 0 else 1
        (first, second), ends = (a, b)[::turn], ("low", "high")[::turn]
        value, low, high = (turn * one[name] for name in ("value", *ends))
        subject = f"{first} is better than {second} by" if low > 0 else f"{first} - {second} is"
        worth = f"; with the judge 100 are worth {100 * one['worth']:.0f} without"
        said.append(
            f"for {whose} questions {subject if b else f'{a} has'} {value:.3f} ({low:.3f} to "
            f"{high:.3f}) on {found['labelled']} labels{worth if one['worth'] else ''}"
        )
    if not found["estimates"]:
        said.append(f"{found['labelled']} labels count so far")
    if more := found["more"]:
        helps = "halve the" if found["estimates"] else "give an"
        said[-1] += f"; {more} more {helps} interval: `{asked.more(more)}`"
    return found, "\n".join(said)


COMMAND = {"price": price, "next": next_, "import": import_labels, "decide": decide}


def _print(format: Format, values: Mapping[str, Any], text: str) -> None:
    print(to_json(values) if format == "json" else text)


def _table(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a table of figures with their intervals below them."""
    known = [name for name in FIGURES if any(own.get(name) is not None for own in found.values())]
    rows = []
    for name, figures in found.items():
        values = map(figures.get, known)
        shown = ["–" if value is None else f"{value:.4f}" for value in values]
        ends = [figures["interval_95"].get(each) or () for each in known]
        below = ["–".join(f"{end:.3f}" for end in both) for both in ends]
        rows += [[one_line(name), figures["n"], *shown], ["", "", *below]]
    return tabulate(rows, ["", "n", *known], disable_numparse=True)
