"""YAML from outside: plain values, without aliases that turn a few lines into many."""

import re
from pathlib import Path
from typing import Any

import yaml

from bears.errors import FormatError
from bears.files.intake.files import DEPTH, TEXT_BYTES, beyond, read_text

PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml if it is installed: ten times faster, but it crashes on deeply nested values."""
MOST = 1_000_000
"""How many values the aliases may stand for, if each stands for all values before it."""


class _Loader(PARSER):  # type: ignore[misc]
    """Refuses a repeated key, of which YAML would keep the last value."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        names = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in names:
                problem = f"the key {key.value!r:.80} is repeated"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            names.add(key.value)
        return super().construct_mapping(node, deep)


def yaml_value(source: Path | str, where: str = "") -> Any:
    """Return the value of a YAML file, or of a text that holds one.

    Args:
        source: the file, or the text.
        where: the origin of the text, for messages; the default for a file is its path.

    Raises:
        FormatError: the file is missing, not UTF-8 or not YAML; a key is repeated in one mapping;
            an alias is inside an anchored value, or aliases stand for too much; it is too deep or
            too long.
    """
    if isinstance(source, Path):
        source, where = read_text(source), where or str(source)
    if len(source) > TEXT_BYTES:
        raise beyond(where, "it has too many characters", TEXT_BYTES)
    try:
        _check(source, where)
        return yaml.load(source, _Loader)
    except (yaml.YAMLError, ValueError) as error:
        reason = re.sub(r"\s+", " ", str(error)).replace('in "<unicode string>", ', "at ")
        raise FormatError(f"{where}: not valid YAML ({reason})") from None


def table_of(module: str) -> Any:
    """Return the words in the YAML file beside a module, which counts as its code.

    Args:
        module: the module's ``__file__``.
    """
    return yaml_value(Path(module).with_suffix(".yaml"))


def _check(text: str, where: str) -> None:
    """Check a text event by event, before values are built from it."""
    anchored: list[bool] = []
    aliases = 0
    for nodes, event in enumerate(yaml.parse(text, PARSER)):
        line = f"{where}, line {event.start_mark.line + 1}"  # type: ignore[union-attr]
        if isinstance(event, yaml.CollectionStartEvent):
            anchored.append(bool(event.anchor))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchored.pop()
        elif isinstance(event, yaml.AliasEvent):
            aliases += 1
            if any(anchored) or aliases * nodes > MOST:
                raise FormatError(f"{line}: its aliases stand for too much; write the value out")
        if len(anchored) > DEPTH:
            raise beyond(line, "lists and mappings are nested too deeply", DEPTH)
