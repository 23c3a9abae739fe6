"""The command line: ``python -m bears COMMAND``; ``--help`` lists the commands."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tabulate import tabulate

from bears.cli import answers, embeddings, leaderboard, ledger, memory, metrics, publish, submit
from bears.cli.selection import CONF, composed
from bears.configuration import parse
from bears.errors import BearsError, FormatError, LedgerError
from bears.evaluation.table import table
from bears.formats.records import read_questions, write_text
from bears.sampling.ledger import Ledger, sampling_part


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it did what was asked, 1 with a message when it could not."""
    arguments = _parser().parse_args(argv)
    try:
        arguments.run(arguments)
    except (BearsError, OSError) as error:
        print(f"bears: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bears: interrupted; what was finished is kept", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bears",
        description="Commands beside the pipeline; the pipeline itself is `dvc repro`.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    memory.add_commands(commands.add_parser("memory", help="the translation memory"))
    embeddings.add_commands(
        commands.add_parser("embeddings", help="vectors of a provider: their price; buying them")
    )
    submit.add_commands(
        commands.add_parser("submit", help="score other people's results; write a task's file")
    )
    answers.add_commands(
        commands.add_parser("answers", help="score what a system answered to the questions")
    )
    metrics.add_arguments(
        commands.add_parser(
            "metrics",
            help="every metric: its definition, its edge cases, its source",
            description="List the metrics of rankings and of answers.",
        )
    )
    leaderboard.add_arguments(
        commands.add_parser(
            "leaderboard",
            help="bring metrics/leaderboard.csv up to date with DVC's experiments",
            description="Put every result that `dvc exp show` knows on the leaderboard, one row "
            "for each benchmark, system and configuration; rows of submissions stay.",
        )
    )
    publish.add_export(
        commands.add_parser(
            "export",
            help="the benchmark as a folder to give away",
            description="Write the benchmark as a BEIR folder and as parquet, with a dataset "
            "card, Croissant metadata and an attestation.",
        )
    )
    publish.add_attest(
        commands.add_parser(
            "attest",
            help="recompute the benchmark's root digest and compare it with an export's",
            description="One digest over records, sources, configuration, memory and ledger. "
            "Exits with 1 and names what differs when FOLDER is not what this checkout makes.",
        )
    )
    replacing = commands.add_parser(
        "replace",
        help="replace a question",
        description="Add an entry to the ledger of the selected benchmark: at the next "
        "`dvc repro` another question of the same source stands in for QUESTION_ID. Remove the "
        "entry to undo it.",
    )
    replacing.add_argument("question_id", metavar="QUESTION_ID")
    replacing.add_argument("--reason", required=True, help="why; kept with the entry")
    replacing.add_argument("--author", default="", help="who decided it; kept with the entry")
    replacing.add_argument("--benchmark", default="", help="default: the one in params.yaml")
    replacing.set_defaults(run=_replace)
    showing = commands.add_parser(
        "show",
        help="the metrics as a table",
        description="Read the output of `dvc metrics show --json` and print it as a table.",
    )
    showing.set_defaults(run=_show)
    plotting = commands.add_parser(
        "plot-template",
        help="an HTML template for `dvc plots` that needs no network",
        description="Write an HTML template with vega inside it, for "
        "`dvc plots show --html-template FILE`; DVC's own one loads vega from the network.",
    )
    plotting.add_argument("file", metavar="FILE", type=Path)
    plotting.set_defaults(run=_plot_template)
    return parser


def _replace(arguments: argparse.Namespace) -> None:
    config = composed(arguments.benchmark, [])
    benchmark = config["benchmark"]["name"]
    present = parse(Ledger, sampling_part(config["ledger"]), "ledger")
    if not arguments.reason.strip():
        raise LedgerError("an entry needs a reason: --reason 'why'")
    if arguments.question_id in present.replaced:
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
    ledger.add(path, "replacements", [entry], ("question_id",))
    print(f"{path}: {arguments.question_id} will be replaced at the next `dvc repro`")


def _show(_: argparse.Namespace) -> None:
    try:
        (workspace,) = json.load(sys.stdin).values()
        files = workspace["data"]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise FormatError("expected the output of `dvc metrics show --json` on stdin") from None
    for path, content in files.items():
        print(f"{path}:")
        values = content.get("data", {})
        if {"all", "by_type", "by_source"} <= values.keys():
            print(table(values), end="\n\n")
        else:
            print(tabulate(values.items(), tablefmt="plain"), end="\n\n")


def _plot_template(arguments: argparse.Namespace) -> None:
    from vl_convert import javascript_bundle

    script = javascript_bundle("window.vegaEmbed = vegaEmbed;")
    write_text(
        arguments.file,
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset='utf-8'>\n<title>DVC plots</title>\n"
        f"<script>{script}</script>\n</head>\n<body>\n{{plot_divs}}\n</body>\n</html>\n",
    )
