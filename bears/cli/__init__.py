"""The command line: ``bears COMMAND``; ``--help`` lists the commands."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from os.path import isfile
from pathlib import Path

from bears.config.edge import ended
from bears.config.packaged import require_project

COMMANDS = {
    "init": "make a project with a benchmark",
    "upgrade": "renew the pipeline and the selection after an upgrade of the package",
    "new": "add a benchmark to the project",
    "show": "print the metrics as a table",
    "compare": "test whether systems differ, by how much, and how certain that is",
    "gate": "fail if a change made retrieval or answers worse",
    "report": "write an HTML page about a benchmark and its results",
    "submit": "score other people's results, or write a task's submission file",
    "answers": "score or judge a system's answers",
    "traces": "measure a system that searches many times by its traces",
    "nuggets": "write the facts that answers should have, and score assignments of them",
    "labels": "say what a judge is worth, and which answers people should label",
    "judgements": "let people judge documents that systems found",
    "leaderboard": "add the results of DVC's experiments to metrics/leaderboard.csv",
    "source": "describe a dataset as a source, or pin a source",
    "replies": "plan, fill and publish kept replies",
    "ragas": "compute the four RAGAS metrics with the ragas package",
    "replace": "replace a question",
    "export": "write the benchmark to a folder that can be shared",
    "attest": "compare the benchmark's digests with those of an export",
}
"""Modules of this package, in the order in which a newcomer needs them. The ``COMMAND`` of each is
a function, or a mapping of several."""
ANYWHERE = ("init", "source")
"""Commands that need no project."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status of `ended`, or 2 for wrong arguments."""
    words = sys.argv[1:] if argv is None else argv
    # Status 1 of the gate is a result.
    return ended("bears", lambda: _run(words), 2 if words[:1] == ["gate"] else 1)


def declare(name: str, parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of a command, or its subcommands, to a parser."""
    from bears.cli.commands import add_command, add_commands

    command = import_module(f"bears.cli.{name.replace('-', '_')}").COMMAND
    if isinstance(command, dict):
        add_commands(parser, command)
    else:
        add_command(parser, command)


def _run(words: Sequence[str]) -> int | None:
    parser = argparse.ArgumentParser(
        prog="bears",
        description="Commands beside the pipeline; the pipeline itself is `dvc repro`.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        # Importing the packages of all commands would take seconds.
        if [name] == list(words[:1]):
            declare(name, command)
    if not words:
        parser.print_help(sys.stderr)
        sys.exit(2)
    arguments = vars(parser.parse_args(words))
    files = arguments.get("systems") or [arguments.get(name, "") for name in ("base", "candidate")]
    elsewhere = arguments.get("folder") or (files and all(map(isfile, files)))
    if words[0] not in ANYWHERE and not elsewhere:
        require_project()
    # A project's own modules.
    sys.path.append(str(Path.cwd()))
    status: int | None = arguments.pop("_function")(**arguments)
    return status
