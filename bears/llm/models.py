"""Where each model is and how to ask it, its request format and price, and token estimates.

The API key never enters a value that could be printed.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar, Literal

from dotenv import dotenv_values
from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt

from bears.config import read_mapping
from bears.config.packaged import conf_file
from bears.config.secrets import VARIABLE_FORM, check_address, is_variable
from bears.config.typed import parse
from bears.errors import ConfigurationError
from bears.files.intake.files import read_text
from bears.layout import CONF
from bears.types import ForbidsExtra

MESSAGE_TOKENS = 64
"""More tokens than the provider's own markup around the messages of one request."""
LONGEST_MESSAGE = 400
PROVIDER = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Price(ForbidsExtra):
    """US dollars per million tokens.

    Args:
        input: for tokens sent.
        output: for tokens received, including hidden reasoning tokens.
        cached_input: for sent tokens in the provider's cache; informational, since no estimate and
            no budget relies on it.
        date: the date of the source.
        source: where the price was found.
    """

    input: NonNegativeFloat
    output: NonNegativeFloat
    cached_input: NonNegativeFloat | None = None
    date: str = ""
    source: str = ""

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """Return the price of the tokens in dollars, as if none were cached."""
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000


@dataclass(frozen=True, slots=True)
class Model(ForbidsExtra):
    """What a model accepts.

    Args:
        refuses: parameters that it answers with 400, such as ``temperature``.
        limit: its name for the parameter that limits the length of a reply.
        price: None if it is not known.
    """

    refuses: tuple[str, ...] = ()
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class Models(ForbidsExtra):
    """The table of models. A dated snapshot, e.g. gpt-4o-2024-08-06, needs its own entry."""

    models: dict[str, Model] = field(default_factory=dict)

    def model(self, name: str) -> Model:
        """Return what ``name`` accepts; a model that is not in the table has plain defaults."""
        return self.models.get(name, Model())


def load_models(path: Path) -> Models:
    """Read conf/models.yaml.

    Raises:
        ConfigurationError: the file is absent or malformed.
    """
    return parse(
        Models, read_mapping(path, "it holds what each model accepts and costs"), str(path)
    )


def models_of(project: Path) -> Models:
    """Read conf/models.yaml of a project, or the shipped one if it has none."""
    return load_models(conf_file("models.yaml", project / CONF))


def estimate(text: str) -> tuple[int, int]:
    """Estimate the fewest and the most tokens of ``text`` from its UTF-8 bytes.

    English prose has about 4.5 bytes per token; Chinese, Japanese and Korean have 3 to 4.5; tables
    of digits and signs come near 2. For a strict upper bound, see `ceiling`.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    return size // 6, (size + 1) // 2


def ceiling(text: str) -> int:
    """Return an upper bound for any byte-level tokenizer: a token is at least one byte."""
    return len(text.encode("utf-8"))


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
        if self.price is not None:
            return replace(self.price, source=self.price.source or f"{self.where}.price")
        price = models.model(self.model).price
        if price is None:
            raise ConfigurationError(
                f"no price is known for the model {self.model!r}, so no budget could be kept. "
                f"Set one in US dollars per million tokens, {self.where}.price: "
                "{input: 0.40, output: 1.60}, or add the model to conf/models.yaml; a server of "
                "your own may cost {input: 0, output: 0}"
            )
        return price


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
    check_address(base_url, f"{endpoint.where}.base_url")
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

    def given_up(self, reasons: Sequence[str]) -> str:  # noqa: ARG002
        """Return what to publish for a request that was tried and failed.

        Args:
            reasons: why it failed.

        Returns:
            The text to publish; empty means that the reply stays missing.
        """
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
