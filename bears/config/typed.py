"""Turn parts of the composed configuration into settings classes, or build what they name."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from bears.config.packaged import CODE_FOLDERS
from bears.errors import ConfigurationError
from bears.files.records import adapter_of, problems_of
from bears.types import ForbidsExtra

PLAIN = (bool, int, float, str, NoneType)
EXACT = ConfigDict(strict=True, allow_inf_nan=False)
"""A word is not a truth value, and a number is not a text."""
RETRIEVAL = "bears.retrieval"
"""The room that defines most of what configurations build."""
T = TypeVar("T")


def keys_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the keys of the configuration that a function reads, with their types.

    They are its parameters that can only be given by name.
    """
    annotated: Any = vars(function)["__init__"] if isinstance(function, type) else function
    hints = get_type_hints(annotated, include_extras=True)
    parameters = signature(function).parameters.items()
    return {name: hints[name] for name, each in parameters if each.kind is Parameter.KEYWORD_ONLY}


def configured(
    function: Callable[..., T], config: Mapping[str, Any], where: str = "the configuration"
) -> Callable[..., T]:
    """Return a function without the parameters that `keys_of` names: ``config`` has their values.

    Args:
        function: a function or a class, such as the ``main`` of a stage.
        where: what the message calls ``config`` when a key is missing.

    Raises:
        ConfigurationError: a key is missing, or a value does not fit its annotation.
    """
    kinds = keys_of(function)
    values = pick(config, kinds, where)
    return partial(function, **{key: parse(kinds[key], values[key], key) for key in kinds})


def pick(config: Mapping[str, Any], keys: Iterable[str], where: str) -> dict[str, Any]:
    """Return the part of ``config`` under the given keys.

    Raises:
        ConfigurationError: a key is missing.
    """
    wanted = list(keys)
    if missing := [key for key in wanted if key not in config]:
        raise ConfigurationError(
            f"{where} has no key {missing[0]}, so another version of BEARS made it; make it anew "
            "with `dvc repro config`, or an export with `bears export`"
        )
    return {key: config[key] for key in wanted}


def parse(shape: type[T], value: Any, where: str) -> T:
    """Build the dataclass ``shape`` from plain values, refusing wrong types and unknown keys.

    Args:
        shape: a dataclass; unknown keys are refused if it is `ForbidsExtra`.
        value: what the configuration holds at ``where``.

    Raises:
        ConfigurationError: naming each value that does not fit.
    """
    adapter: TypeAdapter[T] = adapter_of(shape)
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        raise ConfigurationError(problems_of(error, where)) from None


def build(value: Mapping[str, Any], where: str, room: str = RETRIEVAL) -> Any:
    """Call the class of ``room`` that ``value["_target_"]`` names, with the other values.

    Settings (`ForbidsExtra`) are parsed, name included. For another class, ``name`` belongs to the
    configuration and is left out, and parts with a ``_target_`` of their own are built first.

    Raises:
        ConfigurationError: there is no such class, or it refuses the arguments.
    """
    made = named(value.get("_target_"), room, f"{where}._target_")
    if isinstance(made, type) and issubclass(made, ForbidsExtra):
        return parse(made, {key: part for key, part in value.items() if key != "_target_"}, where)
    settings = {
        key: _built(part, f"{where}.{key}", room)
        for key, part in value.items()
        if key not in ("_target_", "name")
    }
    check_arguments(made, settings, where)
    try:
        return made(**settings)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{where}: {error}") from None


def _built(part: Any, where: str, room: str) -> Any:
    if isinstance(part, Mapping):
        if "_target_" in part:
            return build(part, where, room)
        return {key: _built(inner, f"{where}.{key}", room) for key, inner in part.items()}
    if isinstance(part, list):
        return [_built(inner, f"{where}.{place}", room) for place, inner in enumerate(part)]
    return part


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


def named(name: object, room: str, where: str) -> Any:
    """Return the class or function that ``room`` or the project defines under a dotted name.

    Args:
        name: the full name, such as ``bears.retrieval.sparse.bm25.BM25``.
        room: the package of ours that may define it.
        where: its place in the configuration.

    Raises:
        ConfigurationError: neither defines that name.
    """
    expected = (
        f"{where} is {name!r}; expected the full name of something that {room} or a module of this "
        "project defines"
    )
    if not isinstance(name, str) or not re.fullmatch(r"\w+(\.[A-Za-z]\w*)+", name):
        raise ConfigurationError(expected)
    module, _, last = name.rpartition(".")
    if not (f"{module}.".startswith(f"{room}.") or in_project(module)):
        raise ConfigurationError(expected)
    try:
        found = getattr(import_module(module), last, None)
    except ImportError as error:
        raise ConfigurationError(f"{expected} ({error})") from None
    # What ours import belongs to another module. A project's own may be decorated, or partial.
    ours = not in_project(module) and getattr(found, "__module__", None) != module
    if not callable(found) or ours:
        raise ConfigurationError(expected)
    return found


def in_project(module: str) -> bool:
    """Return whether a module is a file of the project in the working directory."""
    words = module.split(".")
    files = (Path(*words[:-1], f"{words[-1]}.py"), Path(*words, "__init__.py"))
    return words[0] not in ("", *CODE_FOLDERS) and any(file.is_file() for file in files)
