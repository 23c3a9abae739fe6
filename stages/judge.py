"""judge: answers against gold → a verdict, scores and a cause for each question; the headline."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bears.config.pipeline import Paths, exit_with
from bears.config.shape import (
    BenchmarkIdentity,
    Choice,
    HeadlineSettings,
    SourceOrigin,
    source_of,
)
from bears.config.typed import Keys
from bears.files.headline import write_headline
from bears.files.records import read_json, write_json
from bears.files.spreadsheet import write_csv
from bears.layout import replies_below

if TYPE_CHECKING:
    from bears.answers.judging.bench import Rulings
    from bears.answers.judging.ruling import Case


@dataclass(frozen=True)
class JudgeKeys(Keys):
    """The keys of the configuration that this stage reads."""

    benchmark: BenchmarkIdentity
    generator: Choice
    headline: HeadlineSettings
    judge: Choice
    sources: dict[str, SourceOrigin]


def main(keys: JudgeKeys, paths: Paths) -> None:
    """Score and judge every answer, without key or network unless the judge has ``fill: auto``."""
    generator, figures = keys.generator, asdict(keys.headline)
    if generator.name == "none":
        write_csv(paths["questions"], ["question_id"], [])
        write_json(paths["metrics"], {})
        write_headline(paths["headline"], figures, read_json(paths["retrieval"]), {})
        return
    # A run without a generator does not wait for these imports.
    from bears.answers.judging.files import read_unjudged
    from bears.answers.judging.judged import results_of, with_rulings
    from bears.answers.judging.tables import table, write_judged
    from bears.answers.settings import generator_of

    context = getattr(generator_of(generator), "context", "own")
    run = paths["within" if generator.get("within") else "run"]
    run_shown = run if context == "retrieved" else None
    language = keys.benchmark.language
    rows = read_unjudged(paths, language, run_shown, closed_book=context == "none")
    rulings = _rulings(keys, paths, [row.case for row in rows])
    rows = with_rulings(rows, rulings)
    results = {**_measured(keys, paths, len(rows)), **results_of(rows, rulings)}
    write_json(paths["metrics"], results)
    write_headline(paths["headline"], figures, read_json(paths["retrieval"]), results)
    write_judged(paths["questions"], rows)
    print(table(results))


def _rulings(keys: JudgeKeys, paths: Paths, cases: "list[Case]") -> "Rulings":
    from bears.answers.judging.bench import judges_of, rulings_of, tasks_of
    from bears.answers.judging.model import NAME
    from bears.llm.kept import load
    from bears.llm.workflow import Workflow

    judges, language = judges_of(keys.judge), keys.benchmark.language
    replies = replies_below(paths["replies"], keys.benchmark.name, "verdicts")
    for task in tasks_of(judges, cases, language):
        Workflow(task, replies).replay()
    return rulings_of(judges, cases, language, load(replies, NAME))


def _measured(keys: JudgeKeys, paths: Paths, questions: int) -> dict[str, Any]:
    """Describe what was judged."""
    from bears.files.benchmark_state import benchmark_state
    from bears.files.digest import sha256_of

    generator, source = keys.generator, source_of(keys.sources)
    files = paths["queries"], paths["corpus"]
    state = benchmark_state(keys.benchmark.name, source, questions, *files)
    return {
        "benchmark": state.as_dict(),
        "generator": generator.name,
        "retriever": paths["run"].stem,
        # The documents it answered from: all of them, or only those of the question's group.
        **{name: generator[name] for name in ("context", "within") if name in generator},
        "judge": keys.judge.name,
        # As short as the digests in metrics/retrieval.json.
        "measured": {"answers": sha256_of(paths["answers"])[:12]},
    }


if __name__ == "__main__":
    exit_with("judge", JudgeKeys, main)
