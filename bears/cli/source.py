"""``python -m bears source``: describing a set that nobody described, and pinning one."""

import argparse
import re
from collections.abc import Iterable
from dataclasses import MISSING, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from bears.config import checkout, parse
from bears.errors import ConfigurationError
from bears.files.intake.files import read_text
from bears.files.intake.yaml_text import yaml_value
from bears.files.records import write_text
from bears.files.shown import one_line
from bears.sources.convert import convert
from bears.sources.hub import found_on_hub
from bears.sources.inspection import Look, inspect
from bears.sources.shapes import SHAPES
from bears.sources.source import Part, Source, reader_of

KEPT = Path(".bears")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of ``source``."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    inspecting = commands.add_parser(
        "inspect",
        help="look at a set: its shape, fields, language and licence as YAML",
        description="Look at the first rows of a set and print conf/source/NAME.yaml for it, with "
        "the first question that it would make. What it cannot guess it can be told as "
        "SETTING=VALUE, in the words of that file: config=xquad.de split=validation "
        "'fields={question: frage}'.",
    )
    inspecting.add_argument("where", metavar="hub:OWNER/NAME | PATH")
    inspecting.add_argument("settings", metavar="SETTING=VALUE", nargs="*")
    inspecting.set_defaults(run=_inspect)
    pinning = commands.add_parser(
        "pin",
        help="write revision, digests and rows into conf/source/NAME.yaml",
        description="Read a source whole and write the commit, the digest of every file or table, "
        "and the number of rows into its file. Comments of other lines stay.",
    )
    pinning.add_argument("file", metavar="FILE", type=Path, help="conf/source/NAME.yaml")
    pinning.set_defaults(run=_pin)


def _inspect(arguments: argparse.Namespace) -> None:
    hub = arguments.where.removeprefix("hub:")
    place = {"hub": hub} if hub != arguments.where else {"path": _path(hub)}
    name = re.sub(r"\W+", "_", Path(hub).name.split(".")[0]).strip("_").lower() or "source"
    said = dict(_setting(word) for word in arguments.settings)
    usual = {"name": name, "language": "en", "licence": "NOASSERTION", "shape": "squad"}
    given = parse(Source, {**usual, **place, **said}, "the settings")
    folder = Path(hub).is_dir() and "path" in place
    order = ["beir", "multi-hop", "squad", "qa-with-passages", "pairs"]
    guess = [given.shape] if "shape" in said else [*order, "own"][: None if folder else -1]
    if "path" in place and not folder:
        guess = [shape for shape in guess if not SHAPES[shape].layout]
    print(_shown(inspect(given, guess, said, Path.cwd(), checkout() / KEPT)), end="")


def _path(said: str) -> str:
    """As it is said within a checkout, which a relative path of a source begins at."""
    return said if Path("dvc.yaml").exists() else str(Path(said).expanduser().absolute())


def _setting(word: str) -> tuple[str, Any]:
    name, equals, value = word.partition("=")
    if not equals or name not in {each.name for each in fields(Source)}:
        raise ConfigurationError(f"{word!r:.80}: expected SETTING=VALUE, such as split=validation")
    return name, yaml_value(value, name)


def _shown(look: Look) -> str:
    """The source as YAML, and what was seen in comments."""
    source = look.source
    first = {"question": look.question, "answer": look.answer, "gold": look.gold}
    seen = [
        f"conf/source/{source.name}.yaml. Language and licence are guesses: read the set's card.",
        f"Read {'the first ' * look.cut}{look.documents} documents and {look.questions} questions "
        f"with gold, which is {look.gold_documents} documents. The first question:",
        *(f"  {what}: {one_line(text):.200}" for what, text in first.items()),
        f"Run: dvc exp run -S benchmark=any -S 'overrides=[\"source@sources.any={source.name}\"]'",
    ]
    if source.hub:
        seen.append(f"Pin its rows too: python -m bears source pin conf/source/{source.name}.yaml")
    return "".join(f"# {line}\n" for line in seen) + _yaml(_said(source))


def _said(source: Source | Part) -> dict[str, Any]:
    """What is not as it is without being said."""
    found = {}
    for each in fields(source):
        value = getattr(source, each.name)
        usual = each.default_factory() if each.default_factory is not MISSING else each.default
        if value not in (usual, {}):
            found[each.name] = list(value) if isinstance(value, tuple) else value
    return found


def _pin(arguments: argparse.Namespace) -> None:
    pins = pin(arguments.file)
    print(f"{arguments.file}: {', '.join(pins)} say what is there now")


def pin(file: Path) -> dict[str, Any]:
    """Read a source whole and write its commit, digests and rows into its file.

    Raises:
        BearsError: the file describes no source, or it cannot be read.
    """
    text = read_text(file)
    source = parse(Source, yaml_value(text, str(file)), str(file))
    kept = checkout() / KEPT
    if source.hub and source.shape and not source.path:
        source = found_on_hub(source, kept)
    with TemporaryDirectory() as folder:
        out = Path(folder) / "rows"
        found = convert(source, reader_of(source), None, Path.cwd(), out, kept)
    pins: dict[str, Any] = {"revision": source.revision} if source.revision else {}
    if source.rows is not None or len(found["files"]) == 1:
        pins["rows"] = sum(each["rows"] for each in found["files"])
    pins["sha256"] = {each["name"]: each["sha256"] for each in found["files"]}
    if source.parts:
        pins["parts"] = {name: _said(part) for name, part in source.parts.items()}
    write_text(file, _without(text, pins) + _yaml(pins))
    return pins


def _without(text: str, keys: Iterable[str]) -> str:
    """A YAML file without some of its keys."""
    block = rf"^(?:{'|'.join(keys)}):.*\n(?:[ \t#-].*\n|\n)*"
    return re.sub(block, "", text.rstrip("\n") + "\n", flags=re.M)


def _yaml(value: dict[str, Any]) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100)
