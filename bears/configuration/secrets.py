"""No secret passes through the configuration: it is written to files that are in git."""

import os
import re
from collections.abc import Iterator
from typing import Any

from bears.errors import ConfigurationError
from bears.formats.addresses import holds_password

MEND = (
    "It would be written to data/config.yaml and dvc.lock, which are in git. Take it out, put the "
    "key into an environment variable or into .env, and name that variable in the setting "
    "api_key_env"
)
VARIABLE = re.compile(r"\w*(key|token|secret|password|passwd)s?", re.IGNORECASE)
SETTING = re.compile(r"(api|access|auth)?_?(key|token|secret)|password|passwd", re.IGNORECASE)
KEY = re.compile(
    r"\b(sk-(proj-|svcacct-|admin-)?\w{20}|hf_[A-Za-z]{30}|gh[pousr]_\w{30}|AKIA[A-Z0-9]{16})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
)
SHORTEST = 8
"""Characters of an environment variable's value under which it is also an everyday word."""


def refuse_secrets(config: Any) -> None:
    """Refuse a configuration that holds a key or a password; the message never shows it.

    A key is what a setting of such a name holds, what looks like one, or what an environment
    variable of such a name holds.

    Raises:
        ConfigurationError: naming the setting, and how keys are given.
    """
    known = {
        value: name
        for name, value in os.environ.items()
        if VARIABLE.fullmatch(name) and len(value) >= SHORTEST
    }
    for place, name, text in _texts(config, ""):
        if problem := _secret_in(name, text, known):
            raise ConfigurationError(f"{place} holds {problem}. {MEND}")


def _secret_in(name: str, text: str, known: dict[str, str]) -> str:
    """What is secret of a setting and its text, in words; empty: nothing."""
    for value, variable in known.items():
        if value in text:
            return f"what the environment variable {variable} holds"
    if holds_password(text):
        return "an address with a user's name, a password or a key in it"
    if KEY.search(text) or (text and SETTING.fullmatch(name)):
        return "what looks like a key"
    if name.endswith("_env") and not re.fullmatch(r"\w*", text):
        return "something that is no name of an environment variable"
    return ""


def _texts(value: Any, place: str, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Every text: where it is, what the setting is called, the text; names are texts as well."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield f"a name in {place or 'the configuration'}", "", str(key)
            yield from _texts(part, f"{place}.{key}".lstrip("."), str(key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _texts(part, f"{place}.{number}", name)
    elif isinstance(value, str):
        yield place, name, value
