"""The command line: ``bears COMMAND``; ``--help`` lists the commands.

Commands are made from functions: parameters become arguments, and docstrings become help.
"""

import argparse
import gc
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from importlib import import_module
from os.path import isfile
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from bears.config.edge import ended
from bears.config.packaged import require_project
from bears.files.intake.yaml_text import table_of

_TABLE = table_of(__file__)
COMMANDS: Mapping[str, str] = _TABLE["commands"]
"""Modules of this package, in the order in which a newcomer needs them. The ``COMMAND`` of each is
a function, or a mapping of several."""
ANYWHERE = ("init", "source")
"""Commands that need no project."""
SHARED: Mapping[str, str] = _TABLE["shared"]
"""The help of arguments that mean the same in several commands."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status of `ended`, or 2 for wrong arguments."""
    words = sys.argv[1:] if argv is None else argv
    # Status 1 of the gate is a result.
    return ended("bears", lambda: _run(words), 2 if words[:1] == ["gate"] else 1)


def declare(name: str, parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of a command, or its subcommands, to a parser."""
    command = import_module(f"bears.cli.{name}").COMMAND
    if not isinstance(command, dict):
        add_command(parser, command)
        return
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for word, function in command.items():
        # The first line of its docstring summarizes a subcommand.
        summary = (inspect.getdoc(function) or "").partition("\n")[0].rstrip(".")
        # Argparse formats help texts with %.
        text = (summary[:1].lower() + summary[1:]).replace("%", "%%")
        add_command(commands.add_parser(word, help=text), function)


def add_command(parser: argparse.ArgumentParser, function: Callable[..., int | None]) -> None:
    """Declare the arguments of a function to a parser, which then runs it.

    A keyword-only parameter is an option, every other one a positional argument. The fields of a
    dataclass are arguments that several commands have. The help comes from the docstring and its
    ``Args``, or from `SHARED`.
    """
    parser.description = _add_arguments(parser, function)
    parser.set_defaults(_function=function)


def _add_arguments(parser: argparse.ArgumentParser, function: Callable[..., Any]) -> str:
    """Declare the arguments of a function or dataclass; return the rest of its docstring."""
    description, _, arguments = (inspect.getdoc(function) or "").partition("\n\nArgs:\n")
    own = dict(re.findall(r"^    (\w+): (.*(?:\n     .*)*)", arguments, re.M))
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        if _is_group(parameter):
            _add_arguments(parser, parameter.annotation)
        else:
            _add_argument(parser, parameter, own.get(name, SHARED.get(name, "")).replace("%", "%%"))
    return description


def _is_group(parameter: inspect.Parameter) -> bool:
    return is_dataclass(parameter.annotation)


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


def _called(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a function or dataclass with its arguments among those that were parsed."""
    given = {}
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        group = _is_group(parameter)
        given[name] = _called(parameter.annotation, arguments) if group else arguments[name]
    return function(**given)


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
    # statsmodels collects garbage in every call; what was imported needs no search.
    gc.freeze()
    # A project's own modules.
    sys.path.append(str(Path.cwd()))
    status: int | None = _called(arguments["_function"], arguments)
    return status
