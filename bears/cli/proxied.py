"""The memory that tools use which know of none: opened, and served by ``memory serve``."""

import argparse
import asyncio
from pathlib import Path

from bears.cli.selection import add_selection, composed
from bears.config import Config, checkout, parse
from bears.files.shown import complain
from bears.llm.kept import Kept, extend
from bears.llm.proxy import NAME, Proxy, ProxySettings, proxied
from bears.llm.server import serving


def proxy_of(config: Config) -> tuple[ProxySettings, Kept]:
    """How the models behind the memory are asked, and the memory of the selected benchmark."""
    settings = parse(ProxySettings, config["proxy"], "proxy")
    memory = Path("data/memory") / f"{config['benchmark']['name']}.{NAME}.jsonl"
    return settings, Kept(NAME, memory, checkout())


def publish(kept: Kept, proxy: Proxy) -> None:
    """Write what was used into the published memory."""
    total, new = extend(kept.memory, kept.name, proxy.used.values())
    print(f"{kept.memory}: {total} entries, {new} of them new")


def add_serve(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``memory serve``."""
    parser = commands.add_parser(
        "serve",
        help="an OpenAI-compatible server on loopback that answers from the memory",
        description="Serve data/memory/BENCHMARK.proxied.jsonl and the journal to any tool "
        "that speaks the OpenAI protocol, on 127.0.0.1 with a key of its own, until it is "
        "interrupted. What is in neither is answered with 404, or with --ask by the models of "
        "conf/proxy, within their budgets, and kept.",
    )
    parser.add_argument(
        "--ask", action="store_true", help="ask the models of conf/proxy for what is missing"
    )
    parser.add_argument(
        "--publish", action="store_true", help="at the end, write what was used into data/memory"
    )
    parser.add_argument("--port", type=_port, default=0, help="default: any that is free")
    add_selection(parser)
    parser.set_defaults(run=_serve)


def _port(word: str) -> int:
    if not (word.isdecimal() and int(word) < 2**16):
        raise argparse.ArgumentTypeError(f"{word!r} is not a port, a whole number under 65536")
    return int(word)


def _serve(arguments: argparse.Namespace) -> None:
    settings, kept = proxy_of(composed(arguments.benchmark, arguments.overrides))
    asyncio.run(_served(settings, kept, arguments))


async def _served(settings: ProxySettings, kept: Kept, arguments: argparse.Namespace) -> None:
    async with proxied(settings, kept, arguments.ask) as proxy:
        try:
            async with serving(proxy, settings.models, arguments.port) as address:
                print(f"export OPENAI_BASE_URL={address.base_url}")
                print(f"export OPENAI_API_KEY={address.key}", flush=True)
                told = "the rest is asked" if arguments.ask else "the rest is answered with 404"
                complain(f"what the memory has is replayed, {told}; Ctrl-C ends it")
                await asyncio.Event().wait()
        finally:
            complain(
                f"{len(proxy.used)} requests answered, {proxy.asked} of them by asking a model, "
                f"for US$ {proxy.spent:.4f}; {len(proxy.missed)} missed"
            )
            if arguments.publish:
                publish(kept, proxy)
