"""What ``ragas`` prints and writes of its scores."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.answers.ragas.rows import RagasRow
from bears.answers.ragas.scores import METRICS, UNANSWERED, Score, cells
from bears.config import Config
from bears.errors import MemoryMiss
from bears.files.benchmark_state import generated_in, heading
from bears.files.digest import digest_of, sha256_of
from bears.files.records import write_json
from bears.files.spreadsheet import write_csv


def described(
    file: Path, given: Sequence[RagasRow], rows: Sequence[RagasRow], config: Config
) -> dict[str, Any]:
    """What was scored: the file, where its rows were completed from, and the digest of them all.

    Of a benchmark whose questions a model wrote, that as well.

    Args:
        given, rows: as the file has them, and completed.
    """
    contexts = any(row.contexts is None for row in given)
    answers = any(row.answer is None for row in given)
    benchmark = config["benchmark"]["name"]
    queries = Path("data") / benchmark / "translated" / "queries.json"
    made = generated_in(queries) if queries.is_file() else None
    return {
        "benchmark": benchmark,
        **({"generated": str(made)} if made else {}),
        "input": {
            "name": file.name,
            "sha256": sha256_of(file),
            "retriever": config["retriever"]["name"] if contexts else None,
            "generator": config["generator"]["name"] if answers else None,
            "rows": digest_of({"rows": [asdict(row) for row in rows]}),
        },
    }


def write(
    path: Path, result: Mapping[str, Any], scores: Sequence[Score], questions: Sequence[str]
) -> None:
    """Write the result as JSON, and the scores of each question into a CSV file beside it."""
    write_json(path, result)
    header = ["row", "question", *METRICS, "problems"]
    write_csv(path.with_suffix(".csv"), header, cells(scores, questions))


def table(result: Mapping[str, Any]) -> str:
    """Return the means for people, with what is no part of them, below what they are of."""
    metrics, given = result["metrics"], result["input"]
    made = [given[key] for key in ("retriever", "generator") if given[key]]
    system = f"{given['name']}{' with ' + ', '.join(made) if made else ''}"
    questions = max(each["n_total"] for each in metrics.values())
    about = heading({"name": result["benchmark"], "questions": questions}, system)
    lines = [
        [
            name,
            "–" if each["mean"] is None else f"{each['mean']:.4f}",
            f"{each['n_scored']} of {each['n_total']}",
            ", ".join(f"{n} {reason}" for reason, n in each["unscored"].items()),
        ]
        for name, each in metrics.items()
    ]
    told = tabulate(lines, ["metric", "mean", "scored", "not scored"], disable_numparse=True)
    return "\n\n".join(filter(None, (about, told, result.get("generated"))))


def check_whole(metrics: Mapping[str, Mapping[str, Any]], problem: str) -> None:
    """Raise MemoryMiss where scores want answers that the memory lacks, still or as ever.

    Args:
        problem: why a model gave none; empty where none was asked.
    """
    reasons = UNANSWERED.values()
    lacking = sum(
        each["unscored"].get(reason, 0) for each in metrics.values() for reason in reasons
    )
    wanted = sum(each["n_total"] for each in metrics.values())
    if lacking:
        remedy = (
            f"{problem}. --fill again goes on from there"
            if problem
            else ("see what they cost with --plan, and ask for them with --fill")
        )
        raise MemoryMiss(f"the memory lacks answers for {lacking} of {wanted} scores; {remedy}")
