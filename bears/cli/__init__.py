"""The command line: ``python -m bears COMMAND``; ``--help`` lists the commands."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.cli import (
    answers,
    compare,
    embeddings,
    judge,
    judgements,
    leaderboard,
    memory,
    metrics,
    publish,
    ragas,
    report,
    source,
    submit,
    tax,
)
from bears.cli.selection import CONF, composed
from bears.configuration import parse, read_selection
from bears.configuration.edge import ended
from bears.doctor import add_arguments as add_doctor
from bears.errors import FormatError, LedgerError
from bears.evaluation.table import Results, table
from bears.formats.records import read_json, read_questions, write_text
from bears.formats.shown import one_line
from bears.intake.texts import blank
from bears.ledger.update import add
from bears.retrieval.cut import cuts_below, told

RETRIEVAL = Path("metrics/retrieval.json")
ANSWERS = Path("metrics/answers.json")
VERIFICATION = Path("metrics/verification.json")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is that of `ended`, or 2 for wrong arguments."""
    return ended("bears", lambda: _run(sys.argv[1:] if argv is None else argv))


def _run(words: Sequence[str]) -> None:
    parser = _parser()
    if not words:
        parser.print_help(sys.stderr)
        sys.exit(2)
    arguments = parser.parse_args(words)
    arguments.run(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bears",
        description="Commands beside the pipeline; the pipeline itself is `dvc repro`.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_doctor(
        commands.add_parser("doctor", help="what keeps this checkout from working, and the mend")
    )
    memory.add_commands(commands.add_parser("memory", help="what models are asked once and kept"))
    embeddings.add_commands(
        commands.add_parser("embeddings", help="vectors of a provider: their price; buying them")
    )
    source.add_commands(commands.add_parser("source", help="describe a set as a source; pin it"))
    submit.add_commands(
        commands.add_parser("submit", help="score other people's results; write a task's file")
    )
    answers.add_commands(
        commands.add_parser("answers", help="score what a system answered to the questions")
    )
    judge.add_commands(
        commands.add_parser("judge", help="judges of answers, and how far they are to be believed")
    )
    judgements.add_commands(
        commands.add_parser("judgements", help="what systems found and nobody has judged")
    )
    ragas.add_arguments(
        commands.add_parser(
            "ragas",
            help="the four metrics of RAGAS, by ragas itself",
            description="Score answers by faithfulness, answer relevancy, context precision and "
            "context recall. The package ragas computes them, in an environment of its own (`make "
            "ragas`); what it asks a model is replayed from the memory, and with --fill asked "
            "within a budget and kept. A row that it cannot score is counted, and is no part of "
            "a mean.",
        )
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
    compare.add_arguments(
        commands.add_parser(
            "compare",
            help="do systems differ, by how much, and how sure is that",
            description="Compare systems of one benchmark, question by question: differences with "
            "95 % intervals, p corrected for all that is compared, groups that cannot be told "
            "apart, and the questions that flipped. The whole goes to metrics/comparison.json, "
            "which git ignores.",
        )
    )
    tax.add_arguments(
        commands.add_parser(
            "tax",
            help="what translation costs a retriever",
            description="Ask the same questions of the same documents before and after their "
            "translation, and once more without what stands in parentheses, where translators put "
            "the original's words. Each side is searched as texts of its language are. Differences "
            "are translated less original, with a paired 95 % interval.",
        )
    )
    report.add_arguments(
        commands.add_parser(
            "report",
            help="one HTML page: which retriever to take, and every question",
            description="Write one HTML file about the benchmark and every run of it that is here "
            "or in DVC's cache: which system to take and how sure that is, intervals, recall, "
            "time, and every question with what each system found. It needs no network.",
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
            help="recompute the benchmark's digests and compare them with an export's",
            description="Two answers: are the records the same (questions, gold, documents), and "
            "is their provenance (sources, configuration, memory, ledger)? Exits with 1 and names "
            "what differs when the records of FOLDER are not what this checkout makes.",
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
        description="Print the metrics of the last run, also of one that came from DVC's cache.",
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


def _show(_: argparse.Namespace) -> None:
    if not RETRIEVAL.is_file():
        raise FormatError(f"{RETRIEVAL}: no such file; run `dvc repro`, in the project's root")
    results = read_json(RETRIEVAL)
    parse(Results, results, str(RETRIEVAL))
    print(f"{RETRIEVAL}:\n{table(results)}\n")
    selected = read_selection(Path("params.yaml"))
    index = Path("data") / selected.get("benchmark", "") / "index" / selected.get("retriever", "")
    for line in told(cuts_below(index)):
        print(f"{index}: {line}\n")
    _show_answers()
    found = parse(dict[str, Any], read_json(VERIFICATION), str(VERIFICATION))
    print(f"{VERIFICATION}:\n{tabulate(found.items(), tablefmt='plain')}\n")


def _show_answers() -> None:
    judged = read_json(ANSWERS) if ANSWERS.is_file() else {}
    if judged != {}:
        from bears.judging.tables import Results as JudgedResults
        from bears.judging.tables import table as judged_table

        parse(JudgedResults, judged, str(ANSWERS))
        print(f"{ANSWERS}: {one_line(_whose(judged))}\n{judged_table(judged)}\n")


def _whose(judged: dict[str, Any]) -> str:
    """Who answered from what, and who judged."""
    words = ("generator", "context", "within", "judge")
    return ", ".join(f"{word} {judged[word]}" for word in words if judged.get(word))


def _plot_template(arguments: argparse.Namespace) -> None:
    from vl_convert import javascript_bundle

    script = javascript_bundle("window.vegaEmbed = vegaEmbed;")
    write_text(
        arguments.file,
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset='utf-8'>\n<title>DVC plots</title>\n"
        f"<script>{script}</script>\n</head>\n<body>\n{{plot_divs}}\n</body>\n</html>\n",
    )
