"""The fields of a row by our words, whatever a source calls them.

A reader knows one word for each field. The names that published sets use for it are tried in their
order, and ``fields`` of a source adds any other, so that a new set needs no code. A name with dots
is a path (``answers.text``), unless the row has a field of that very name. Names hold at every
depth of a row.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

from bears.errors import ConfigurationError

Words = Mapping[str, tuple[str, ...]]
"""Our word for a field to the other names that it goes by."""
Id = Annotated[str, BeforeValidator(lambda id_: str(id_) if type(id_) is int else id_)]
"""Ids are texts; people who write such files by hand also write numbers."""
_MISSING = object()


class RenamedRow(dict[str, Any]):
    """A row with our words after the names that it has itself, the first ``own`` ones."""

    own = 0


class Naming:
    """Translates the names of a source's fields into the words of a shape.

    Args:
        words: the words of the shape.
        fields: our words to the names that this source uses, which go before all others.
        source: the name of the source, for messages.
        met: collects those words of ``fields`` that some row had.

    Raises:
        ConfigurationError: ``fields`` has a word that the shape does not know.
    """

    def __init__(self, words: Words, fields: Mapping[str, str], source: str, met: set[str]) -> None:
        if unknown := sorted(set(fields) - set(words)):
            raise ConfigurationError(
                f"sources.{source}.fields: no field is called {', '.join(unknown)}; this shape "
                f"has {', '.join(words) or 'no field that can be renamed'}"
            )
        self._fields, self._met = fields, met
        self._names = {
            word: (fields[word], word) if word in fields else (word, *names)
            for word, names in words.items()
        }
        others = [n for word, names in self._names.items() for n in names if n != word]
        # The first part of a path, or the whole of it.
        self._renamed = {*others, *(name.partition(".")[0] for name in others), *fields.values()}

    def renamed(self, value: Any) -> Any:
        """Return a row with our words beside its own."""
        if isinstance(value, list):
            # Texts hold no names, and a row may have thousands.
            deep = any(isinstance(item, list | dict) for item in value[:1])
            return [self.renamed(item) for item in value] if deep else value
        if not isinstance(value, dict):
            return value
        row = RenamedRow(
            (key, self.renamed(inner) if isinstance(inner, list | dict) else inner)
            for key, inner in value.items()
        )
        row.own = len(row)
        if self._renamed.isdisjoint(value):
            return row
        for word, names in self._names.items():
            for name in names:
                if (inner := _at(value, name)) is not _MISSING:
                    if self._fields.get(word) == name:
                        self._met.add(word)
                    if name != word:
                        row[word] = self.renamed(inner)
                    break
        return row


def _at(value: Any, name: str) -> Any:
    if not isinstance(value, dict):
        return _MISSING
    if name in value:
        return value[name]
    first, dot, rest = name.partition(".")
    return _at(value[first], rest) if dot and first in value else _MISSING
