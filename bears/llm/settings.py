"""How a model is asked for what the memory lacks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bears.errors import ConfigurationError
from bears.llm.endpoint import Endpoint
from bears.llm.kept import key_of
from bears.llm.models import Models, Price


@dataclass(frozen=True, kw_only=True)
class AskingSettings(Endpoint):
    """One conf/<use>/<name>.yaml. See conf/endpoint/openai.yaml for what each field means.

    ``model`` is empty where answers come from elsewhere.
    """

    name: str
    model: str = ""
    request: Mapping[str, Any] = field(default_factory=dict)
    backend: Literal["online", "batch"] = "online"
    asks: int = 3
    limit: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.asks < 1:
            raise ConfigurationError(f"{self.where}.asks is {self.asks}; expected 1 or more")
        if self.limit is not None and self.limit < 1:
            raise ConfigurationError(
                f"{self.where}.limit is {self.limit}; expected 1 or more, or null for all"
            )

    def key_of_said(self, use: str, prompt_version: int, system: str, user: str) -> str:
        """The key of what ``use`` asks where nothing but the model and the words decide."""
        return key_of(
            {
                "use": use,
                "model": self.model,
                "request": self.request,
                "prompt_version": prompt_version,
                "system": system,
                "user": user,
            }
        )

    def given_up(self, reasons: Sequence[str]) -> str:
        """What is published of a request that was tried and failed.

        Args:
            reasons: why it failed.

        Returns:
            Empty: nothing is, so that it stays missing.
        """
        del reasons
        return ""

    def price_in(self, models: Models) -> Price:
        """What tokens cost.

        Raises:
            ConfigurationError: there is no model, or nobody knows its price.
        """
        if not self.model:
            raise ConfigurationError(
                f"{self.where} {self.name} has no model: nothing is asked. Choose one that has"
            )
        price = super().price_in(models)
        return price.in_batches() if self.backend == "batch" else price
