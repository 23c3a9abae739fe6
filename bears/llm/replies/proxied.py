"""A memory opened for other programs: with a model behind it, or as it is."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from bears.errors import ConfigurationError
from bears.llm.client.budget import Budget
from bears.llm.client.endpoint import Endpoint
from bears.llm.client.forward import forwarding
from bears.llm.client.models import Price, load_models
from bears.llm.replies.kept import Kept
from bears.llm.replies.proxy import Proxy, Upstream
from bears.types import Closed


@dataclass(frozen=True)
class ChatSettings(Endpoint):
    """The model that is asked; see conf/proxy/openai.yaml."""

    where: ClassVar[str] = "proxy.chat"

    output_tokens: int = 4096

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.output_tokens < 1:
            raise ConfigurationError(
                f"{self.where}.output_tokens is {self.output_tokens}; expected 1 or more"
            )


@dataclass(frozen=True)
class EmbeddingSettings(Endpoint):
    """The model that gives vectors; see conf/proxy/openai.yaml."""

    where: ClassVar[str] = "proxy.embeddings"


@dataclass(frozen=True)
class ProxySettings(Closed):
    """One conf/proxy/<name>.yaml."""

    name: str
    chat: ChatSettings
    embeddings: EmbeddingSettings

    @property
    def models(self) -> tuple[str, str]:
        """Of chat and of embeddings."""
        return self.chat.model, self.embeddings.model


@asynccontextmanager
async def proxied(settings: ProxySettings, kept: Kept, ask: bool) -> AsyncIterator[Proxy]:
    """The memory, and while the block runs the models behind it.

    Args:
        settings: the models, and how they are asked.
        kept: the memory of `bears.llm.replies.proxy.NAME`.
        ask: whether what is missing is asked for; else nothing is, and no key is needed.

    Raises:
        ConfigurationError: there is no price or no key.
    """
    chat, vectors = settings.chat, settings.embeddings
    if not ask:
        yield Proxy(kept.known(), None, chat.output_tokens)
        return
    budgets = [
        Budget(each.budget, price, each.where)
        for each, price in zip((chat, vectors), prices(settings, kept.root), strict=True)
    ]
    with kept.journal.exclusive(), kept.journal.writer() as append:
        async with (
            forwarding(chat, "/chat/completions", budgets[0], kept.root) as talk,
            forwarding(vectors, "/embeddings", budgets[1], kept.root) as embed,
        ):
            yield Proxy(kept.known(), Upstream(talk, embed, append), chat.output_tokens)


def prices(settings: ProxySettings, root: Path) -> tuple[Price, Price]:
    """What tokens of chat and of embeddings cost.

    Args:
        root: the checkout with conf/models.yaml.

    Raises:
        ConfigurationError: nobody has said so.
    """
    models = load_models(root / "conf" / "models.yaml")
    return settings.chat.price_in(models), settings.embeddings.price_in(models)
