"""judge: answers against gold → a verdict, scores and a cause for each question; the headline."""

from typing import TYPE_CHECKING, Any

from bears.config import Config
from bears.config.pipeline import Paths, exit_with
from bears.files.headline import write_headline
from bears.files.records import read_json, write_json
from bears.files.spreadsheet import write_csv

if TYPE_CHECKING:
    from bears.answers.judging.bench import Rulings
    from bears.answers.judging.hearing import Hearing


def main(config: Config, paths: Paths) -> None:
    """Score and judge every answer; without a generator there are none.

    Needs no key and no network, unless the judge says fill: auto.
    """
    if config["generator"]["name"] == "none":
        write_csv(paths["questions"], ["question_id"], [])
        write_json(paths["metrics"], {})
        write_headline(paths["headline"], config["headline"], read_json(paths["retrieval"]), {})
        return
    # Without a generator nothing of this is needed, and that run is to cost next to nothing.
    from bears.answers.judging.files import read_hearing
    from bears.answers.judging.judged import results_of
    from bears.answers.judging.tables import table, write_judged

    generator = config["generator"]
    context = generator.get("context", "retrieved")
    run = paths["within" if generator.get("within") else "run"]
    run_shown = run if context == "retrieved" else None
    hearing = read_hearing(paths, config["benchmark"]["language"], run_shown)
    hearing.closed_book = context == "none"
    rulings = _rulings(config, paths, hearing)
    rows = hearing.judged(rulings)
    results = {**_measured(config, paths, len(rows)), **results_of(rows, rulings)}
    write_json(paths["metrics"], results)
    write_headline(paths["headline"], config["headline"], read_json(paths["retrieval"]), results)
    write_judged(paths["questions"], rows)
    print(table(results))


def _rulings(config: Config, paths: Paths, hearing: "Hearing") -> "Rulings":
    from bears.answers.judging.bench import judges_of, rulings_of, tasks_of
    from bears.answers.judging.model import NAME
    from bears.llm.kept import load
    from bears.llm.workflow import Workflow

    judges = judges_of(config["judge"])
    memory = paths["memory"] / f"{config['benchmark']['name']}.verdicts.jsonl"
    for task in tasks_of(judges, hearing.cases, hearing.language):
        Workflow(task, memory).fill_by_itself()
    return rulings_of(judges, hearing.cases, hearing.language, load(memory, NAME))


def _measured(config: Config, paths: Paths, questions: int) -> dict[str, Any]:
    """Of what the results are."""
    from bears.files.benchmark_state import benchmark_state
    from bears.files.digest import sha256_of

    generator, files = config["generator"], (paths["queries"], paths["corpus"])
    state = benchmark_state(config["benchmark"]["name"], config["sources"], questions, *files)
    return {
        "benchmark": state.told(),
        "generator": generator["name"],
        "retriever": paths["run"].stem,
        # Which documents it answered from: the pool's or, where questions have a group, its own.
        **{name: generator[name] for name in ("context", "within") if name in generator},
        "judge": config["judge"]["name"],
        # The beginning, as metrics/retrieval.json has it of the run.
        "measured": {"answers": sha256_of(paths["answers"])[:12]},
    }


if __name__ == "__main__":
    # With fill: auto what is bought is published.
    exit_with("judge", main, updates=["memory"])
