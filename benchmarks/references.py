"""Write the pages of docs/ that are made from the code: commands, settings, definitions of metrics.

python -m benchmarks.references            # write commands.md, settings.md and definitions.md
python -m benchmarks.references --check    # exit with 1 if a page is stale; `make lint` runs it
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from bears.cli import COMMANDS, declare
from bears.config.pipeline import GROUPS
from bears.evaluation.answers.citebite import citebite_em, citebite_f1
from bears.evaluation.answers.measures import (
    evidence_f1,
    exact_match,
    token_f1,
    unanswerable_detection,
    yes_no_accuracy,
)
from bears.evaluation.evaluate import METRICS

DOCS = Path("docs")
CONF = Path("conf")
WORDS_ONLY = ("benchmark", "language", "prompt", "source")
"""Groups whose keys are explained in their files, or on a page of their own."""
ANSWERS: dict[str, Callable[..., Any]] = {
    "answer_f1": token_f1,
    "exact_match": exact_match,
    "citebite_f1": citebite_f1,
    "citebite_em": citebite_em,
    "evidence_f1": evidence_f1,
    "yes_no_accuracy": yes_no_accuracy,
    "unanswerable_detection": unanswerable_detection,
}
Row = tuple[str, ...]
KEY = re.compile(r"^( *)([\w.'-]+):(?: (.*))?$")
"""A line of YAML with a key: its indentation, the key, and the value if it is on the line."""


def main(arguments: list[str]) -> int:
    """Write the pages, or return 1 and name those that are stale."""
    # argparse takes the width from here, so the terminal does not matter.
    os.environ["COLUMNS"] = "90"
    pages = {DOCS / "commands.md": commands(), DOCS / "settings.md": settings()}
    pages[DOCS / "definitions.md"] = definitions()
    stale = [path for path, text in pages.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if "--check" in arguments:
            print(f"{path} is stale: run `python -m benchmarks.references`")
        else:
            path.write_text(pages[path])
    return int(bool(stale) and "--check" in arguments)


def commands() -> str:
    """Return the page of the command line: the help of each command and subcommand."""
    summary = [f"| [`bears {name}`](#bears-{name}) | {text} |" for name, text in COMMANDS.items()]
    parts = [
        "# Command line",
        "`bears --help` lists the commands. `dvc repro` and `dvc exp run` run the pipeline itself. "
        "This page is generated; `python -m benchmarks.references` renews it.",
        "\n".join(["| command | purpose |", "|---|---|", *summary]),
    ]
    for name in COMMANDS:
        for level, parser in _parsers(name):
            text = re.sub(r" +$", "", parser.format_help(), flags=re.MULTILINE)
            parts.append(f"{'#' * level} {parser.prog}\n\n```\n{text}```")
    return "\n\n".join(parts) + "\n"


def definitions() -> str:
    """Return the page of the metrics: the docstring of each, without its arguments."""
    parts = [
        "# Definitions of the metrics",
        "Each metric with its definition, its edge cases and its source, from the file that "
        "computes it. This page is generated; `python -m benchmarks.references` renews it.",
        "## Of rankings",
        "`evaluate.measures` in `conf/` lists the ones to compute.",
    ]
    for metric in METRICS:
        names = [f"{metric.name}@k"] * metric.cutoff + [metric.name] * metric.whole
        names += [f"{metric.name}@Nc"] * (metric.reads == "spans")
        parts.append(_defined(names, metric.function))
        if metric.foreign:
            parts.append(f"In ir_measures: {', '.join(f'`{name}`' for name in metric.foreign)}.")
    parts += ["## Of answers", "`bears answers score` computes them."]
    parts += [_defined([name], function) for name, function in ANSWERS.items()]
    return "\n\n".join(parts) + "\n"


def _defined(names: list[str], function: Callable[..., Any]) -> str:
    text = (inspect.getdoc(function) or "").split("\nArgs:")[0].strip()
    heading = ", ".join(f"`{name}`" for name in names)
    return f"### {heading}\n\n{text.replace('``', '`')}"


def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the argument parser of one command."""
    parser = argparse.ArgumentParser(prog=f"bears {name}")
    declare(name, parser)
    return parser


def subparsers(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Return the parsers of the subcommands."""
    choices = [a.choices for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    return [child for names in choices for child in names.values()]


def settings() -> str:
    """Return the page of the settings: the words and keys of each group of conf/."""
    parts = [
        "# Settings",
        "Each group of `conf/` has one file per word. [Configuration](configuration.md) explains "
        "how to select a word and how to change a key. This page is generated from the comments "
        "in `conf/`; `python -m benchmarks.references` renews it.",
        "## Every benchmark\n\nThese keys are in `conf/config.yaml`.",
        _table("key | default | meaning", _keys(CONF / "config.yaml")),
    ]
    included = sorted({path.name for path in CONF.iterdir() if path.is_dir()} - {*GROUPS})
    for group in [*GROUPS, *included]:
        files = sorted((CONF / group).glob("*.yaml"), key=_base_first)
        note = "\n\nOther files include these by name." if group in included else ""
        words = [(f"`{path.stem}`", meaning(path)) for path in files]
        parts += [f"## `{group}`{note}", _table("word | meaning", words)]
        keys: dict[str, Row] = {}
        for path in files if group not in WORDS_ONLY else ():
            for row in _keys(path):
                keys.setdefault(row[0], row)
        if keys:
            parts.append(_table("key | default | meaning", keys.values()))
    return "\n\n".join(parts) + "\n"


def _parsers(name: str) -> Iterator[tuple[int, argparse.ArgumentParser]]:
    """Yield the parser of a command and of its subcommands, with the level of their heading."""
    parser = parser_of(name)
    yield 2, parser
    for child in subparsers(parser):
        yield 3, child


def _table(header: str, rows: Iterable[Row]) -> str:
    lines = [f"| {header} |", "|" + "---|" * (header.count("|") + 1)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _base_first(path: Path) -> tuple[bool, Path]:
    """Order files so that a file comes before those that take their keys from it."""
    return bool(_parents(yaml.safe_load(path.read_text()))), path


def _parents(content: dict[str, Any]) -> list[str]:
    words = [word for word in content.get("defaults", []) if isinstance(word, str)]
    return [word for word in words if word != "_self_"]


def meaning(path: Path) -> str:
    """Return the first sentence of the comment at the top of a file, or what it changes."""
    lines = [line for line in path.read_text().splitlines() if "_global_" not in line]
    comment = " ".join(_comment(lines, 0))
    content = yaml.safe_load(path.read_text())
    if comment:
        return _sentence(comment)
    if title := content.get("title"):
        return str(title)
    for parent in _parents(content):
        changed = {**content, **content.get("encoder", {})}
        name = "model" if "model" in changed else [*content][-1]
        return f"`{parent}` with `{name}: {changed[name]}`"
    return ""


def _keys(path: Path) -> Iterator[Row]:
    """Yield each key of a file that has a comment: its path, its value and the comment."""
    lines, above = path.read_text().splitlines(), dict[int, str]()
    for number, line in enumerate(lines):
        match = KEY.match(line)
        if not match:
            continue
        indent, key, value = len(match[1]), match[2].strip("'"), match[3] or ""
        above = {depth: name for depth, name in above.items() if depth < indent} | {indent: key}
        start = number
        while start and lines[start - 1].strip().startswith("#"):
            start -= 1
        comment = " ".join(_comment(lines, start))
        if comment and start and key not in ("name", "defaults") and len(value) < 60:
            name = ".".join(above.values())
            yield f"`{name}`", f"`{value}`" if value else "", _cell(re.sub(":$", ".", comment))


def _comment(lines: list[str], start: int) -> Iterator[str]:
    """Yield the lines of the comment that begins at a line, up to an example."""
    for line in lines[start:]:
        text = line.strip()
        if not text.startswith("#") or text.startswith("#   "):
            return
        yield text.lstrip("# ")


def _sentence(comment: str) -> str:
    return _cell(re.split(r"(?<=[a-z0-9)`])\.(?= [A-Z`]| https:)", comment)[0].rstrip(".:"))


def _cell(text: str) -> str:
    text = text.replace("|", r"\|").replace("<", "&lt;")
    return re.sub(r"(?<![\w`/])docs/([\w-]+\.md)", r"[\1](\1)", text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
