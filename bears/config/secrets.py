"""Keep secrets out of the configuration, which is written to files in git."""

import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from bears.errors import ConfigurationError
from bears.files.intake.yaml_text import table_of
from bears.files.visible import holds_password

_TABLE = table_of(__file__)
REMEDY = (
    "It would be written to data/config.yaml and dvc.lock, which are in git. Take it out, put the "
    "key into an environment variable or into .env, and name that variable in the setting "
    "api_key_env, or url_env for an address with a key"
)
VARIABLE_FORM = (
    "which has at most 64 capital letters, digits and underscores, such as OPENAI_API_KEY"
)
VARIABLE = re.compile(r"\w*(key|token|secret|password|passwd)s?", re.IGNORECASE)
SETTING = re.compile("|".join(_TABLE["settings"]), re.IGNORECASE)
"""Settings and HTTP headers that hold a secret."""
NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
"""The name of an environment variable, in a setting that ends in ``_env``."""
KEY = re.compile("|".join(_TABLE["keys"]))
SHORTEST = 8
"""Shorter values of environment variables may be everyday words."""
ADDRESS = re.compile(r"://(\S*)")
COMMIT = re.compile(r"[0-9a-f]{40}")
"""A Git revision, which is part of the addresses of data."""
UNBROKEN = re.compile(r"[A-Za-z0-9]{16,}")
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
SHORT_WORDS = 3.3
"""A run of letters and digits is random if the mean length of its words is below this. The mean is
about 2 in base64 and hexadecimal, and above 3.3 even in ``MyNewDatasetForRAGOf2024``."""


def refuse_secrets(config: Any) -> None:
    """Refuse a configuration that holds a key or a password; the message never shows it.

    A value counts as a secret if its setting has such a name, if it looks like a key, or if an
    environment variable with such a name holds it.

    Raises:
        ConfigurationError: naming the setting, and how to provide a key.
    """
    known = {
        value: name
        for name, value in os.environ.items()
        if VARIABLE.fullmatch(name) and len(value) >= SHORTEST
    }
    for place, name, text in _texts(config, ""):
        if problem := _secret_in(name, text, known):
            raise ConfigurationError(f"{place} holds {problem}. {REMEDY}")


def check_address(address: str, where: str) -> None:
    """Raise ConfigurationError unless a text is an HTTP address; never show it.

    Args:
        where: the setting that holds it, for the message.
    """
    try:
        parts = urlsplit(address)
        right = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        right = None
    if not right or not address.isprintable() or " " in address:
        raise ConfigurationError(
            f"{where} is not the address of a server; expected http://HOST:PORT/PATH, or https, "
            "with a port from 1 to 65535"
        )


def _secret_in(name: str, text: str, known: dict[str, str]) -> str:
    """Describe the secret in a setting; return an empty text without one."""
    for value, variable in known.items():
        if value in text:
            return f"what the environment variable {variable} holds"
    if holds_password(text):
        return "an address with more than a scheme, a host, a port and a path, which may be a key"
    if KEY.search(text) or (text and SETTING.fullmatch(name)):
        return "what looks like a key"
    if any(
        _is_random(part) for rest in ADDRESS.findall(text) for part in re.split(r"[/\\.:]", rest)
    ):
        return (
            "an address with a long random-looking part, which may be a key (if the server needs "
            "it there, put the address into .env: as OPENAI_BASE_URL, with an empty base_url, or "
            "under the name that url_env has)"
        )
    if name.endswith("_env") and not is_variable(text):
        return f"a text that cannot be the name of an environment variable, {VARIABLE_FORM}"
    return ""


def is_variable(name: str) -> bool:
    """Return whether ``name`` may name an environment variable; an empty one names none."""
    return not name or bool(NAME.fullmatch(name) and not KEY.search(name) and not _is_random(name))


def _is_random(text: str) -> bool:
    """Return whether ``text`` holds a long run without words, as keys do."""
    if COMMIT.fullmatch(text):
        return False
    return any(len(run) < SHORT_WORDS * len(WORD.findall(run)) for run in UNBROKEN.findall(text))


def _texts(value: Any, place: str, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the place, the setting's name and the text of every text, names included."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield f"a name in {place or 'the configuration'}", "", str(key)
            yield from _texts(part, f"{place}.{key}".lstrip("."), str(key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _texts(part, f"{place}.{number}", name)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        # YAML reads a key of digits as a number.
        yield place, name, str(value)
