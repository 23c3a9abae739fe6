"""The row of a result of ragas on the leaderboard."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bears.cli.selection import state_of
from bears.config import Config
from bears.files.digest import digest_of
from bears.files.records import read_questions
from bears.publishing.leaderboard.row import OF_ANSWERS, LeaderboardRow, submission_row


def ragas_row(
    config: Config, system: str, questions: Sequence[str], result: Mapping[str, Any]
) -> LeaderboardRow | None:
    """The means of a system that answered questions of the selected benchmark.

    None where the benchmark is not in data/, or a question is not one of its own or stands there
    more often than in it: such means cannot stand in a table with those of others.

    Args:
        questions: that were scored.
        result: what `bears ragas` writes; all of it but the means is part of the row's digest.
    """
    folder = Path("data") / config["benchmark"]["name"] / "translated"
    queries, corpus = folder / "queries.json", folder / "corpus.json"
    if not queries.is_file() or not corpus.is_file():
        return None
    own = [question.question.strip() for question in read_questions(queries)]
    if not Counter(question.strip() for question in questions) <= Counter(own):
        return None
    state = state_of(folder, config, len(own))
    metrics = result["metrics"]
    warnings = [
        f"{OF_ANSWERS}{name} of {each['n_scored']} of {len(own)} questions"
        for name, each in metrics.items()
        if each["n_scored"] < len(own)
    ]
    return submission_row(
        state,
        system,
        answers=digest_of(
            {"rows": result["input"]["rows"], **{k: result[k] for k in ("models", "versions")}}
        )[:12],
        generator=result["input"]["generator"] or "",
        judge=f"ragas {result['versions']['ragas']}, {result['models']['chat']}",
        values={name: each["mean"] for name, each in metrics.items()},
        warnings=", ".join(warnings),
    )
