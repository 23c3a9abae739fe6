"""Where a model is, and the key to it. The key never enters a value that could be printed."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import ClassVar, Literal

from dotenv import dotenv_values

from bears.config.secrets import VARIABLE_FORM, is_variable
from bears.errors import ConfigurationError
from bears.files.intake.files import read_text
from bears.llm.models import Models, Price
from bears.types import Closed

LONGEST_MESSAGE = 400
PROVIDER = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Endpoint(Closed):
    """A model behind an OpenAI-compatible address; settings of what asks one extend it.

    Args:
        model: its name there.
        base_url: the address up to ``/v1``; empty: ``OPENAI_BASE_URL``, or the provider's.
        api_key_env: the environment variable that holds the key; empty: the server wants none.
        concurrency: how many requests are in flight at most.
        requests_per_minute, tokens_per_minute: limits to keep; None: those the server tells.
        timeout_s: how long one attempt may take.
        attempts: how often a request is tried; an answer of 429 counts if it asks for a wait of
            more than ten seconds.
        backoff_s: the wait before the second attempt; it doubles each time.
        price: overrides conf/models.yaml.
        budget: US dollars that one run may cost at most; None: no limit.
        fill: whether a stage may ask by itself for what is missing.
    """

    where: ClassVar[str] = "translator"
    """The key of the configuration that these settings stand under, for messages."""

    model: str
    base_url: str = ""
    api_key_env: str = "OPENAI_API_KEY"
    concurrency: int = 16
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    timeout_s: float = 120.0
    attempts: int = 6
    backoff_s: float = 1.0
    price: Price | None = None
    budget: float | None = None
    fill: Literal["never", "auto"] = "never"

    def __post_init__(self) -> None:
        limits = (self.requests_per_minute, self.tokens_per_minute)
        positive = (self.concurrency, self.timeout_s, self.attempts, *limits)
        if any(value is not None and value <= 0 for value in positive) or self.backoff_s < 0:
            raise ConfigurationError(
                f"{self.where}: concurrency, timeout_s, attempts, requests_per_minute and "
                "tokens_per_minute must be above 0, and backoff_s not below"
            )
        check_variable(self.api_key_env, f"{self.where}.api_key_env")
        if self.budget is not None and not self.budget >= 0:
            raise ConfigurationError(
                f"{self.where}.budget is {self.budget}; expected US dollars, 0 or more, or null"
            )

    def price_in(self, models: Models) -> Price:
        """The price given here, or else the table's. Raises ConfigurationError without either."""
        if self.price is None:
            return models.price_of(self.model, self.where)
        return replace(self.price, source=self.price.source or f"{self.where}.price")


@dataclass(frozen=True, slots=True)
class Access:
    """The address and the key, found. Neither ``repr`` nor a message shows the key."""

    base_url: str
    _key: str = field(repr=False)

    def key(self) -> str:
        """The key, for the client alone."""
        return self._key or "none"

    def clean(self, text: str) -> str:
        """What a server said, without the key that it may have echoed, short enough to read."""
        return (text.replace(self._key, "[key]") if self._key else text)[:LONGEST_MESSAGE]


def find_access(endpoint: Endpoint, env_folder: Path | None = None) -> Access:
    """Find the address and the key in the environment, or else in ``.env`` of ``env_folder``.

    Raises:
        ConfigurationError: the key is missing or cannot be one.
    """
    known = environment(env_folder)
    base_url = (endpoint.base_url or known.get("OPENAI_BASE_URL") or PROVIDER).rstrip("/")
    if not base_url.startswith(("http://", "https://")):
        raise ConfigurationError(f"{endpoint.where}.base_url: {base_url!r} is no http address")
    name = endpoint.api_key_env
    key = known.get(name, "").strip() if name else ""
    if name and not key:
        raise ConfigurationError(
            f"the environment variable {name} holds no key. Set it, or write {name}=… into .env; "
            f"for a server that wants none: {endpoint.where}.api_key_env=''"
        )
    if not name and base_url == PROVIDER:
        raise ConfigurationError(
            f"{PROVIDER} wants a key: name its variable, "
            f"{endpoint.where}.api_key_env=OPENAI_API_KEY"
        )
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError(f"what {name} holds is no key: it has characters no key has")
    return Access(base_url, key)


def check_variable(name: str, where: str) -> None:
    """Raise ConfigurationError if ``name`` cannot be an environment variable; never show it.

    Args:
        where: the setting that holds ``name``.
    """
    if not is_variable(name):
        raise ConfigurationError(
            f"{where} is not the name of an environment variable, {VARIABLE_FORM}. If it is the "
            "key itself, put the key into .env and name its variable here"
        )


def has_key(endpoint: Endpoint, env_folder: Path | None = None) -> bool:
    """Whether the key is there, or none is wanted."""
    name = endpoint.api_key_env
    return not name or bool(environment(env_folder).get(name, "").strip())


def environment(folder: Path | None) -> Mapping[str, str]:
    """The variables of this process, and below them those of ``.env`` in ``folder``.

    Raises:
        FormatError: ``.env`` is not UTF-8.
    """
    file = folder / ".env" if folder else None
    text = read_text(file) if file and file.is_file() else ""
    written = dotenv_values(stream=StringIO(text), interpolate=False)
    return {**{name: value for name, value in written.items() if value}, **os.environ}
