"""The command line: ``python -m bears COMMAND``; ``--help`` lists the commands."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from bears.config.edge import ended

COMMANDS = {
    "doctor": "what killed runs and failing disks left, and the fix",
    "memory": "what models are asked once and kept",
    "embeddings": "vectors of a provider: their price; buying them",
    "source": "describe a set as a source; pin it",
    "submit": "score other people's results; write a task's file",
    "answers": "score or judge what a system answered; measure a judge",
    "judgements": "what systems found and nobody has judged",
    "ragas": "the four metrics of RAGAS, by ragas itself",
    "metrics": "every metric: its definition, its edge cases, its source",
    "leaderboard": "bring metrics/leaderboard.csv up to date with DVC's experiments",
    "compare": "do systems differ, by how much, and how sure is that",
    "tax": "what translation costs a retriever",
    "report": "one HTML page: which retriever to take, and every question",
    "export": "the benchmark as a folder to give away",
    "attest": "recompute the benchmark's digests and compare them with an export's",
    "replace": "replace a question",
    "show": "the metrics as a table",
    "plot-template": "an HTML template for `dvc plots` that needs no network",
}
"""Each is a module of this package with ``add_arguments``."""
RENAMED = {"judge": "answers calibrate"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is that of `ended`, or 2 for wrong arguments."""
    return ended("bears", lambda: _run(sys.argv[1:] if argv is None else argv))


def _run(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bears",
        description="Commands beside the pipeline; the pipeline itself is `dvc repro`.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, told in COMMANDS.items():
        command = commands.add_parser(name, help=told)
        # The packages of all commands together take seconds to import.
        if [name] == list(words[:1]):
            import_module(f"bears.cli.{name.replace('-', '_')}").add_arguments(command)
    if words and words[0] in RENAMED:
        from bears.errors import ConfigurationError

        raise ConfigurationError(f"`{words[0]}` is now called `{RENAMED[words[0]]}`; run that")
    if not words:
        parser.print_help(sys.stderr)
        sys.exit(2)
    arguments = parser.parse_args(words)
    arguments.run(arguments)
