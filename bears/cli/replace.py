"""``python -m bears replace``: another question in place of one."""

import argparse
from pathlib import Path

from bears.cli.selection import CONF, composed
from bears.config.ledger.update import add
from bears.errors import LedgerError
from bears.files.intake.texts import blank
from bears.files.records import read_questions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``replace``."""
    parser.description = (
        "Add an entry to the ledger of the selected benchmark: at the next `dvc repro` another "
        "question of the same source stands in for QUESTION_ID. Remove the entry to undo it."
    )
    parser.add_argument("question_id", metavar="QUESTION_ID")
    parser.add_argument("--reason", required=True, help="why; kept with the entry")
    parser.add_argument("--author", default="", help="who decided it; kept with the entry")
    parser.add_argument("--benchmark", default="", help="default: the one in params.yaml")
    parser.set_defaults(run=_replace)


def _replace(arguments: argparse.Namespace) -> None:
    config = composed(arguments.benchmark, [])
    benchmark = config["benchmark"]["name"]
    if blank(arguments.reason):
        raise LedgerError("an entry needs a reason: --reason 'why'")
    if any(e["question_id"] == arguments.question_id for e in config["ledger"]["replacements"]):
        raise LedgerError(f"{arguments.question_id} is replaced already")
    queries = Path("data") / benchmark / "sampled" / "queries_raw.json"
    if not queries.is_file():
        raise LedgerError(f"{queries} does not exist; run `dvc repro sample` first")
    if arguments.question_id not in {q.question_id for q in read_questions(queries)}:
        raise LedgerError(
            f"{benchmark} has no question {arguments.question_id}; its ids stand in {queries}"
        )
    entry = {
        "question_id": arguments.question_id,
        "reason": arguments.reason,
        "author": arguments.author,
    }
    path = CONF / "ledger" / f"{benchmark}.yaml"
    add(path, "replacements", [entry], ("question_id",))
    print(f"{path}: {arguments.question_id} will be replaced at the next `dvc repro`")
