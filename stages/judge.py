"""judge: answers against gold → a verdict, scores and a cause for each question."""

from typing import Any

from bears.configuration import Config
from bears.configuration.pipeline import Paths, exit_with
from bears.formats.records import write_json
from bears.formats.spreadsheet import write_csv


def main(config: Config, paths: Paths) -> None:
    """Score and judge every answer; without a generator there are none."""
    if config["generator"]["name"] == "none":
        write_csv(paths["questions"], ["question_id"], [])
        write_json(paths["metrics"], {})
        return
    # Without a generator nothing of this is needed, and that run is to cost next to nothing.
    from bears.judging.bench import judges_of, rulings_of
    from bears.judging.files import read_hearing
    from bears.judging.judged import results_of
    from bears.judging.tables import table, write_judged

    generator, language = config["generator"], config["benchmark"]["language"]
    context = generator.get("context", "retrieved")
    run = paths["within" if generator.get("within") else "run"]
    hearing = read_hearing(paths, language, run if context == "retrieved" else None)
    hearing.closed_book = context == "none"
    rulings = rulings_of(judges_of(config["judge"]), hearing.cases, language)
    rows = hearing.judged(rulings)
    results = {**_measured(config, paths, len(rows)), **results_of(rows, rulings)}
    write_json(paths["metrics"], results)
    write_judged(paths["questions"], rows)
    print(table(results))


def _measured(config: Config, paths: Paths, questions: int) -> dict[str, Any]:
    """Of what the results are."""
    from dataclasses import asdict

    from bears.formats.benchmark_state import benchmark_state
    from bears.formats.digest import sha256_of

    generator, files = config["generator"], (paths["queries"], paths["corpus"])
    state = benchmark_state(config["benchmark"]["name"], config["sources"], questions, *files)
    return {
        "benchmark": asdict(state),
        "generator": generator["name"],
        # Which documents it answered from: the pool's or, where questions have a group, its own.
        **{name: generator[name] for name in ("context", "within") if name in generator},
        "judge": config["judge"]["name"],
        # The beginning, as metrics/retrieval.json has it of the run.
        "measured": {"answers": sha256_of(paths["answers"])[:12]},
    }


if __name__ == "__main__":
    exit_with("judge", main)
