"""``bears labels``: what a judge is worth in labels, which answers to label, and when to stop."""

import shlex
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import cache, partial
from math import nan
from pathlib import Path
from random import Random
from typing import Any, Literal

from tabulate import tabulate

from bears.answers.judging.calibration import (
    agreement,
    calibrate,
    check_again,
    differences,
    grade_calibration,
)
from bears.answers.judging.chosen import rulings_of
from bears.answers.judging.files import read_unjudged, records_in
from bears.answers.judging.labelable import FEWEST, Labelable, labeled_of
from bears.answers.judging.labels import GivenBy, LabelledAnswer, read_labels
from bears.answers.judging.ruling import Case
from bears.cli.answers import judge_named, verdicts_of
from bears.config import read_ledger
from bears.config.ledger.entries import LabelDraw, Ledger
from bears.config.ledger.sheet import Row, Sheet
from bears.config.ledger.update import open_ledger
from bears.config.typed import parse
from bears.errors import FormatError
from bears.evaluation.labeling import CONVINCING, drawn, evidence, halving
from bears.files.qrels import read_qrels
from bears.files.records import to_json
from bears.files.shown import complain, printing_to_stderr
from bears.files.spreadsheet import read_named
from bears.files.visible import one_line
from bears.language.scripts import script_share
from bears.language.tags import SCRIPTS, check_tag
from bears.layout import BenchmarkFiles, ledger_of
from bears.selection.configuration import composed, language_of, records_of, selected
from bears.selection.labelable import What, labelable

COLUMNS = ("n", "human", "judge", "agreement", "kappa", "tpr", "tnr", "alone", "corrected", "worth")
GRADED = ("n", "human", "judge", "agreement", "kappa", "alone", "corrected", "worth")
PAIRED = ("n", "alone", "corrected", "worth")
LANGUAGES = ("en", "zh", "ko", "ja")
"""Candidates for the language of answers, chosen by script if no language is given."""

Format = Literal["table", "json"]


def price(
    labels: Path,
    *,
    judge: str = "",
    what: Literal["answers", "documents"] = "answers",
    grades: Path | None = None,
    language: str = "",
    benchmark: str = "",
    format: Format = "table",
    yes: bool = False,
    set_: Sequence[str] = (),
) -> None:
    """Say what a judge's verdicts are worth in people's labels.

    Compares the verdicts of a judge with people's labels, system by system: agreement, kappa, the
    shares of right and of wrong answers that it recognizes, and the pass rate corrected for its
    errors, each with its 95 % interval; then the corrected difference of each pair of systems. Rows
    without a label are judged too: the corrected rate estimates how many of all answers people
    would pass. The last column is the number of labels without the judge that are worth a hundred
    with it. The labeled answers must be a random sample. For documents, mean grades are compared
    as shares of the highest grade. For nuggets and citations, use `decide`.

    Args:
        labels: CSV, JSON Lines or a JSON array: system, question_id, label, and question,
            gold_answers, answer unless --benchmark has them; or EVOUNA's file; for documents,
            people's grades as TREC's qrels
        judge: one of conf/judge, but for documents
        what: what people labeled; default: answers
        grades: for documents: the judge's grades, as TREC's qrels
        language: BCP 47 tag of the answers; default: that of the records, or by their script
        benchmark: the labeled answers are those of data/BENCHMARK/answers/SYSTEM.jsonl
        format: default: table
        set_: a Hydra override of the judge: --set judge.budget=5
    """
    if what == "documents":
        systems = _graded_documents(labels, grades)
        _print(format, {"systems": systems}, _table(systems, GRADED))
        return
    chosen, given_by = judge_named(judge, set_), None
    if chosen.scale != Case.scale:
        raise FormatError(f"--judge {judge} judges {chosen.scale}; for these, use `decide`")
    if benchmark:
        given_by, language = _answers_of(benchmark, language)
    answers = read_labels(labels, given_by)
    language = language or _language_of(answers)
    check_tag(language, "--language")
    cases = [each.case for each in answers]
    # The plan of what is asked must not be a part of the JSON.
    with printing_to_stderr() if format == "json" else nullcontext():
        known = verdicts_of(chosen, cases, language, benchmark or labels.stem, yes)
    rulings = rulings_of(chosen, cases, language, known)
    # Of repeats the first counts.
    pairs_of = zip(answers, rulings, strict=False)
    judged = [replace(each, verdict=ruling.verdict) for each, ruling in pairs_of]
    systems, pairs = calibrate(judged), differences(judged)
    whole = {"judge": judge, "language": language, "systems": systems, "pairs": pairs}
    tables = [_table(systems, COLUMNS), *([_table(pairs, PAIRED)] if pairs else [])]
    differ = (
        f"answers compared as {language} (--language names another); {judge} and people differ on "
        f"{sum(each.disagrees for each in judged):,} answers"
    )
    _print(format, whole, "\n\n".join([*tables, differ]))


def _graded_documents(labels: Path, grades: Path | None) -> dict[str, dict[str, Any]]:
    if not grades:
        raise FormatError("--what documents needs --grades FILE, the judge's grades")
    people, judge = read_qrels(labels), read_qrels(grades)
    best = max(grade for run in (people, judge) for own in run.values() for grade in own.values())
    pairs = [
        (people.get(question, {}).get(doc_id, nan) / max(best, 1), grade / max(best, 1))
        for question, own in judge.items()
        for doc_id, grade in own.items()
    ]
    return {grades.stem: grade_calibration(*zip(*pairs, strict=True))}


def next_(
    a: str,
    b: str = "",
    *,
    what: What = "answers",
    count: int = 20,
    out: Path = Path("to_label.csv"),
    measure: str = "",
    grades: Path | None = None,
    format: Format = "table",
    benchmark: str = "",
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
        a: a system as in `bears compare`, with judged answers, or a .questions.csv of one, as
            `dvc repro` and `answers judge --questions` write it; for documents, any system
        b: the other system; without it, the score of the first is estimated, but not of answers
        what: what people label; default: answers
        count: how many items; default: 20
        out: a page (.html) or a CSV file; default: to_label.csv
        measure: of documents precision@K or dcg@K, default: precision@10; of nuggets nugget_all,
            nugget_vital or nugget_weighted, default: nugget_all
        grades: for documents: a model's grades from 0 to 4, as TREC's qrels; default: those of the
            judge that judged the systems
        format: default: table
    """
    pair = labelable(what, a, b, measure=measure, grades=grades, benchmark=benchmark)
    path, sheet = _ledger(benchmark), pair.sheet
    with open_ledger(path) as ledger:
        draws = pair.draws(ledger.decisions.labels)
        _check_imported(out, sheet, draws)
        labels = [pair.value(draw) for draw in labeled_of(draws)]
        before = [draw.item for draw in pair.drawn(draws)]
        found = drawn(pair.items, before, labels, count, Random(f"{pair.key} {len(draws)}"))
        names, new = pair.names, []
        for number, each in enumerate(found, start=len(draws) + 1):
            question, item = names[each.item]
            new.append(LabelDraw(pair.key, number, question, each.weight, each.largest, item=item))
        waiting = [draw for draw in draws if not draw.labels]
        again = partial(_command, what, measure, grades, benchmark, "import")
        rows = map(pair.shown, [*waiting, *new])
        said = sheet.write(out, rows, lambda saved: f"{again(saved, a, b)} --author NAME")
        ledger.add("labels", new, ("pair", "draw"))
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
        f"{out}: {len(new)} {_called(what)} of {len(pair.names)}, and {len(waiting)} drawn before "
        f"that have no label; {said}",
    )


def _command(
    what: What, measure: str, grades: Path | None, benchmark: str, *words: object, count: int = 0
) -> str:
    """Return a command of labels as people can type it; without options that are the default."""
    options = {"what": what, "measure": measure, "grades": grades, "benchmark": benchmark}
    given = {**options, "what": "" if what == "answers" else what, "count": count}
    chosen = [part for name, value in given.items() if value for part in (f"--{name}", value)]
    return shlex.join(["bears", "labels", *map(str, [*filter(None, words), *chosen])])


def _called(what: What) -> str:
    return "questions" if what == "answers" else what


def _check_imported(table: Path, sheet: Sheet, draws: Sequence[LabelDraw]) -> None:
    """Raise FormatError if a file that would be replaced holds more than imported labels."""
    # A page has no labels in it.
    if not table.is_file() or table.suffix.lower() == ".html":
        return
    known = {str(draw.draw) for draw in draws if draw.labels}
    header, rows = read_named(table, short=True)
    if {*sheet.columns[:-1]} - {*header} or any(
        any(row[name] for name in sheet.blanks) and row["draw"] not in known for _, row in rows
    ):
        raise FormatError(
            f"{table} is another file, or has labels that are not imported; run `bears labels "
            "import` first, or name another file with --out"
        )


def import_labels(
    file: Path,
    a: str,
    b: str = "",
    *,
    author: str,
    what: What = "answers",
    measure: str = "",
    grades: Path | None = None,
    replace_: bool = False,
    format: Format = "table",
    benchmark: str = "",
) -> None:
    """Take a person's labels back into the ledger.

    Every row must show what `next` wrote, and be of these systems. Labels of several people are
    kept apart, and their agreement is printed; then what the labels say so far.

    Args:
        file: a table that `next` wrote, with labels in it, or what its page saved
        a: the first system, as `next` was given it
        b: the second system
        author: who labeled
        what: what people labeled; default: answers
        measure: as `next` was given it
        grades: for documents: a model's grades, which people's labels correct
        replace_: overwrite the author's earlier labels
        format: default: table
    """
    pair = labelable(what, a, b, measure=measure, grades=grades, benchmark=benchmark)
    path = _ledger(benchmark)
    with open_ledger(path) as ledger:
        known = {str(draw.draw): draw for draw in pair.draws(ledger.decisions.labels)}

        def current(row: Row) -> Mapping[str, Any] | None:
            draw = known.get(row["draw"])
            return pair.shown(draw) if draw else None

        def entry(_: str, row: Row) -> LabelDraw:
            draw = known[row["draw"]]
            own = pair.given(draw, [row[name] for name in pair.blanks])
            return replace(draw, labels={**draw.labels, author: own})

        labeled = pair.sheet.read(file, current, entry)
        again = [
            (f"draw {draw.draw}", str(old), str(draw.labels[author]))
            for draw in labeled
            if (old := known[str(draw.draw)].labels.get(author)) is not None
        ]
        with printing_to_stderr() if format == "json" else nullcontext():
            check_again(file, again, f"{_called(what)} were labeled by {author}", replace_)
        ledger.add("labels", labeled, ("pair", "draw"))
    others = [
        both
        for draw in labeled
        for name, labels in draw.labels.items()
        if name != author
        for both in zip(draw.labels[author], labels, strict=True)
    ]
    draws = {draw.draw: draw for draw in [*known.values(), *labeled]}
    used = _used([*draws.values()])
    again_by = partial(_command, what, measure, grades, benchmark, "next", a, b)
    more, said = _so_far(pair, used, one_line(a), one_line(b))
    if more:
        said += f": `{again_by(count=more)}`"
    by_others = agreement(others, f"labels by others of the same {what}")
    whole = {"ledger": str(path), "labelled": len(labeled), "by_others": len(others)}
    _print(
        format,
        whole | {"more": more, "estimates": pair.estimates(used)},
        f"{path}: {len(labeled)} {_called(what)} labeled by {author}\n{by_others}{said}",
    )


def _used(draws: Sequence[LabelDraw]) -> list[LabelDraw]:
    """Return the draws that count, and say how many do not yet."""
    labeled = labeled_of(draws)
    if later := sum(bool(draw.labels) for draw in draws[len(labeled) :]):
        complain(
            f"{later} labels are not used yet: draw {len(labeled) + 1} has none, and the order of "
            "the draws counts"
        )
    return labeled


def _so_far(pair: Labelable, labeled: Sequence[LabelDraw], a: str, b: str) -> tuple[int, str]:
    """Return how many more labels help, and a sentence on what those so far say."""
    n, found = len(labeled), pair.estimates(labeled)
    if not found:
        lacking = min(FEWEST, len(pair.names)) - n
        said = f"{n} labels count so far"
        return lacking, f"{said}; {lacking} more give an interval" if lacking else said
    value, low, high = ([*found.values()][-1][name] for name in ("value", "low", "high"))
    if value < 0 and b:
        a, b, value, low, high = b, a, -value, -high, -low
    known = f"{value:.3f} ({low:.3f} to {high:.3f}) on {n} labels"
    if not b:
        said = f"{a} has {known}"
    else:
        said = f"{a} is better than {b} by {known}" if low > 0 else f"{a} - {b} is {known}"
    more = halving(pair.items, pair.drawn(labeled))
    return more, said + (f"; {more} more halve the interval" if more else "")


def decide(
    a: str,
    b: str = "",
    *,
    what: What = "answers",
    within: float | None = None,
    measure: str = "",
    grades: Path | None = None,
    format: Format = "table",
    benchmark: str = "",
) -> None:
    """Say which system people prefer, and whether labeling may stop.

    The answer holds however often one looks: at most one in twenty is wrong. It is reached when the
    e-value is 20 or more, or when the confidence sequence of the difference lies within --within.
    The estimate beside it has an interval that is narrower, and holds for one look. Of one system
    there is only the estimate of its score: the judge's, corrected by people.

    Args:
        a: the first system, as `next` was given it
        b: the second system
        what: what people labeled; default: answers
        within: a difference that does not matter
        measure: as `next` was given it
        grades: for documents: a model's grades, which people's labels correct
        format: default: table
    """
    if within is not None and not within > 0:
        raise FormatError(f"--within is {within}; expected a number above 0")
    pair = labelable(what, a, b, measure=measure, grades=grades, benchmark=benchmark)
    path = _ledger(benchmark)
    draws = pair.draws(parse(Ledger, read_ledger(path), str(path)).labels)
    labeled = _used(draws)
    items, drawn_items = pair.items, pair.drawn(labeled)
    labels = [pair.value(draw) for draw in labeled]
    found = evidence(items, drawn_items, labels)
    better = {1: a, -1: b}.get(found.better, "")
    known = found.low == found.high
    equal = not better and (known or (within is not None and max(-found.low, found.high) <= within))
    if better:
        verdict = f"{better} is better; labeling may stop"
    elif known:
        verdict = "equal: everything is labeled"
    elif equal:
        verdict = f"equal to within {within:g}; labeling may stop"
    else:
        again = _command(what, measure, grades, benchmark, "next", a, b)
        verdict = f"not decided; draw more with `{again}`"
    whole = {"a": a, "b": b, "better": better, "equal": equal, "stop": bool(better or equal)}
    whole |= {"labelled": len(labeled), "of": len(pair.names), **asdict(found)}
    said = (
        f"{one_line(verdict, 300)}\n{len(labeled)} of {len(pair.names)} {_called(what)} labeled; "
        f"{one_line(a)} - {one_line(b)}: {found.difference:+.3f}, 95 % confidence sequence "
        f"{found.low:+.3f} to {found.high:+.3f}; e = {found.e:.3g} (decided from {CONVINCING:g})"
    )
    if not b:
        said = f"{len(labeled)} of {len(pair.names)} {_called(what)} of {one_line(a)} labeled"
    whole["estimates"] = estimates = pair.estimates(labeled)
    for whose, one in estimates.items():
        said += f"\nfor {whose} questions: {one['value']:+.4f}, 95 % interval {one['low']:+.4f} to "
        said += f"{one['high']:+.4f}; a hundred labels more make it {one['after_100']:.0%} as wide"
        if one["worth"]:
            said += f", and with the judge 100 are worth {100 * one['worth']:.0f} without"
    if not estimates:
        said += f"\nno interval before {FEWEST} labels"
    _print(format, whole, said)


COMMAND = {"price": price, "next": next_, "import": import_labels, "decide": decide}


def _print(format: Format, values: Mapping[str, Any], text: str) -> None:
    print(to_json(values) if format == "json" else text)


def _ledger(benchmark: str) -> Path:
    return ledger_of(selected(composed(benchmark)).benchmark.name)


def _answers_of(benchmark: str, language: str) -> tuple[GivenBy, str]:
    """Return a function that finds the answers of a benchmark's systems, and their language."""
    records = records_of(benchmark)
    language = language_of(records.folder, language)

    @cache
    def cases(system: str) -> dict[str, Case]:
        answers = BenchmarkFiles(benchmark).answers(system)
        paths = records_in(records.folder, answers)
        rows = read_unjudged(records.questions, paths, language)
        return {row.case.question_id: row.case for row in reversed(rows)}

    return lambda system, question_id: cases(system).get(question_id), language


def _language_of(answers: Sequence[LabelledAnswer]) -> str:
    text = "\n".join(each.case.question for each in answers[:1000])
    return max(LANGUAGES, key=lambda tag: script_share(text, SCRIPTS[tag]))


def _table(found: Mapping[str, Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Return a table of figures with their intervals below them."""
    rows = []
    for name, figures in found.items():
        ends = [figures["interval_95"].get(column) for column in columns[1:-1]]
        values = [figures[column] for column in columns[1:-1]]
        worth = "–" if figures["worth"] is None else f"{100 * figures['worth']:.0f}"
        shown = ["–" if value is None else f"{value:.4f}" for value in values]
        rows.append([one_line(name), figures["n"], *shown, worth])
        bounds = figures["interval_95"]["worth"]
        between = "" if bounds is None else f"{100 * bounds[0]:.0f}–{100 * bounds[1]:.0f}"
        below = [f"{end[0]:.3f}–{end[1]:.3f}" if end else "" for end in ends]
        rows.append(["", "", *below, between])
    header = ["pair" if columns is PAIRED else "system", *columns[:-1], "100 are worth"]
    return tabulate(rows, header, disable_numparse=True)
