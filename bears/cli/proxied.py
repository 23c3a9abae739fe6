"""``bears replies serve``: serve kept replies to tools that have no cache of their own."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bears.cli.selection import composed, files_of
from bears.config import Config, checkout
from bears.config.typed import Keys, select
from bears.errors import ConfigurationError
from bears.files.shown import complain
from bears.llm.kept import Kept, extend
from bears.llm.proxy import NAME, Proxy, ProxySettings, proxied
from bears.llm.server import serving


@dataclass(frozen=True)
class ProxyKeys(Keys):
    """The keys of the configuration that the proxy reads."""

    proxy: ProxySettings


def proxy_of(config: Config) -> tuple[ProxySettings, Kept]:
    """Return how the proxied models are asked, and their kept replies."""
    return select(ProxyKeys, config).proxy, Kept(NAME, files_of(config).replies(NAME), checkout())


def publish(kept: Kept, proxy: Proxy) -> None:
    """Write the replies that were used to the published file."""
    total, new = extend(kept.replies, kept.name, proxy.used.values())
    print(f"{kept.replies}: {total} entries, {new} of them new")


def serve(
    overrides: Sequence[str] = (),
    *,
    ask: bool = False,
    publish: bool = False,
    port: int = 0,
    benchmark: str = "",
) -> None:
    """Serve kept replies over the OpenAI protocol on loopback.

    Serves data/memory/BENCHMARK.proxied.jsonl and the journal to any tool that speaks the OpenAI
    protocol, on 127.0.0.1 with a key of its own, until it is interrupted. A request that is in
    neither gets 404, or with --ask goes to the models of conf/proxy, within their budgets, and the
    reply is kept.

    Args:
        ask: ask the models of conf/proxy for what is missing
        publish: at the end, write what was used to data/memory
        port: default: any free port
    """
    if not 0 <= port < 2**16:
        raise ConfigurationError(f"--port is {port}; expected a number from 0 to 65535")
    asyncio.run(_served(composed(benchmark, overrides), ask, publish, port))


async def _served(config: Config, ask: bool, publishing: bool, port: int) -> None:
    settings, kept = proxy_of(config)
    async with proxied(settings, kept, ask) as proxy:
        try:
            async with serving(proxy, settings.models, port) as address:
                print(f"export OPENAI_BASE_URL={address.base_url}")
                print(f"export OPENAI_API_KEY={address.key}", flush=True)
                others = "sent to the models" if ask else "answered with 404"
                complain(f"kept replies are replayed, other requests are {others}; Ctrl-C ends it")
                await asyncio.Event().wait()
        finally:
            complain(
                f"{len(proxy.used)} requests answered, {proxy.asked} of them by asking a model, "
                f"for US$ {proxy.spent:.4f}; {len(proxy.missed)} missed"
            )
            if publishing:
                publish(kept, proxy)
