"""``python -m bears embeddings``: what a hosted model's vectors cost, and buying them."""

import argparse
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from bears.cli.selection import add_overrides, composed, rewritten_file
from bears.cli.spending import print_plan, spending
from bears.config import Config, build
from bears.errors import ConfigurationError
from bears.files.manifest import check
from bears.files.records import read_questions, stream_documents
from bears.files.rewritten import read_rewritten
from bears.retrieval.chunking import chunks
from bears.retrieval.models.encoder import Kind
from bears.retrieval.models.hosted import Cost, Hosted

TARGET = f"{Hosted.__module__}.{Hosted.__qualname__}"
SLICE = 10_000
"""Texts that are looked at together, so that a corpus may be larger than memory."""

Texts = Callable[[], Iterator[tuple[Kind, list[str]]]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of ``embeddings``."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    planning = commands.add_parser(
        "plan",
        help="what the missing vectors cost",
        description="Count the chunks of documents and the questions of the selected benchmark "
        "whose vectors are not kept yet, their tokens, and their price.",
    )
    planning.set_defaults(run=_plan)
    filling = commands.add_parser(
        "fill",
        help="buy the missing vectors",
        description="Show the plan, then ask the retriever's model for every missing vector. Each "
        "is kept as it comes: stop it at any time, the next fill goes on from there. Exits with 0 "
        "only when nothing is missing.",
    )
    filling.add_argument("--yes", action="store_true", help="do not ask before spending")
    filling.set_defaults(run=_fill)
    for command in (planning, filling):
        add_overrides(command)


def _plan(arguments: argparse.Namespace) -> None:
    encoder, texts = _work(arguments.overrides)
    _show(encoder, texts)


def _fill(arguments: argparse.Namespace) -> None:
    encoder, texts = _work(arguments.overrides)
    missing = _show(encoder, texts)
    if not missing:
        print("nothing is missing")
        return
    done = 0
    with spending(missing, arguments.yes) as show:

        def progress(came: int, usd: float) -> None:
            nonlocal done
            done += came
            show(done, 0, usd)

        for kind, part in texts():
            encoder.fill(kind, part, progress)
    print(f"nothing is missing; US$ {encoder.spent:.4f} were spent")


def _work(overrides: list[str]) -> tuple[Hosted, Texts]:
    config = composed("", overrides)
    found = list(hosted(config["retriever"]))
    if not found:
        raise ConfigurationError(
            f"retriever {config['retriever']['name']} asks no provider for vectors; choose one "
            "that does, e.g. retriever=text-embedding-3-small"
        )
    folder = Path("data") / config["benchmark"]["name"] / "translated"
    if not (folder / "corpus.json").is_file():
        raise ConfigurationError(
            f"{folder}/corpus.json does not exist; `dvc repro translate` makes it first"
        )
    check(folder)
    return build(found[0], "retriever.encoder"), lambda: _texts(config, folder)


def hosted(value: object) -> Iterator[Config]:
    """The hosted encoders within a retriever, however deep."""
    if isinstance(value, dict):
        if value.get("_target_") == TARGET:
            yield value
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from hosted(inner)


def _texts(config: Config, folder: Path) -> Iterator[tuple[Kind, list[str]]]:
    """What the stages index and retrieve encode, in slices."""
    chunking = build(config["chunking"], "chunking")
    cut = (chunk.content for chunk in chunks(stream_documents(folder / "corpus.json"), chunking))
    while part := list(islice(cut, SLICE)):
        yield "document", part
    asked = read_rewritten(rewritten_file(config), read_questions(folder / "queries.json")).values()
    yield "question", [each.standalone_query for each in asked if each.search]


def _show(encoder: Hosted, texts: Texts) -> int:
    """Print the plan; returns how many vectors are missing."""
    costs: dict[Kind, Cost] = {"document": Cost(), "question": Cost()}
    for kind, part in texts():
        costs[kind] += encoder.cost(kind, part)
    total, price, settings = sum(costs.values(), Cost()), encoder.price, encoder.settings
    rows = [
        ("model", f"{settings.model}, {settings.dimensions} dimensions"),
        ("vectors kept in", encoder.folder),
        *(
            (f"{kind}s missing", f"{cost.missing:,} of {cost.texts:,}")
            for kind, cost in costs.items()
        ),
        ("tokens", "{:,} to {:,}".format(*total.tokens)),
        ("price", "US$ {:.4f} to {:.4f}".format(*total.usd)),
        ("per million tokens", price.input),
    ]
    print_plan(rows, price, settings.budget)
    return total.missing
