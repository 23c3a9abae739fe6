"""YAML from outside: plain values, without the constructs that let few lines become many."""

import re
from pathlib import Path
from typing import Any

import yaml

from bears.errors import FormatError
from bears.files.intake.files import read_text
from bears.files.intake.limits import beyond, limits

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml where it is there, ten times faster; it crashes on what is nested too deeply."""
MOST = 1_000_000
"""Values that aliases may stand for, of which each may stand for all that the file holds."""


def yaml_value(source: Path | str, where: str = "") -> Any:
    """The value of a YAML file, or of a text that holds one.

    Args:
        source: the file, or the text.
        where: what the text is, which messages begin with; a file is named by its path.

    Raises:
        FormatError: there is no such file; it is not UTF-8 or not YAML; a key stands twice in one
            mapping; aliases stand within what has an anchor, or for too much; it is too deep or too
            long.
    """
    if isinstance(source, Path):
        source, where = read_text(source), where or str(source)
    size = len(source.encode("utf-8", "replace"))
    if size > limits().text_bytes:
        raise beyond(where, f"it has {size} bytes", "text_bytes")
    try:
        _check(source, where)
        return yaml.load(source, LOADER)
    except (yaml.YAMLError, ValueError) as error:
        reason = re.sub(r"\s+", " ", str(error)).replace('in "<unicode string>", ', "at ")
        raise FormatError(f"{where}: not valid YAML ({reason})") from None


def _check(text: str, where: str) -> None:
    """Look at a text as libyaml reads it, before anything is made of it."""
    bounds = limits()
    number = re.compile(rf"[-+]?[0-9a-fx_:.]{{{bounds.digits + 1},}}", re.IGNORECASE)
    around: list[_Collection] = []
    nodes = aliases = 0
    for event in yaml.parse(text, LOADER):
        if isinstance(event, yaml.CollectionEndEvent):
            around.pop()
        if not isinstance(event, yaml.NodeEvent):
            continue
        line = f"{where}, line {event.start_mark.line + 1}"  # type: ignore[union-attr]
        if around:
            around[-1].take(event, line)
        nodes += 1
        if isinstance(event, yaml.AliasEvent):
            aliases += 1
            if aliases * nodes > MOST or any(each.anchored for each in around):
                raise FormatError(f"{line}: its aliases stand for too much; write the value out")
        elif isinstance(event, yaml.CollectionStartEvent):
            around.append(_Collection(event))
            if len(around) > bounds.depth:
                raise beyond(line, "lists and mappings are nested too deeply", "depth")
        elif isinstance(event, yaml.ScalarEvent) and number.match(event.value):
            raise beyond(line, f"a number has {len(event.value)} digits", "digits")


class _Collection:
    """A list or a mapping whose parts go by."""

    def __init__(self, event: yaml.CollectionStartEvent) -> None:
        self.anchored = bool(event.anchor)
        self._keys: set[str] | None = set() if isinstance(event, yaml.MappingStartEvent) else None
        self._next_is_key = True

    def take(self, event: yaml.NodeEvent, line: str) -> None:
        """Take the beginning of a part. Raises FormatError for a key that stands twice."""
        if self._keys is None:
            return
        if self._next_is_key and isinstance(event, yaml.ScalarEvent):
            if event.value in self._keys:
                raise FormatError(f"{line}: the key {event.value!r:.80} stands twice")
            self._keys.add(event.value)
        self._next_is_key = not self._next_is_key
