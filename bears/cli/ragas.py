"""``python -m bears ragas``: the four metrics of RAGAS, replayed from the memory."""

import argparse
import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.answers.ragas.plan import planned
from bears.answers.ragas.rows import RagasRow, answered_rows, read_rows
from bears.answers.ragas.run import python, scored
from bears.answers.ragas.scores import HEADER, METRICS, UNANSWERED, Score, cells, summary
from bears.cli.board_row import on_board
from bears.cli.proxied import proxy_of, publish
from bears.cli.selection import add_selection, composed, state_of
from bears.cli.spending import Show, spending
from bears.cli.uses import generated_answers
from bears.config import Config
from bears.errors import ConfigurationError, MemoryMiss
from bears.files.benchmark_state import BenchmarkState, heading
from bears.files.digest import digest_of, sha256_of
from bears.files.records import read_questions, write_json
from bears.files.spreadsheet import write_csv
from bears.layout import BenchmarkFiles
from bears.llm.kept import Kept
from bears.llm.proxy import Proxy, ProxySettings, prices, proxied
from bears.llm.server import serving


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``ragas``."""
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
        nargs="?",
        help="CSV of question, ground_truth, answer and contexts (a JSON list); default: what the "
        "selected generator answered to the selected benchmark",
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
        "--out",
        type=Path,
        help="a .json file for the scores; those of each row are beside it, .csv",
    )
    parser.add_argument(
        "--system", default="", help="put the means on the leaderboard, as this system's"
    )
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
    if arguments.out and arguments.out.suffix != ".json":
        raise ConfigurationError(f"--out is {arguments.out}; name a .json file")
    if arguments.file and "=" in arguments.file.name:
        # The first override, where no file is named.
        arguments.overrides, arguments.file = [str(arguments.file), *arguments.overrides], None
    config = composed(arguments.benchmark, arguments.overrides)
    file, rows = _rows(arguments.file, config)
    state = _state(rows, config)
    if arguments.system and state is None:
        raise ConfigurationError(
            f"--system {arguments.system}: the questions of {file} are not all those of "
            f"{config['benchmark']['name']}, each once; leave --system out"
        )
    settings, kept = proxy_of(config)
    found = asyncio.run(_evaluated(rows, settings, kept, ask=False))
    if arguments.plan or arguments.fill:
        _show_plan(rows, settings, kept, found.proxy)
    if arguments.plan:
        return
    if arguments.fill and found.proxy.missed:
        with spending(len(rows) * len(METRICS), arguments.yes) as show:
            found = asyncio.run(_evaluated(rows, settings, kept, ask=True, show=show))
        print(f"{found.proxy.asked} requests were asked; US$ {found.proxy.spent:.4f} were spent")
    benchmark = state.told() if state else {"name": config["benchmark"]["name"]}
    result = {
        "benchmark": benchmark | {"questions": len(rows)},
        "input": {"name": file.name, "sha256": sha256_of(file)},
        "models": dict(zip(("chat", "embeddings"), settings.models, strict=True)),
        "versions": found.versions,
        "metrics": summary(found.scores, len(rows)),
    }
    if arguments.out:
        write_json(arguments.out, result)
        rows_of = cells(found.scores, [row.question for row in rows])
        write_csv(arguments.out.with_suffix(".csv"), HEADER, rows_of)
    print(_table(result))
    if arguments.publish:
        publish(kept, found.proxy)
    _check_whole(result["metrics"], found.proxy.problem)
    if arguments.system and state:
        _put_on_board(state, arguments.system, result)


def _rows(file: Path | None, config: Config) -> tuple[Path, list[RagasRow]]:
    """Return what is scored, and the file that it comes from."""
    if file:
        return file, read_rows(file)
    if config["generator"]["name"] == "none":
        raise ConfigurationError("generator is none; choose another one, or name a FILE of answers")
    answers, task = generated_answers(config)
    return answers, answered_rows(task, answers)


def _state(rows: Sequence[RagasRow], config: Config) -> BenchmarkState | None:
    """Return the state of the selected benchmark; None where not all questions are its own."""
    files = BenchmarkFiles(config["benchmark"]["name"])
    if not files.queries.is_file():
        return None
    own = [question.question.strip() for question in read_questions(files.queries)]
    asked = Counter(row.question.strip() for row in rows)
    return state_of(files.translated, config) if asked <= Counter(own) else None


async def _evaluated(
    rows: Sequence[RagasRow],
    settings: ProxySettings,
    kept: Kept,
    ask: bool,
    show: Show | None = None,
) -> Evaluated:
    async with (
        proxied(settings, kept, ask) as proxy,
        serving(proxy, settings.models) as address,
    ):

        def progress(done: int) -> None:
            if show:
                show(done, 0, proxy.spent)

        server = address.base_url, address.key, settings.models
        return Evaluated(*await scored(rows, *server, progress), proxy)


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


def _table(result: Mapping[str, Any]) -> str:
    """Return the means, with what is no part of them, below what they are of."""
    lines = [
        [
            name,
            "–" if each["mean"] is None else f"{each['mean']:.4f}",
            f"{each['n_scored']} of {each['n_total']}",
            ", ".join(f"{n} {reason}" for reason, n in each["unscored"].items()),
        ]
        for name, each in result["metrics"].items()
    ]
    told = tabulate(lines, ["metric", "mean", "scored", "not scored"], disable_numparse=True)
    return f"{heading(result['benchmark'], result['input']['name'])}\n\n{told}"


def _check_whole(metrics: Mapping[str, Mapping[str, Any]], problem: str) -> None:
    """Raise MemoryMiss where scores need answers that the memory does not have.

    Args:
        problem: why a model gave none; empty where none was asked.
    """
    unscored = sum((Counter(each["unscored"]) for each in metrics.values()), Counter[str]())
    lacking = sum(unscored[reason] for reason in UNANSWERED.values())
    wanted = sum(each["n_total"] for each in metrics.values())
    if lacking:
        remedy = (
            f"{problem}. --fill again goes on from there"
            if problem
            else "see what they cost with --plan, and ask for them with --fill"
        )
        raise MemoryMiss(f"the memory lacks answers for {lacking} of {wanted} scores; {remedy}")


def _put_on_board(state: BenchmarkState, system: str, result: Mapping[str, Any]) -> None:
    metrics, versions = result["metrics"], result["versions"]
    on_board(
        state,
        system,
        digest_of({name: result[name] for name in ("input", "models", "versions")}),
        {name: each["mean"] for name, each in metrics.items()},
        [
            f"{name} of {each['n_scored']} of {state.questions} questions"
            for name, each in metrics.items()
            if each["n_scored"] < state.questions
        ],
        judge=f"ragas {versions['ragas']}, {result['models']['chat']}",
    )
