"""Retrieval and answers of one system in one row, whichever of them is known first."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from bears.publishing.leaderboard.row import (
    ANSWERS,
    OF_ANSWERS,
    RETRIEVAL,
    UNSCORED,
    LeaderboardRow,
)

Rows = dict[tuple[str, ...], LeaderboardRow]


def put(rows: Rows, entry: LeaderboardRow) -> None:
    """Add ``entry`` to ``rows``, which are by their keys; it takes the place of one with its key.

    An entry that knows one half only (the retrieval, or the answers) renews the rows that have this
    half. If there is none it joins the other half that is of the same file, or the only one that
    the system has; a retrieval joins no answers that belong to another one.
    """
    own = [row for row in rows.values() if row.of == entry.of]
    if entry.configuration and entry.answers:
        rows.pop(replace(entry, answers="").key, None)
        rows[entry.key] = entry
    elif entry.answers:
        for row in (same := [row for row in own if row.answers == entry.answers]):
            values = {**row.values, **entry.values}
            # The same file: what was said of it stays, whether it was scored or judged now; but of
            # the unscored the last judging knows.
            said = {word for word in _words(row) if not (entry.judge and word == UNSCORED)}
            warnings = ", ".join(sorted({*said, *_words(entry)}))
            judge = entry.judge or row.judge
            renewed = replace(entry, values=values, judge=judge, warnings=warnings)
            rows[row.key] = _joined(row, renewed)
        if not same:
            retrieval = _only(own, lambda row: row.configuration, entry.answers)
            _add(rows, _joined(retrieval, entry) if retrieval else entry)
    else:
        for row in (same := _with_answers(own, entry)):
            rows[row.key] = _joined(entry, row)
        if not same:
            lone = [row for row in own if not row.configuration]
            answers = _only(lone, lambda row: row.answers, entry.configuration)
            _add(rows, _joined(entry, answers) if answers else entry)


def _with_answers(own: Iterable[LeaderboardRow], entry: LeaderboardRow) -> list[LeaderboardRow]:
    return [row for row in own if row.answers and row.configuration == entry.configuration]


def _only(
    rows: Iterable[LeaderboardRow], digest: Callable[[LeaderboardRow], str], same: str
) -> LeaderboardRow | None:
    """A row with the digest ``same``; else one with the only digest that there is."""
    known = {digest(row): row for row in rows if digest(row)}
    return known.get(same) or (next(iter(known.values())) if len(known) == 1 else None)


def _add(rows: Rows, entry: LeaderboardRow) -> None:
    """Add a row in place of those that know one of its halves alone."""
    for half in (replace(entry, answers=""), replace(entry, configuration="")):
        rows.pop(half.key, None)
    rows[entry.key] = entry


def _joined(retrieval: LeaderboardRow, answers: LeaderboardRow) -> LeaderboardRow:
    """The retrieval of one row, and of the other what it knows of answers."""
    values = {name: value for name, value in retrieval.values.items() if name in RETRIEVAL}
    values |= {name: value for name, value in answers.values.items() if name in ANSWERS}
    warnings = {word for word in _words(retrieval) if not word.startswith(OF_ANSWERS)}
    warnings |= {word for word in _words(answers) if word.startswith(OF_ANSWERS)}
    return replace(
        retrieval,
        generator=answers.generator,
        judge=answers.judge,
        answers=answers.answers,
        values=values,
        warnings=", ".join(sorted(warnings)),
    )


def _words(row: LeaderboardRow) -> list[str]:
    return row.warnings.split(", ") if row.warnings else []
