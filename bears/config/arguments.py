"""Check settings against the class that takes them, before it is called."""

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from bears.errors import ConfigurationError
from bears.files.records import problems_of

PLAIN = (bool, int, float, str, NoneType)
EXACT = ConfigDict(strict=True, allow_inf_nan=False)
"""A word is not a truth value, and a number is not a text."""


def check_arguments(made: Callable[..., Any], settings: Mapping[str, Any], where: str) -> None:
    """Refuse settings that ``made`` does not take.

    Args:
        made: a class.
        settings: values by name.
        where: their place in the configuration.

    Raises:
        ConfigurationError: a setting is unknown, or a plain value (truth value, number, text, or
            several of them) does not have the type or bounds that the constructor declares.
    """
    taken = signature(made).parameters
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in taken.values()):
        return
    hints = get_type_hints(made.__init__, include_extras=True)
    if unknown := [key for key in settings if key not in taken]:
        raise ConfigurationError(
            f"{where} has no setting {', '.join(unknown)}; expected {', '.join(taken)}"
        )
    problems = []
    for key, part in settings.items():
        if _is_plain(hints.get(key)):
            try:
                TypeAdapter(hints[key], config=EXACT).validate_python(part)
            except ValidationError as error:
                problems.append(problems_of(error, f"{where}.{key}"))
    if problems:
        raise ConfigurationError("; ".join(problems))


def _is_plain(hint: Any) -> bool:
    kind, parts = get_origin(hint), get_args(hint)
    if kind is Annotated:
        return _is_plain(parts[0])
    if kind in (Union, UnionType, Mapping, Sequence):
        return all(map(_is_plain, parts))
    return hint in PLAIN or kind is Literal
