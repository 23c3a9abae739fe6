"""Commands made from functions: parameters become arguments, and docstrings become help."""

import argparse
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

Command = Callable[..., int | None]

SHARED = {
    "benchmark": "default: the one in params.yaml",
    "overrides": "Hydra overrides, such as retriever=wordllama",
    "yes": "do not ask before spending",
    "all_commits": "include the experiments of every commit, not only those of HEAD",
    "folder": "score against this export, which needs no --benchmark and no pipeline; or against "
    "a folder with queries.json and corpus.json",
    "unattested": "accept an export that differs from its attestation.json, with a warning",
    "language": "BCP 47 tag of the answers, such as en; default: what the records say",
    "system": "add the scores to the leaderboard under this name",
    "ignore_unknown": "skip questions that the benchmark lacks, and count them",
}
"""The help of arguments that mean the same in several commands."""


def add_commands(parser: argparse.ArgumentParser, functions: Mapping[str, Command]) -> None:
    """Add a subcommand for each function; the first line of its docstring summarizes it."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, function in functions.items():
        summary = (inspect.getdoc(function) or "").partition("\n")[0].rstrip(".")
        # Argparse formats help texts with %.
        text = (summary[:1].lower() + summary[1:]).replace("%", "%%")
        add_command(commands.add_parser(name, help=text), function)


def add_command(parser: argparse.ArgumentParser, function: Command) -> None:
    """Declare the arguments of a function to a parser, which then runs it.

    A keyword-only parameter is an option, every other one a positional argument. The help comes
    from the docstring and its ``Args``, or from `SHARED`.
    """
    description, _, arguments = (inspect.getdoc(function) or "").partition("\n\nArgs:\n")
    described = SHARED | dict(re.findall(r"^    (\w+): (.*(?:\n     .*)*)", arguments, re.M))
    parser.description = description
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        _add_argument(parser, parameter, described.get(parameter.name, "").replace("%", "%%"))
    parser.set_defaults(_function=function)


def _add_argument(parser: argparse.ArgumentParser, parameter: inspect.Parameter, text: str) -> None:
    name, kind = parameter.name, parameter.annotation
    required, several = parameter.default is parameter.empty, get_origin(kind) is Sequence
    option = parameter.kind is parameter.KEYWORD_ONLY
    settings: dict[str, Any] = {"help": text}
    if kind is bool:
        settings["action"] = "store_true"
    else:
        # The type of one value, also within `Path | None` and `Sequence[Path]`.
        plain = get_args(kind) if get_origin(kind) is not Literal else ()
        value = next((part for part in plain if part is not NoneType), kind)
        literal = get_origin(value) is Literal
        settings |= {"choices": get_args(value)} if literal else {"type": value}
        settings["default"] = parameter.default if not (required or several) else None
    if several:
        settings["default"] = []
        settings |= {"action": "append"} if option else {"nargs": "+" if required else "*"}
    elif not (option or required):
        settings["nargs"] = "?"
    if option:
        flag = f"--{name.rstrip('_').replace('_', '-')}"
        if kind is not bool and "choices" not in settings:
            settings["metavar"] = "FILE" if value is Path and name != "folder" else flag[2:].upper()
        parser.add_argument(flag, dest=name, required=required, **settings)
    else:
        parser.add_argument(name, metavar=name.upper(), **settings)
