"""What each model accepts and costs, read from conf/models.yaml, and estimates of tokens."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self

from bears.config import parse, read_mapping
from bears.errors import ConfigurationError
from bears.types import Closed

MILLION = 1_000_000
MESSAGE_TOKENS = 64
"""More than the provider's own markup around the messages of one request costs."""


@dataclass(frozen=True, slots=True)
class Price(Closed):
    """US dollars per million tokens.

    Args:
        input: for tokens that are sent.
        output: for tokens that are answered, the hidden ones of reasoning included.
        cached_input: for sent tokens that the provider still remembers; for the record, as no
            estimate and no budget counts on it.
        batch: what the batch API's price is multiplied by.
        date: the day of the source.
        source: where the price was read.
    """

    input: float
    output: float
    cached_input: float | None = None
    batch: float = 0.5
    date: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if min(self.input, self.output, self.cached_input or 0, self.batch) < 0:
            raise ConfigurationError("a price cannot be negative")

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """What so many tokens cost, in dollars, as if none were cached."""
        return (input_tokens * self.input + output_tokens * self.output) / MILLION

    def in_batches(self) -> Self:
        """The price through the batch API."""
        return replace(
            self, input=self.input * self.batch, output=self.output * self.batch, batch=1
        )


@dataclass(frozen=True, slots=True)
class Model(Closed):
    """What a model accepts.

    Args:
        refuses: parameters that it answers with 400, such as ``temperature``.
        limit: the name under which it takes the bound of its answer.
        price: None where it is not known.
    """

    refuses: tuple[str, ...] = ()
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class Models(Closed):
    """The table of models. A dated snapshot (gpt-4o-2024-08-06) that is absent is not known."""

    models: dict[str, Model] = field(default_factory=dict)

    def model(self, name: str) -> Model:
        """What ``name`` accepts; plain defaults and no price for one that is not in the table."""
        return self.models.get(name, Model())

    def price_of(self, name: str, where: str = "translator") -> Price:
        """What ``name`` costs.

        Args:
            where: the key of the configuration that can give a price, for the message.

        Raises:
            ConfigurationError: nobody has said so.
        """
        price = self.model(name).price
        if price is None:
            raise ConfigurationError(
                f"no price is known for the model {name!r}, and a budget without a price would "
                "hold nothing back. Give one in US dollars per million tokens, "
                f"{where}.price: {{input: 0.40, output: 1.60}}, or add the model to "
                "conf/models.yaml; a server of your own may cost {input: 0, output: 0}"
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


def estimate(text: str) -> tuple[int, int]:
    """The least and the most tokens that ``text`` has, from its UTF-8 bytes alone.

    English prose has about 4.5 bytes to a token, Chinese, Japanese and Korean 3 to 4.5; tables of
    digits and signs come near 2. For what must never be passed, see `ceiling`.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    return size // 6, (size + 1) // 2


def ceiling(text: str) -> int:
    """A bound that no byte-level tokenizer can pass: a token is one byte or more."""
    return len(text.encode("utf-8"))
