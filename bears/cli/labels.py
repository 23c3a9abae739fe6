"""``bears labels``: what a judge is worth in labels, which answers to label, and when to stop."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from random import Random
from typing import Any, Literal

from tabulate import tabulate

from bears.answers.judging.calibration import calibrate, differences, same_and_kappa
from bears.answers.judging.files import read_unjudged, records_in
from bears.answers.judging.labels import WORDS, GivenBy, LabelledAnswer, read_labels
from bears.answers.judging.pairs import GUESSES, Pair, judged_in, lead_of
from bears.answers.judging.panel import majority
from bears.answers.judging.ruling import Case
from bears.cli.answers import judges_named, verdicts_of
from bears.config import parse, read_ledger
from bears.config.ledger.entries import LabelDraw, Ledger
from bears.config.ledger.update import open_ledger
from bears.errors import FormatError, LedgerError
from bears.evaluation.anytime import CONVINCING, drawn, evidence
from bears.files.records import to_json
from bears.files.shown import complain, printing_to_stderr
from bears.files.spreadsheet import read_named, write_csv
from bears.files.visible import one_line
from bears.language.scripts import script_share
from bears.language.tags import SCRIPTS, check_tag
from bears.layout import BenchmarkFiles, ledger_of
from bears.results.revision import VERDICTS, named
from bears.selection.configuration import composed, language_of, records_of, selected

COLUMNS = ("n", "human", "judge", "agreement", "kappa", "tpr", "tnr", "alone", "corrected", "worth")
PAIRED = ("n", "alone", "corrected", "worth")
LANGUAGES = ("en", "zh", "ko", "ja")
"""Candidates for the language of answers, chosen by script if no language is given."""
TABLE = ("draw", "question", "gold_answers", "answer_1", "answer_2", "label_1", "label_2")

Format = Literal["table", "json"]


def price(
    labels: Path,
    *,
    judge: str,
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
    with it. The labeled answers must be a random sample.

    Args:
        labels: CSV, JSON Lines or a JSON array: system, question_id, label, and question,
            gold_answers, answer unless --benchmark has them; or EVOUNA's file
        judge: one of conf/judge
        language: BCP 47 tag of the answers; default: that of the records, or by their script
        benchmark: the labeled answers are those of data/BENCHMARK/answers/SYSTEM.jsonl
        format: default: table
        set_: a Hydra override of the judge: --set judge.budget=5
    """
    judges, given_by = judges_named(judge, set_), None
    if benchmark:
        given_by, language = _answers_of(benchmark, language)
    answers = read_labels(labels, given_by)
    language = language or _language_of(answers)
    check_tag(language, "--language")
    cases = [each.case for each in answers]
    # The plan of what is asked must not be a part of the JSON.
    with printing_to_stderr() if format == "json" else nullcontext():
        rulings = verdicts_of(judges, cases, language, benchmark or labels.stem, yes).values()
    judged = [
        replace(each, verdict=majority(column).verdict)
        for each, *column in zip(answers, *rulings, strict=True)
    ]
    systems, pairs = calibrate(judged), differences(judged)
    whole = {"judge": judge, "language": language, "systems": systems, "pairs": pairs}
    tables = [_table(systems, COLUMNS), *([_table(pairs, PAIRED)] if pairs else [])]
    differ = (
        f"answers compared as {language} (--language names another); {judge} and people differ on "
        f"{sum(each.disagrees for each in judged):,} answers"
    )
    _print(format, whole, "\n\n".join([*tables, differ]))


def next_(
    a: str,
    b: str,
    *,
    count: int = 20,
    out: Path = Path("to_label.csv"),
    format: Format = "table",
    benchmark: str = "",
) -> None:
    """Draw the questions whose answers people should label next, and write them as a table.

    People see the question, the gold and both answers in random order, without names, and write
    pass or fail into label_1 and label_2. Questions on which the judges or earlier labels say that
    the systems may differ are drawn more often, with probabilities that `decide` accounts for. The
    draws go to conf/ledger/BENCHMARK.yaml.

    Args:
        a: a revision or experiment with judged answers, or a .questions.csv of one system, as
            `dvc repro` and `answers judge --questions` write it
        b: the other system
        count: how many questions; default: 20
        out: a CSV file; default: to_label.csv
        format: default: table
    """
    if count < 1:
        raise FormatError(f"--count is {count}; expected at least 1")
    pair = _pair(a, b)
    path = _ledger(benchmark)
    with open_ledger(path) as ledger:
        draws = pair.draws(ledger.decisions.labels)
        _check_imported(out, draws)
        place = {question: at for at, question in enumerate(pair.questions)}
        leads = [lead_of(draw) for draw in takewhile(lambda draw: draw.labels, draws)]
        before = [place[draw.question_id] for draw in draws]
        random = Random(f"{pair.key} {len(draws)}")
        found = drawn(pair.strata, GUESSES, before, leads, count, random)
        new = [
            LabelDraw(pair.key, number, pair.questions[each.item], each.weight, each.largest)
            for number, each in enumerate(found, start=len(draws) + 1)
        ]
        waiting = [draw for draw in draws if not draw.labels]
        write_csv(out, TABLE, map(pair.row, [*waiting, *new]))
        ledger.add("labels", [asdict(draw) for draw in new], ("pair", "draw"))
    drawn_now = [draw.question_id for draw in new]
    whole = {"file": str(out), "drawn": drawn_now, "waiting": len(waiting), "of": len(place)}
    _print(
        format,
        whole,
        f"{out}: {len(new)} questions of {len(place)}, and {len(waiting)} drawn before that have "
        f"no label; write pass or fail under label_1 and label_2, then run `bears labels import "
        f"{out} {a} {b} --author NAME`",
    )


def _check_imported(table: Path, draws: Sequence[LabelDraw]) -> None:
    """Raise FormatError if a file that would be replaced holds more than imported labels."""
    if not table.is_file():
        return
    known = {str(draw.draw) for draw in draws if draw.labels}
    header, rows = read_named(table, short=True)
    if set(TABLE) - set(header) or any(
        (row["label_1"] or row["label_2"]) and row["draw"] not in known for _, row in rows
    ):
        raise FormatError(
            f"{table} is another file, or has labels that are not imported; run `bears labels "
            "import` first, or name another file with --out"
        )


def import_labels(
    file: Path, a: str, b: str, *, author: str, format: Format = "table", benchmark: str = ""
) -> None:
    """Take a person's labels back into the ledger.

    Labels of several people are kept apart, and their agreement is printed.

    Args:
        file: a table that `next` wrote, with labels in it
        a: the first system, as `next` was given it
        b: the second system
        author: who labeled
        format: default: table
    """
    pair = _pair(a, b)
    path = _ledger(benchmark)
    header, rows = read_named(file, short=True)
    if missing := [name for name in ("draw", "label_1", "label_2") if name not in header]:
        raise FormatError(f"{file}: no column {missing[0]}; give a table that `labels next` wrote")
    labeled: list[dict[str, Any]] = []
    with open_ledger(path) as ledger:
        known = {str(draw.draw): draw for draw in pair.draws(ledger.decisions.labels)}
        for line, row in rows:
            words = [row[name].strip().lower() for name in ("label_1", "label_2")]
            if not any(words):
                continue
            given = [WORDS.get(word) for word in words]
            if row["draw"] not in known or None in given:
                raise LedgerError(
                    f"{file}, line {line}: draw {row['draw']!r:.20} with the labels {words!r:.80}; "
                    "expected a draw of these two systems, and pass or fail twice"
                )
            draw = known[row["draw"]]
            # The columns hide which system is which.
            ours, theirs = given[::-1] if pair.swapped(draw) else given
            labeled.append({**asdict(draw), "labels": {**draw.labels, author: [ours, theirs]}})
        if not labeled:
            raise LedgerError(f"{file}: no labels; write pass or fail under label_1 and label_2")
        ledger.add("labels", labeled, ("pair", "draw"))
    said = f"{path}: {len(labeled)} questions labeled by {author}"
    others = [
        (draw["labels"][author][side], label[side])
        for draw in labeled
        for name, label in draw["labels"].items()
        for side in (0, 1)
        if name != author
    ]
    same, kappa = same_and_kappa(others)
    if others:
        said += f"\n{len(others)} labels by others of the same answers: {same} the same{kappa}"
    whole = {"ledger": str(path), "labelled": len(labeled), "by_others": len(others), "same": same}
    _print(format, whole, said)


def decide(
    a: str,
    b: str,
    *,
    within: float | None = None,
    format: Format = "table",
    benchmark: str = "",
) -> None:
    """Say which system people prefer, and whether labeling may stop.

    The answer holds however often one looks: at most one in twenty is wrong. It is reached when the
    e-value is 20 or more, or when the confidence sequence of the difference of pass rates lies
    within --within.

    Args:
        a: the first system, as `next` was given it
        b: the second system
        within: a difference that does not matter
        format: default: table
    """
    if within is not None and not 0 < within < 1:
        raise FormatError(f"--within is {within}; expected a number between 0 and 1")
    pair = _pair(a, b)
    path = _ledger(benchmark)
    draws = pair.draws(parse(Ledger, read_ledger(path), str(path)).labels)
    labeled = list(takewhile(lambda draw: draw.labels, draws))
    if later := sum(bool(draw.labels) for draw in draws[len(labeled) :]):
        complain(
            f"{later} labels are not used yet: draw {len(labeled) + 1} has none, and the order of "
            "the draws counts"
        )
    found = evidence(
        [lead_of(draw) for draw in labeled],
        [draw.weight for draw in labeled],
        [draw.largest for draw in labeled],
        len(pair.questions),
    )
    better = a if found.low > 0 else b if found.high < 0 else ""
    equal = within is not None and max(-found.low, found.high) <= within
    if better:
        verdict = f"{better} is better; labeling may stop"
    elif equal:
        verdict = f"equal to within {within:g}; labeling may stop"
    else:
        verdict = "not decided; draw more with `bears labels next`"
    whole = {"a": a, "b": b, "better": better, "equal": equal, "stop": bool(better or equal)}
    whole |= {"labelled": len(labeled), "of": len(pair.questions), **asdict(found)}
    _print(
        format,
        whole,
        f"{one_line(verdict, 300)}\n{len(labeled)} of {len(pair.questions)} questions labeled; "
        f"{one_line(a)} - {one_line(b)}: {found.difference:+.3f}, 95 % confidence sequence "
        f"{found.low:+.3f} to {found.high:+.3f}; e = {found.e:.3g} (decided from {CONVINCING:g})",
    )


COMMAND = {"price": price, "next": next_, "import": import_labels, "decide": decide}


def _print(format: Format, values: Mapping[str, Any], text: str) -> None:
    print(to_json(values) if format == "json" else text)


def _pair(a: str, b: str) -> Pair:
    pair = Pair(*map(_judged, (a, b)))
    if not pair.questions:
        raise FormatError(f"{a} and {b} have no question in common")
    return pair


def _judged(word: str) -> dict[str, dict[str, str]]:
    """Return question_id to a row of a system's judged answers."""
    path = Path(word)
    if not path.is_file():
        revision = named(word)
        found = revision and revision.output(VERDICTS)
        if not found:
            raise FormatError(
                f"{word!r:.80}: no file, and no revision or experiment with judged answers; run "
                "`dvc exp run -S generator=NAME -S judge=NAME`, or `bears answers judge FILE "
                "--questions FILE.questions.csv`"
            )
        path = found
    return judged_in(path, word)


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
        return {row.case.question_id: row.case for row in rows}

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
    header = [*columns[:-1], "100 are worth"]
    return tabulate(
        rows, ["system" if columns is COLUMNS else "pair", *header], disable_numparse=True
    )
