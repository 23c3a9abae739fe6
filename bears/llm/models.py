"""The request format and price of each model, from conf/models.yaml, and token estimates."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import NonNegativeFloat

from bears.config import parse, read_mapping
from bears.config.packaged import conf_file
from bears.errors import ConfigurationError
from bears.layout import CONF
from bears.types import ForbidsExtra

MILLION = 1_000_000
MESSAGE_TOKENS = 64
"""More tokens than the provider's own markup around the messages of one request."""


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
        return (input_tokens * self.input + output_tokens * self.output) / MILLION


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

    def price_of(self, name: str, where: str = "translator") -> Price:
        """Return the price of ``name``.

        Args:
            name: the model.
            where: the configuration key that can set a price, for the message.

        Raises:
            ConfigurationError: the price is unknown.
        """
        price = self.model(name).price
        if price is None:
            raise ConfigurationError(
                f"no price is known for the model {name!r}, so no budget could be kept. "
                f"Set one in US dollars per million tokens, {where}.price: "
                "{input: 0.40, output: 1.60}, or add the model to conf/models.yaml; a server of "
                "your own may cost {input: 0, output: 0}"
            )
        return price


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
