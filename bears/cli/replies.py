"""``bears replies``: import, plan, fill, publish, discard, review, glossary."""

import sys
from collections.abc import Sequence
from pathlib import Path

from bears.config.ledger.update import open_ledger
from bears.config.typed import parse
from bears.errors import ConfigurationError, RepliesMissing
from bears.files.shown import complain
from bears.files.visible import one_line
from bears.language.profile import Language
from bears.layout import ledger_of
from bears.llm.fill import SHOWN
from bears.llm.use import extend, missing_message
from bears.questions.bench import for_review
from bears.selection import spending
from bears.selection.configuration import composed, files_of, selected
from bears.selection.uses import made_questions, translation, workflow_of, workflows
from bears.translation.glossary import Term, write_glossary
from bears.translation.published import import_published
from bears.translation.review import READ, SHEET, flagged, read_decisions, translated
from bears.translation.source_texts import Place
from bears.translation.translator import NAME, TranslatorSettings

MADE = ("question", "gold_answer")
"""The texts of a made question that a person may decide on."""


def import_set(benchmark: str, folder: Path, overrides: Sequence[str] = ()) -> None:
    """Import the translations of a published set.

    Adds them to data/memory/BENCHMARK.jsonl.

    Args:
        benchmark: the name of the benchmark
        folder: holds queries_raw.json, corpus_raw.json, queries.json and corpus.json
    """
    config = composed(benchmark, overrides)
    languages = {name: source.language for name, source in selected(config).sources.items()}
    translator = parse(TranslatorSettings, config["translator"], "translator")
    language = parse(Language, config["language"], "language")
    entries = import_published(folder, languages, translator.translator(language))
    path = files_of(config).replies()
    total, new = extend(path, NAME, entries)
    print(f"{path}: {total} entries, {new} of them new")


def plan(overrides: Sequence[str] = ()) -> None:
    """Estimate the calls, the tokens and the price of filling."""
    for workflow in workflows(composed("", overrides)):
        spending.show_plan(workflow, workflow.plan())


def fill(overrides: Sequence[str] = (), *, yes: bool = False) -> None:
    """Ask the models for everything that is missing.

    Shows the plan first. Replies go to the journal as they arrive (.bears/journal.jsonl): stop it
    at any time, the next fill continues from there. Exits with 0 only when nothing is missing.
    """
    for workflow in workflows(composed("", overrides)):
        spending.fill(workflow, yes)


def publish(overrides: Sequence[str] = (), *, give_up: bool = False) -> None:
    """Publish the journal's replies to data/memory/, for git.

    Writes what the benchmark uses: translations to BENCHMARK.jsonl, a generator's answers to
    BENCHMARK.answers.jsonl. If some are still missing, writes what is there, lists what is missing,
    and exits with 1.

    Args:
        give_up: publish as unscored every verdict, and as given up every answer, whose request the
            server refuses by a code, or whose replies cannot be used
    """
    for workflow in workflows(composed("", overrides)):
        given_up = list(workflow.given_up())
        for entry in given_up if give_up else ():
            complain(f"given up: {entry.text!r:.70}: {entry.answer}")
        total, new, missing = workflow.publish(give_up)
        print(f"{workflow.replies}: {total} entries, {new} of them new")
        if missing:
            up = f"\nTo give up {len(given_up)} of them: bears replies publish --give-up"
            remedy = up if given_up else ""
            lacking = missing_message(workflow.resolve(), workflow.use.wanted)
            raise RepliesMissing(
                f"what is there was written, {missing} texts are still missing: {lacking}\n"
                f"To fill it from a model: bears replies fill{remedy}"
            )


def discard(overrides: Sequence[str], *, list_: bool = False, yes: bool = False) -> None:
    """Discard the kept replies of a use, such as those of a judge that was configured wrongly.

    Removes them from data/memory and from the journal, so that they are asked for and paid again.

    Args:
        overrides: select the uses, as they were configured: judge=relevance
        list_: show how many there are, and some of them, and remove nothing
        yes: do not ask
    """
    groups = {word.lstrip("+").partition("=")[0].partition(".")[0] for word in overrides}
    for workflow in workflows(composed("", overrides)):
        if workflow.use.settings.where.partition(".")[0] not in groups:
            continue
        used = workflow.resolve().used
        usd = workflow.price.of(*workflow.cost(used.keys()))
        print(f"{len(used)} {workflow.use.wanted}, which cost US$ {usd:.4f}")
        for entry in [*used.values()][:SHOWN] if list_ else ():
            print(f"  {one_line(entry.text)} → {one_line(entry.answer)}")
        if list_ or not used:
            continue
        if not yes and not (sys.stdin.isatty() and input("Discard? [y/N] ").lower() == "y"):
            raise ConfigurationError("nothing was discarded; --yes discards without asking")
        workflow.discard(used.keys())
        print(f"{workflow.replies}: {len(used)} discarded")


def review(
    overrides: Sequence[str] = (),
    *,
    export: Path | None = None,
    import_: Path | None = None,
    author: str = "",
    replace_: bool = False,
) -> None:
    """Export doubtful texts for a person, or import the decisions.

    The file lists what the gates flag, and made questions that wait for a person: as a page (.html)
    that works in any browser, or as CSV. The decisions are accept, correct or retranslate. They
    become entries of the ledger.

    Args:
        export: write the file
        import_: read a person's decisions from the table, or from what its page saved
        author: who decided, for rows without an author
        replace_: overwrite earlier decisions
    """
    if bool(export) == bool(import_):
        raise ConfigurationError("expected either --export FILE or --import FILE")
    config = composed("", overrides)
    made = made_questions(config)
    # Made questions that are not sampled yet have nothing to translate.
    sampled = files_of(config).sampled / "queries_raw.json"
    there = sampled.is_file() or not made
    workflow = workflow_of(config, *next(translation(config))) if there else None
    rows = [*for_review(made)]
    if export:
        if workflow:
            found = workflow.use.resolve(workflow.known())
            rows += flagged(workflow.use, found, workflow.failures())
        said = SHEET.write(export, rows, ["replies", "review", *overrides, "--import"])
        print(f"{export}: {len(rows)} texts to look at; {said}")
        return
    assert import_
    texts: dict[Place, dict[str, str]] = {
        (each.unit.question_id, name): {} for each in made for name in MADE
    }
    texts |= {(row["record_id"], row["field"]): {name: row[name] for name in READ} for row in rows}
    if workflow:
        texts |= translated(workflow.use, workflow.use.resolve(workflow.known()))
    path = ledger_of(selected(config).benchmark.name)
    with open_ledger(path) as ledger:
        # What is decided has another text since.
        texts |= {each.place: {} for each in ledger.decisions.reviews if each.place in texts}
        decisions = read_decisions(import_, texts, author)
        ledger.take("reviews", decisions, import_, "texts were decided", replace_)
    print(f"{path}: {len(decisions)} decisions")


def glossary(file: Path, overrides: Sequence[str] = ()) -> None:
    """Write the learned terms as CSV.

    Correct them, and name the file under translator.glossary: its renderings override learned ones.

    Args:
        file: the CSV file
    """
    config = composed("", overrides)
    workflow = workflow_of(config, *next(translation(config)))
    task, languages = workflow.use, workflow.use.languages()
    terms = (
        Term(source, rendering, languages[question_id], task.language.name)
        for question_id, pairs in task.resolve(workflow.known()).terms.items()
        for source, rendering in pairs
    )
    print(f"{file}: {write_glossary(file, terms)} terms")


COMMAND = {
    "import": import_set,
    "plan": plan,
    "fill": fill,
    "publish": publish,
    "discard": discard,
    "review": review,
    "glossary": glossary,
}
