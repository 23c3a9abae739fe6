"""judge: answers against gold → a verdict, scores and a cause for each question; the headline."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bears.config.ledger.entries import Judgements, Labels, Nuggets
from bears.config.pipeline import Paths, exit_with
from bears.config.shape import BenchmarkIdentity, Choice, HeadlineSettings, Source, source_of
from bears.files.benchmark_state import BenchmarkState, benchmark_state
from bears.files.headline import write_headline
from bears.files.records import read_json, read_questions, sha256_of, write_json
from bears.files.spreadsheet import write_csv
from bears.layout import replies_below, traced_of
from bears.types import Question


def main(
    paths: Paths,
    *,
    benchmark: BenchmarkIdentity,
    generator: Choice,
    headline: HeadlineSettings,
    judge: Choice,
    judgements: Judgements,
    labels: Labels,
    nuggets: Nuggets,
    sources: dict[str, Source],
) -> None:
    """Score and judge every answer, without key or network unless the judge has ``fill: auto``.

    Without a generator, the documents of the ranking are graded, if the judge grades documents.
    Where people labeled items of the system, the headline has what their labels say.
    """
    from bears.answers.judging.chosen import judge_of, tasks_of

    figures, chosen = asdict(headline), judge_of(judge, generator.name)
    if generator.name == "none" and chosen is None:
        write_csv(paths["questions"], ["question_id"], [])
        write_json(paths["metrics"], {})
        write_headline(paths["headline"], figures, read_json(paths["retrieval"]), {})
        return
    # A run without a generator does not wait for these imports.
    from bears.answers.judging.files import read_unjudged
    from bears.answers.judging.graded import cases_of, judged, traced_rows, with_items
    from bears.answers.judging.judged import results_of
    from bears.answers.judging.model import NAME
    from bears.answers.judging.tables import table, write_judged
    from bears.answers.settings import generator_of
    from bears.evaluation.decided import decided_in
    from bears.llm.use import load
    from bears.llm.workflow import Workflow

    context = "own"
    if generator.name == "none":
        paths = {name: path for name, path in paths.items() if name != "answers"}
    else:
        context = getattr(generator_of(generator), "context", context)
    run = paths["within" if generator.get("within") else "run"]
    shown = run if context == "retrieved" else None
    language = benchmark.language
    decided = decided_in(paths["corpus"], read_questions(paths["queries"]), judgements)
    questions = decided.questions
    rows = read_unjudged(questions, paths, language, shown, closed_book=context == "none")
    rows = with_items(rows, chosen, paths["corpus"], nuggets, run)
    # The system whose traces the benchmark was drawn from is judged too, so that `compare` has it.
    traced = traced_of(benchmark.name)
    beside = traced_rows(traced, questions, paths, language, chosen, nuggets)
    replies = replies_below(paths["replies"], benchmark.name, "verdicts")
    for task in tasks_of(chosen, cases_of([*rows, *beside]), language):
        Workflow(task, replies).replay()
    known = load(replies, NAME)
    rows, beside = (judged(each, chosen, language, known) for each in (rows, beside))
    state = benchmark_state(
        *(benchmark.name, source_of(sources), len(questions)),
        *(paths["queries"], paths["corpus"], decided.facts),
    )
    results = {**_measured(paths, generator, judge, state), **results_of(rows)}
    if generator.name == "none":
        figures["answers"] = [name for name in results["all"] if name != "n"]
    write_judged(paths["questions"], rows)
    results |= _by_people(results, paths, questions, labels)
    write_json(paths["metrics"], results)
    write_headline(paths["headline"], figures, read_json(paths["retrieval"]), results)
    print(table(results, {traced.name: results_of(beside)["all"]} if beside else {}))


def _measured(
    paths: Paths, generator: Choice, judge: Choice, state: BenchmarkState
) -> dict[str, Any]:
    """Return what the results are of."""
    measured = "answers" if "answers" in paths else "run"
    return {
        "benchmark": state.as_dict(),
        "generator": generator.name,
        "retriever": paths["run"].stem,
        # The documents it answered from: all of them, or only those of the question's group.
        **{name: generator[name] for name in ("context", "within") if name in generator},
        "judge": judge.name,
        # As short as the digests in metrics/retrieval.json.
        "measured": {measured: sha256_of(paths[measured])[:12]},
    }


def _by_people(
    results: Mapping[str, Any], paths: Paths, questions: Sequence[Question], labels: Labels
) -> dict[str, Any]:
    if not labels:
        return {}
    # Pandas takes its time, and most benchmarks have no labels.
    from bears.results.labeled import by_people

    return {"by_people": by_people(results, paths, [q.question_id for q in questions], labels)}


if __name__ == "__main__":
    exit_with("judge", main)
