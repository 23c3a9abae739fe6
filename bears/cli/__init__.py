"""The command line: ``python -m bears memory import``, ``replace``, ``show``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml
from tabulate import tabulate

from bears.configuration import Config, compose, parse, read_selection
from bears.errors import BearsError, FormatError, LedgerError
from bears.evaluation.table import table
from bears.formats.records import read_questions, write_text
from bears.sampling.ledger import Ledger
from bears.translation.memory import Translator, load
from bears.translation.published import import_published

CONF = Path("conf")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it did what was asked, 1 with a message when it could not."""
    arguments = _parser().parse_args(argv)
    try:
        arguments.run(arguments)
    except BearsError as error:
        print(f"bears: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bears",
        description="Commands beside the pipeline; the pipeline itself is `dvc repro`.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    memory = commands.add_parser("memory", help="the translation memory")
    memory_commands = memory.add_subparsers(required=True, metavar="COMMAND")
    importing = memory_commands.add_parser(
        "import",
        help="make a memory of a published set",
        description="Add the translations of a published set to data/memory/BENCHMARK.jsonl. "
        "FOLDER holds queries_raw.json, corpus_raw.json, queries.json and corpus.json.",
    )
    importing.add_argument("benchmark", metavar="BENCHMARK")
    importing.add_argument("folder", metavar="FOLDER", type=Path)
    importing.add_argument("overrides", metavar="OVERRIDE", nargs="*", help="Hydra overrides")
    importing.set_defaults(run=_import)
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


def _import(arguments: argparse.Namespace) -> None:
    config = _composed(arguments.benchmark, arguments.overrides)
    languages = {name: source["language"] for name, source in config["sources"].items()}
    translator = Translator(
        config["translator"]["name"], config["translator"]["request"], config["language"]["name"]
    )
    entries = import_published(arguments.folder, languages, translator)
    path = Path("data/memory") / f"{config['benchmark']['name']}.jsonl"
    before = load(path)
    after = before.merged(entries)
    after.save(path)
    print(f"{path}: {len(after)} entries, {len(after) - len(before)} of them new")


def _replace(arguments: argparse.Namespace) -> None:
    config = _composed(arguments.benchmark, [])
    benchmark = config["benchmark"]["name"]
    ledger = parse(Ledger, config["ledger"], "ledger")
    if not arguments.reason.strip():
        raise LedgerError("an entry needs a reason: --reason 'why'")
    if arguments.question_id in ledger.replaced:
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
    _append(path, "replacements", entry)
    print(f"{path}: {arguments.question_id} will be replaced at the next `dvc repro`")


def _show(_: argparse.Namespace) -> None:
    try:
        (workspace,) = json.load(sys.stdin).values()
        files = workspace["data"]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise FormatError("expected the output of `dvc metrics show --json` on stdin") from None
    for path, metrics in files.items():
        print(f"{path}:")
        values = metrics.get("data", {})
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


def _append(path: Path, part: str, entry: dict[str, str]) -> None:
    """Add one entry; entries are sorted, so that the order of adding leaves no trace."""
    content = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
    content = {"replacements": [], "edits": []} | (content or {})
    content[part] = sorted([*content[part], entry], key=lambda item: sorted(item.items()))
    write_text(path, yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100))


def _composed(benchmark: str, overrides: Sequence[str]) -> Config:
    selection = read_selection(Path("params.yaml"))
    if benchmark:
        selection["benchmark"] = benchmark
    return compose(CONF, selection, overrides)
