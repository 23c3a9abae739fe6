"""Turn parts of the composed configuration into settings classes, or build what they name."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from bears.config.arguments import check_arguments
from bears.config.named import named
from bears.errors import ConfigurationError
from bears.files.records import adapter_of, problems_of

RETRIEVAL = "bears.retrieval"
"""The room that defines most of what configurations build."""

T = TypeVar("T")


class Keys:
    """Marks a frozen dataclass whose fields are keys of the composed configuration.

    A field of such a type holds keys one level down: a field ``benchmark`` of a type with the
    field ``name`` stands for ``benchmark.name``.
    """

    __slots__ = ()


K = TypeVar("K", bound=Keys)


def keys_of(settings: type[Keys]) -> list[str]:
    """Return the dotted keys that a settings class declares, sorted."""
    found = []
    for name, kind in _fields(settings).items():
        inner = keys_of(kind) if _is_keys(kind) else []
        found += [f"{name}.{key}" for key in inner] or [name]
    return sorted(found)


def select(settings: type[K], config: Mapping[str, Any], where: str = "the configuration") -> K:
    """Parse the keys that a settings class declares; the rest of ``config`` is ignored.

    Args:
        where: what the message calls ``config`` when a key is missing.

    Raises:
        ConfigurationError: a key is missing, or a value does not fit.
    """
    return parse(settings, pick(config, keys_of(settings), where), "")


def pick(config: Mapping[str, Any], keys: Iterable[str], where: str) -> dict[str, Any]:
    """Return the part of ``config`` below the given dotted keys.

    Raises:
        ConfigurationError: a key is missing.
    """
    part: dict[str, Any] = {}
    for key in keys:
        source: Any = config
        target = part
        *parents, last = key.split(".")
        try:
            for name in parents:
                source, target = source[name], target.setdefault(name, {})
            target[last] = source[last]
        except (KeyError, TypeError):
            raise ConfigurationError(
                f"{where} has no key {key}; compose it again with `dvc repro config`"
            ) from None
    return part


def parse(shape: type[T], value: Any, where: str) -> T:
    """Build the dataclass ``shape`` from plain values, refusing wrong types and unknown keys.

    Args:
        shape: a dataclass; unknown keys are refused if it is `Closed`.
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

    ``name`` belongs to the configuration and is left out. Parts with a ``_target_`` of their own
    are built first.

    Raises:
        ConfigurationError: there is no such class, or it refuses the arguments.
    """
    made = named(value.get("_target_"), room, f"{where}._target_")
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


def _fields(settings: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(settings)
    return {field.name: hints[field.name] for field in fields(settings)}


def _is_keys(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Keys)
