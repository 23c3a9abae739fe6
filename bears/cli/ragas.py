"""``bears ragas``: the four metrics of RAGAS, replayed from kept replies."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.answers.ragas.rows import COLUMNS, RagasRow, answered_rows, read_rows
from bears.answers.ragas.run import HEADER, MISSING, cells, python, running, summary
from bears.answers.ragas.use import RagasSettings, RagasUse
from bears.cli.answers import add_row
from bears.config import Config
from bears.config.shape import source_of
from bears.config.typed import configured, parse
from bears.errors import ConfigurationError, RepliesMissing
from bears.files.benchmark_state import BenchmarkState, heading
from bears.files.records import digest_of, sha256_of, write_json
from bears.files.spreadsheet import write_csv
from bears.llm.fill import FillReport
from bears.llm.workflow import Workflow
from bears.results.records import Records
from bears.selection.configuration import composed, files_of, selected
from bears.selection.filling import REMEDY, Consent, filled
from bears.selection.spending import ask_missing, show_plan
from bears.selection.spending import publish as publish_replies
from bears.selection.uses import generated_answers


def score(
    file: Path | None = None,
    overrides: Sequence[str] = (),
    *,
    plan: bool = False,
    fill: bool = False,
    yes: bool = False,
    publish: bool = False,
    out: Path | None = None,
    system: str = "",
    benchmark: str = "",
) -> None:
    """Score answers by faithfulness, answer relevancy, context precision and context recall.

    The package ragas computes them, in an environment of its own (`make ragas`). Its requests to
    models are answered from kept replies; with --fill, missing replies are bought within a budget
    and kept. A row without a score is counted, and does not enter a mean.

    Args:
        file: CSV of question, ground_truth, answer and contexts (a JSON list); what it lacks of
            the last two is asked of the selected retriever and generator; default: the answers of
            these to the selected benchmark
        plan: only show what is missing, and its price
        fill: ask the models of conf/ragas, and for answers the generator, for what is missing
        publish: write the replies that were used to data/memory, for git
        out: a .json file for the scores; those of each row go to a .csv file beside it, and rows
            that were filled to a .rows.csv file
    """
    python()
    if out and out.suffix != ".json":
        raise ConfigurationError(f"--out is {out}; name a .json file")
    if file and "=" in file.name:
        # Without a file this is the first override.
        file, overrides = None, [str(file), *overrides]
    config = composed(benchmark, overrides)
    file, rows = _rows(file, config)
    state = _state(rows, config)
    if system and state is None:
        raise ConfigurationError(
            f"--system {system}: the questions of {file} are not all those of "
            f"{selected(config).benchmark.name}, each once; leave --system out"
        )
    lacking = sum(bool(row.lacks) for row in rows)
    rows = filled(rows, config, Consent(plan, fill and not plan, yes, publish and not plan))
    settings = parse(RagasSettings, config["ragas"], "ragas")
    with running(rows, asdict(settings)) as evaluate:
        use = RagasUse(rows, settings, evaluate)
        workflow = Workflow(use, files_of(config).replies(use.name))
        if plan:
            show_plan(workflow, workflow.plan())
            return
        report = ask_missing(workflow, yes) if fill else FillReport()
        workflow.resolve()
    found = use.found
    encoder = {"encoder": use.encoder.identity} if use.encoder else {}
    about = state.as_dict() if state else {"name": selected(config).benchmark.name}
    result: dict[str, Any] = {
        "benchmark": about | {"questions": len(rows)},
        "input": {"name": file.name, "sha256": sha256_of(file), **_by(rows, lacking, config)},
        "models": {"chat": settings.model, "embeddings": settings.embeddings, **encoder},
        "versions": found.versions,
        "metrics": summary(found.scores, len(rows)),
    }
    if out:
        write_json(out, result)
        rows_of = cells(found.scores, [row.question for row in rows])
        write_csv(out.with_suffix(".csv"), HEADER, rows_of)
        if lacking:
            write_csv(out.with_suffix(".rows.csv"), COLUMNS, [row.cells for row in rows])
    print(_table(result))
    if publish:
        publish_replies(workflow)
    waiting = sum(metric["unscored"].get(MISSING, 0) for metric in result["metrics"].values())
    if waiting:
        wanted = sum(metric["n_total"] for metric in result["metrics"].values())
        remedy = report.stopped or REMEDY
        raise RepliesMissing(f"replies for {waiting} of {wanted} scores are missing; {remedy}")
    if system and state:
        _put_on_board(state, system, result)


COMMAND = score


def _rows(file: Path | None, config: Config) -> tuple[Path, list[RagasRow]]:
    """Return the file that is scored, and its rows."""
    generator = selected(config).generator.name
    if file:
        return file, read_rows(file, gaps=generator != "none")
    if generator == "none":
        raise ConfigurationError(
            f"generator is {generator}; choose another one, or name a FILE of answers"
        )
    answers, task = generated_answers(config)
    return answers, answered_rows(task, answers)


def _state(rows: Sequence[RagasRow], config: Config) -> BenchmarkState | None:
    """Return the state of the selected benchmark; None if it lacks one of the questions."""
    files = files_of(config)
    if not files.queries.is_file():
        return None
    origin = source_of(selected(config).sources)
    records = configured(Records, config)(files.translated, origin)
    own = Counter(question.question.strip() for question in records.source)
    return records.state if Counter(row.question.strip() for row in rows) <= own else None


def _by(rows: Sequence[RagasRow], lacking: int, config: Config) -> dict[str, Any]:
    """Return how many rows were filled, by what, and with what; nothing if none was."""
    digest, by = digest_of({"rows": [row.cells for row in rows]}), selected(config).generator.name
    return {"filled": {"rows": lacking, "generator": by, "sha256": digest}} if lacking else {}


def _table(result: Mapping[str, Any]) -> str:
    """Return a table of the means, and of the rows that do not enter them."""
    lines = [
        [
            name,
            "–" if metric["mean"] is None else f"{metric['mean']:.4f}",
            f"{metric['n_scored']} of {metric['n_total']}",
            ", ".join(f"{n} {reason}" for reason, n in metric["unscored"].items()),
        ]
        for name, metric in result["metrics"].items()
    ]
    table = tabulate(lines, ["metric", "mean", "scored", "not scored"], disable_numparse=True)
    return f"{heading(result['benchmark'], result['input']['name'])}\n\n{table}"


def _put_on_board(state: BenchmarkState, system: str, result: Mapping[str, Any]) -> None:
    metrics, versions = result["metrics"], result["versions"]
    add_row(
        state,
        system,
        digest_of({name: result[name] for name in ("input", "models", "versions")}),
        {name: metric["mean"] for name, metric in metrics.items()},
        [
            f"{name} of {metric['n_scored']} of {state.questions} questions"
            for name, metric in metrics.items()
            if metric["n_scored"] < state.questions
        ],
        judge=f"ragas {versions['ragas']}, {result['models']['chat']}",
    )
