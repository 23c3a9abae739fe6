"""``python -m bears ragas``: the four metrics of RAGAS, replayed from the memory."""

import argparse
import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.answers.ragas.plan import planned
from bears.answers.ragas.rows import RagasRow, read_rows
from bears.answers.ragas.run import python, scored
from bears.answers.ragas.scores import METRICS, Score, summary
from bears.cli.filling import fill, show_plan
from bears.cli.proxied import proxy_of, publish
from bears.cli.ragas_inputs import answering, with_answers, with_contexts
from bears.cli.ragas_report import check_whole, described, table, write
from bears.cli.ragas_row import ragas_row
from bears.cli.selection import add_selection, composed
from bears.cli.spending import show, spending
from bears.config import Config
from bears.errors import ConfigurationError, MemoryMiss
from bears.files.shown import complain, one_line
from bears.llm.kept import Kept
from bears.llm.proxy import Proxy, ProxySettings, prices, proxied
from bears.llm.server import serving
from bears.publishing.leaderboard.board import BOARD
from bears.publishing.leaderboard.publish import publish as publish_rows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``ragas``."""
    parser.description = (
        "Score answers by faithfulness, answer relevancy, context precision and context recall. "
        "The package ragas computes them, in an environment of its own (`make ragas`); what it "
        "asks a model is replayed from the memory, and with --fill asked within a budget and kept. "
        "A row that it cannot score is counted, and is no part of a mean."
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        type=Path,
        help="CSV of question, ground_truth and, if known, answer and contexts (a JSON list)",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--plan", action="store_true", help="only say what is missing, and its price")
    mode.add_argument(
        "--fill", action="store_true", help="ask the models of conf/proxy for what is missing"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask before spending")
    parser.add_argument(
        "--publish", action="store_true", help="write what was used into data/memory, for git"
    )
    parser.add_argument(
        "--out", type=Path, help="a JSON file for the scores; those of each row lie beside it, .csv"
    )
    parser.add_argument(
        "--top",
        type=int,
        help="documents of the selected retriever, where contexts are missing (default: as many as "
        "the selected generator is shown, or 5)",
    )
    parser.add_argument("--system", default="", help="on the leaderboard; default: FILE's name")
    parser.add_argument("--no-board", action="store_true", help="leave the leaderboard alone")
    add_selection(parser)
    parser.set_defaults(run=_ragas)


@dataclass(frozen=True)
class Evaluated:
    """What ragas said of rows, and what of the memory it took."""

    versions: dict[str, str]
    scores: list[Score]
    proxy: Proxy


def _ragas(arguments: argparse.Namespace) -> None:
    python()
    _check(arguments)
    config = composed(arguments.benchmark, arguments.overrides)
    settings, kept = proxy_of(config)
    given, unread = read_rows(arguments.file)
    if unread:
        complain(f"{arguments.file}: nothing looks at {one_line(', '.join(unread), 200)}")
    rows = _completed(with_contexts(given, config, arguments.top), config, arguments)
    found = rows and _found(rows, settings, kept, arguments)
    if not rows or not found:
        return
    result = {
        **described(arguments.file, given, rows, config),
        "models": dict(zip(("chat", "embeddings"), settings.models, strict=True)),
        "versions": found.versions,
        "metrics": summary(found.scores, len(rows)),
    }
    if arguments.out:
        write(arguments.out, result, found.scores, [row.question for row in rows])
    print(table(result))
    if arguments.publish:
        publish(kept, found.proxy)
    check_whole(result["metrics"], found.proxy.problem)
    if not arguments.no_board:
        _put_on_board(arguments, config, rows, result)


def _check(arguments: argparse.Namespace) -> None:
    if arguments.top is not None and arguments.top < 1:
        raise ConfigurationError(f"--top is {arguments.top}; expected 1 or more")
    if arguments.out and arguments.out.suffix == ".csv":
        raise ConfigurationError(
            f"--out is {arguments.out}; name a .json file, beside which the .csv of its rows lies"
        )


def _found(
    rows: Sequence[RagasRow], settings: ProxySettings, kept: Kept, arguments: argparse.Namespace
) -> Evaluated | None:
    """What the memory gives, or with ``--fill`` the models too; None: the plan was all."""
    found = asyncio.run(_evaluated(rows, settings, kept, ask=False))
    if arguments.plan or arguments.fill:
        _show_plan(rows, settings, kept, found.proxy)
    if arguments.plan:
        return None
    if arguments.fill and found.proxy.missed:
        with spending(len(rows) * len(METRICS), arguments.yes) as bar:
            found = asyncio.run(_evaluated(rows, settings, kept, True, partial(show, bar)))
        print(f"{found.proxy.asked} requests were asked; US$ {found.proxy.spent:.4f} were spent")
    return found


def _completed(
    rows: list[RagasRow], config: Config, arguments: argparse.Namespace
) -> list[RagasRow] | None:
    """The rows with the selected generator's answers; None where their price was all to be said."""
    lacking = sum(row.answer is None for row in rows)
    work = answering(rows, config) if lacking else None
    if work is None:
        if lacking:
            complain(f"{lacking} rows have no answer, and generator: none gives them none")
        return rows
    if lacking := len(work.resolve().missing) if work.use.settings.model else 0:
        if arguments.plan:
            show_plan(work, work.plan())
            print("what ragas asks follows from these answers: --fill, then --plan again")
            return None
        if not arguments.fill:
            raise MemoryMiss(
                f"the memory lacks {lacking} {work.use.wanted}; see what they cost with --plan, "
                "and ask for them with --fill"
            )
        fill(work, arguments.yes)
    if arguments.publish and work.use.settings.model:
        work.publish()
    return with_answers(rows, work)


async def _evaluated(
    rows: Sequence[RagasRow],
    settings: ProxySettings,
    kept: Kept,
    ask: bool,
    progress: Callable[[int, float], None] = lambda *_: None,
) -> Evaluated:
    async with (
        proxied(settings, kept, ask) as proxy,
        serving(proxy, settings.models) as address,
    ):
        done = 0

        def told(more: int = 1) -> None:
            nonlocal done
            done += more
            progress(done, proxy.spent)

        try:
            versions, scores = await scored(
                rows, address.base_url, address.key, settings.models, told
            )
        finally:
            # Much may have been asked since the last score.
            told(0)
        return Evaluated(versions, scores, proxy)


def _show_plan(rows: Sequence[RagasRow], settings: ProxySettings, kept: Kept, proxy: Proxy) -> None:
    plan = planned(rows, proxy, *prices(settings, kept.root))
    budgets = (settings.chat.budget, settings.embeddings.budget)
    told = ["no limit" if each is None else f"US$ {each}" for each in budgets]
    lines: list[list[object]] = [
        ["models", " and ".join(settings.models)],
        ["in memory already", plan.replayed],
        ["calls", f"{plan.calls} chat, vectors of {plan.texts} texts"],
        ["price", "US$ {:.4f} to {:.4f}".format(*plan.usd)],
        ["budget", f"{told[0]} for chat, {told[1]} for vectors"],
    ]
    print(tabulate(lines, tablefmt="plain", disable_numparse=True))


def _put_on_board(
    arguments: argparse.Namespace,
    config: Config,
    rows: Sequence[RagasRow],
    result: dict[str, Any],
) -> None:
    system = one_line(arguments.system or arguments.file.stem)
    row = ragas_row(config, system, [each.question for each in rows], result)
    if row is None:
        print("not all questions are the benchmark's, each once: no row on the leaderboard")
    else:
        publish_rows(BOARD, [row], {})
        print(f"{BOARD}: {row.system}")
