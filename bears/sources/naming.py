"""What the fields of a shape are called in a source: our word, its usual names, or what conf says.

A reader knows one word for each thing. The words that published sets use for it are tried in their
order, and ``fields`` of a source names any other; so a new set needs no code. A name with dots is a
path (``answers.text``), unless the row has a field of that very name. Names hold at every depth of
a row.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter

from bears.errors import ConfigurationError, MalformedRow
from bears.sources.parts import Parts
from bears.sources.rows import check_row

Words = Mapping[str, tuple[str, ...]]
"""Our word for a field to the other names that it goes by."""
Id = Annotated[str, BeforeValidator(lambda id_: str(id_) if type(id_) is int else id_)]
"""Ids are texts; people who write such files by hand also write numbers."""


MOST = 1000
"""Sets of keys that are remembered; an object whose keys are ids has others in every row."""


class Naming:
    """From the words of a source to those of a shape.

    Args:
        words: the shape's.
        parts: the source; its ``fields`` are our words and the names that go before all others.

    Raises:
        ConfigurationError: ``fields`` has a word that the shape does not know.
    """

    def __init__(self, words: Words, parts: Parts) -> None:
        if unknown := sorted(set(parts.fields) - set(words)):
            raise ConfigurationError(
                f"sources.{parts.name}.fields: no field is called {', '.join(unknown)}; this shape "
                f"has {', '.join(words) or 'none that can be renamed'}"
            )
        self._parts = parts
        self._by_keys: dict[tuple[str, ...], list[tuple[str, list[str]]]] = {}
        self._names = {
            word: (parts.fields[word], word) if word in parts.fields else (word, *names)
            for word, names in words.items()
        }

    def check(
        self, shape: Callable[[Any], TypeAdapter[Any]], row: Any, file: str, number: int
    ) -> Any:
        """A row in our words, validated against the shape that ``shape`` gives for it.

        Raises:
            MalformedRow: naming file, row and, in the row's own words, the first field that does
                not fit.
        """
        renamed = self.renamed(row)
        try:
            return check_row(shape(renamed), renamed, file, number)
        except MalformedRow as error:
            raise self._in_their_words(error, row) from None

    def renamed(self, value: Any) -> Any:
        """A row with our words beside its own."""
        if isinstance(value, list):
            # Texts hold no names, and a row may have thousands.
            deep = any(isinstance(each, list | dict) for each in value[:1])
            return [self.renamed(each) for each in value] if deep else value
        if not isinstance(value, dict):
            return value
        named = {
            key: self.renamed(inner) if isinstance(inner, list | dict) else inner
            for key, inner in value.items()
        }
        for word, names in self._sought(tuple(value)):
            if (name := next((name for name in names if _has(value, name)), None)) is None:
                continue
            if self._parts.fields.get(word) == name:
                self._parts.met.add(word)
            if name != word:
                named[word] = self.renamed(_at(value, name))
        return named

    def _sought(self, keys: tuple[str, ...]) -> list[tuple[str, list[str]]]:
        """The words that rows with these keys may call otherwise; most rows have the same keys."""
        if keys not in self._by_keys:
            found = {
                word: [n for n in names if n in keys or n.partition(".")[0] in keys]
                for word, names in self._names.items()
            }
            told = self._parts.fields
            if len(self._by_keys) > MOST:
                self._by_keys.clear()
            self._by_keys[keys] = [
                (word, names)
                for word, names in found.items()
                if names[:1] != [word] or word in told
            ]
        return self._by_keys[keys]

    def called(self, row: Mapping[str, Any], word: str) -> str:
        """What a row calls the field of our word; the word itself where it has none such."""
        return next((name for name in self._names[word] if _has(row, name)), word)

    def _in_their_words(self, error: MalformedRow, row: Any) -> MalformedRow:
        path: list[str] = []
        value = inner = row
        for part in error.field.split("."):
            inner = value if isinstance(value, dict) else {}
            name = self.called(inner, part) if part in self._names else part
            path.append(name)
            if isinstance(value, list) and part.isdigit() and int(part) < len(value):
                value = value[int(part)]
            else:
                value = _at(inner, name) if _has(inner, name) else None
        there = f"; there: {', '.join(inner):.200}" if error.problem == "Field required" else ""
        return MalformedRow(error.file, error.row, ".".join(path), error.problem + there)


def _has(value: Mapping[str, Any], name: str) -> bool:
    first, dot, rest = name.partition(".")
    inner = value.get(first)
    return name in value or bool(dot and isinstance(inner, dict) and _has(inner, rest))


def _at(value: Mapping[str, Any], name: str) -> Any:
    if name in value:
        return value[name]
    first, _, rest = name.partition(".")
    return _at(value[first], rest)
