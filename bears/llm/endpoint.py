"""Where a model is and how to ask it. The API key never enters a value that could be printed."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar, Literal

from dotenv import dotenv_values
from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt

from bears.config.secrets import VARIABLE_FORM, is_variable
from bears.errors import ConfigurationError
from bears.files.intake.files import read_text
from bears.llm.models import Models, Price
from bears.types import ForbidsExtra

LONGEST_MESSAGE = 400
PROVIDER = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Endpoint(ForbidsExtra):
    """A model behind an OpenAI-compatible address; the settings of each use extend it.

    Args:
        model: the model's name there.
        base_url: the address up to ``/v1``; empty: ``OPENAI_BASE_URL``, or the provider's own.
        api_key_env: the environment variable with the API key; empty: the server needs no key.
        concurrency: the most requests in flight.
        requests_per_minute, tokens_per_minute: rate limits; None: those that the server reports.
        timeout_s: how long one attempt may take.
        attempts: how often to try a request. A 429 counts as an attempt only if it asks for a wait
            of more than ten seconds.
        backoff_s: the wait before the second attempt; it doubles each time.
        price: overrides conf/models.yaml.
        budget: the most US dollars that one run may cost; None: no limit.
        fill: whether a stage may ask for missing replies by itself.
    """

    where: ClassVar[str] = "translator"
    """The configuration key of these settings, for messages."""

    model: str
    base_url: str = ""
    api_key_env: str = "OPENAI_API_KEY"
    concurrency: PositiveInt = 16
    requests_per_minute: PositiveFloat | None = None
    tokens_per_minute: PositiveFloat | None = None
    timeout_s: PositiveFloat = 120.0
    attempts: PositiveInt = 6
    backoff_s: NonNegativeFloat = 1.0
    price: Price | None = None
    budget: NonNegativeFloat | None = None
    fill: Literal["never", "auto"] = "never"

    def __post_init__(self) -> None:
        check_variable(self.api_key_env, f"{self.where}.api_key_env")

    def price_in(self, models: Models) -> Price:
        """Return the price set here, or else the table's. Raises ConfigurationError without one."""
        if self.price is None:
            return models.price_of(self.model, self.where)
        return replace(self.price, source=self.price.source or f"{self.where}.price")


@dataclass(frozen=True, slots=True)
class Access:
    """The address and the API key. Neither ``repr`` nor a message shows the key."""

    base_url: str
    _key: str = field(repr=False)

    def key(self) -> str:
        """Return the API key, for the client only."""
        return self._key or "no-key-needed"

    def clean(self, text: str) -> str:
        """Remove the API key, which a server may echo, and shorten the text."""
        return (text.replace(self._key, "[key]") if self._key else text)[:LONGEST_MESSAGE]


def find_access(endpoint: Endpoint, env_folder: Path | None = None) -> Access:
    """Find the address and the API key in the environment, or in ``.env`` of ``env_folder``.

    Raises:
        ConfigurationError: the key is missing, or has characters that no key has.
    """
    known, name = environment(env_folder), endpoint.api_key_env
    base_url = (endpoint.base_url or known.get("OPENAI_BASE_URL") or PROVIDER).rstrip("/")
    if not base_url.startswith(("http://", "https://")):
        raise ConfigurationError(f"{endpoint.where}.base_url: {base_url!r} is not an http address")
    key = value_of(name, f"{endpoint.where}.api_key_env", env_folder)
    if not name and base_url == PROVIDER:
        raise ConfigurationError(
            f"{PROVIDER} needs a key: name its variable, "
            f"{endpoint.where}.api_key_env=OPENAI_API_KEY"
        )
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError(f"the value of {name} has characters that an API key cannot have")
    return Access(base_url, key)


def check_variable(name: str, where: str) -> None:
    """Raise ConfigurationError if ``name`` cannot be an environment variable; never show it.

    Args:
        name: the value to check.
        where: the setting that holds it.
    """
    if not is_variable(name):
        raise ConfigurationError(
            f"{where} is not the name of an environment variable, {VARIABLE_FORM}. If it is the "
            "key itself, put the key into .env and name its variable here"
        )


def value_of(name: str, where: str, env_folder: Path | None) -> str:
    """Return the value of the variable ``name``; empty if that is empty.

    Args:
        where: the setting that names it, for the message.

    Raises:
        ConfigurationError: the variable is not set.
    """
    value = environment(env_folder).get(name, "").strip()
    if name and not value:
        raise ConfigurationError(
            f"the environment variable {name} is not set. Set it, or write {name}=… into .env; if "
            f"the server needs none: {where}=''"
        )
    return value


def has_key(endpoint: Endpoint, env_folder: Path | None = None) -> bool:
    """Return whether the API key is set, or not needed."""
    name = endpoint.api_key_env
    return not name or bool(environment(env_folder).get(name, "").strip())


def environment(folder: Path | None) -> Mapping[str, str]:
    """Return the variables of this process, and below them those of ``.env`` in ``folder``.

    Raises:
        FormatError: ``.env`` is not UTF-8.
    """
    file = folder / ".env" if folder else None
    text = read_text(file) if file and file.is_file() else ""
    written = dotenv_values(stream=StringIO(text), interpolate=False)
    return {**{name: value for name, value in written.items() if value}, **os.environ}


@dataclass(frozen=True, kw_only=True)
class AskingSettings(Endpoint):
    """One conf/<use>/<name>.yaml. See conf/endpoint/openai.yaml for the meaning of each field.

    ``model`` is empty if the replies come from elsewhere.
    """

    name: str
    model: str = ""
    request: Mapping[str, Any] = field(default_factory=dict)
    asks: PositiveInt = 3

    def given_up(self, reasons: Sequence[str]) -> str:
        """Return what to publish for a request that was tried and failed.

        Args:
            reasons: why it failed.

        Returns:
            The text to publish; empty means that the reply stays missing.
        """
        del reasons
        return ""

    def price_in(self, models: Models) -> Price:
        """Return the price of tokens.

        Raises:
            ConfigurationError: there is no model, or its price is unknown.
        """
        if not self.model:
            raise ConfigurationError(
                f"{self.where} {self.name} has no model to ask; choose one that has"
            )
        return super().price_in(models)
