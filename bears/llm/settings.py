"""The settings of a use that asks a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import PositiveInt

from bears.errors import ConfigurationError
from bears.llm.endpoint import Endpoint
from bears.llm.models import Models, Price


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
