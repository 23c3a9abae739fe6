"""``bears embeddings``: price and buy the vectors of a hosted model."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from bears.config import Config, build
from bears.errors import ConfigurationError
from bears.files.records import read_questions, stream_documents
from bears.files.rewritten import read_rewritten
from bears.retrieval.chunking import chunks
from bears.retrieval.models.encoder import Kind
from bears.retrieval.models.hosted import Cost, Hosted
from bears.retrieval.models.hosted_settings import hosted
from bears.selection.configuration import composed, files_of, made, selected
from bears.selection.spending import print_plan, spending

SLICE = 10_000
"""Texts that are processed together, so that a corpus may be larger than memory."""

Texts = Callable[[], Iterator[tuple[Kind, list[str]]]]


def plan(overrides: Sequence[str] = ()) -> None:
    """Estimate the cost of the missing vectors.

    Counts the chunks of documents and the questions of the selected benchmark whose vectors are
    not kept yet, their tokens, and their price.
    """
    _show_plan(*_encoder_and_texts(overrides))


def fill(overrides: Sequence[str] = (), *, yes: bool = False) -> None:
    """Buy the missing vectors.

    Shows the plan, then asks the retriever's model for every missing vector. Each vector is kept
    as soon as it arrives: stop it at any time, the next fill continues from there. Exits with 0
    only when nothing is missing.
    """
    encoder, texts = _encoder_and_texts(overrides)
    missing = _show_plan(encoder, texts)
    if not missing:
        print("nothing is missing")
        return
    done = 0
    with spending(missing, yes) as show:

        def progress(new: int, usd: float) -> None:
            nonlocal done
            done += new
            show(done, 0, usd)

        for kind, part in texts():
            encoder.fill(kind, part, progress)
    print(f"nothing is missing; US$ {encoder.spent:.4f} were spent")


COMMAND = {"plan": plan, "fill": fill}


def _encoder_and_texts(overrides: Sequence[str]) -> tuple[Hosted, Texts]:
    config = composed("", overrides)
    retriever = selected(config).retriever
    encoder = next(hosted(retriever), None)
    if not encoder:
        raise ConfigurationError(
            f"retriever {retriever.name} asks no provider for vectors; choose one "
            "that does, e.g. retriever=text-embedding-3-small"
        )
    files = files_of(config)
    made(config, "translate", files.queries, files.corpus)
    return build(encoder, "retriever.encoder"), lambda: _texts(config)


def _texts(config: Config) -> Iterator[tuple[Kind, list[str]]]:
    """Yield what the stages `index` and `retrieve` encode, in slices."""
    files, chunking = files_of(config), build(selected(config).chunking, "chunking")
    cut = (chunk.content for chunk in chunks(stream_documents(files.corpus), chunking))
    while part := list(islice(cut, SLICE)):
        yield "document", part
    (rewritten,) = made(config, "rewrite", files.rewritten(selected(config).rewriter.name))
    rows = read_rewritten(rewritten, read_questions(files.queries)).values()
    yield "question", [row.standalone_query for row in rows if row.search]


def _show_plan(encoder: Hosted, texts: Texts) -> int:
    """Print the plan and return how many vectors are missing."""
    costs: dict[Kind, Cost] = {"document": Cost(), "question": Cost()}
    for kind, part in texts():
        costs[kind] += encoder.cost(kind, part)
    total, settings = sum(costs.values(), Cost()), encoder.settings
    missing = [
        (f"{kind}s missing", f"{cost.missing:,} of {cost.texts:,}") for kind, cost in costs.items()
    ]
    rows = [
        ("model", f"{settings.model}, {settings.dimensions} dimensions"),
        ("vectors kept in", encoder.folder),
        *missing,
        ("tokens", "{:,} to {:,}".format(*total.tokens)),
        ("per million tokens", encoder.price.input),
    ]
    print_plan(rows, total.usd, settings.budget, encoder.price)
    return total.missing
