"""``python -m bears memory``: import, plan, fill, publish, review, glossary."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from bears.cli.judgements import candidate_rows, judged_pairs
from bears.cli.proxied import add_serve
from bears.cli.selection import CONF, add_overrides, composed
from bears.cli.spending import fill, show_plan
from bears.cli.uses import TRANSLATION, made_questions, workflow_of, workflows
from bears.config import Config, parse
from bears.config.ledger.entries import reviews_of
from bears.config.ledger.update import add
from bears.errors import ConfigurationError, MemoryMiss
from bears.files.shown import complain
from bears.language.profile import Language
from bears.llm.kept import MemoryEntry, PublishedMemory, extend
from bears.llm.use import missing_message
from bears.questions.made import for_review
from bears.translation.glossary import Term, write_glossary
from bears.translation.published import import_published
from bears.translation.review import (
    COLUMNS,
    check_against,
    flagged,
    read_decisions,
    write_review,
)
from bears.translation.source_texts import Place
from bears.translation.translator import NAME, TranslatorSettings

MADE = ("question", "gold_answer")
"""The texts of a made question that a person may decide on."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of ``memory``."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    made = {
        name: commands.add_parser(name, help=summary, description=description)
        for name, (_, summary, description) in COMMANDS.items()
    }
    made["import"].add_argument("benchmark", metavar="BENCHMARK")
    made["import"].add_argument("folder", metavar="FOLDER", type=Path)
    made["fill"].add_argument("--yes", action="store_true", help="do not ask before spending")
    made["publish"].add_argument(
        "--give-up",
        action="store_true",
        help="publish as unscored every verdict, and as given up every answer, that was tried and "
        "failed, not only those of requests that the server refuses for good",
    )
    direction = made["review"].add_mutually_exclusive_group(required=True)
    direction.add_argument("--export", metavar="FILE", type=Path)
    direction.add_argument("--import", metavar="FILE", type=Path, dest="decisions")
    made["glossary"].add_argument("file", metavar="FILE", type=Path)
    for name, command in made.items():
        command.set_defaults(run=COMMANDS[name][0])
        add_overrides(command)
    add_serve(commands)


def _import(arguments: argparse.Namespace) -> None:
    config = composed(arguments.benchmark, arguments.overrides)
    languages = {name: source["language"] for name, source in config["sources"].items()}
    language = parse(Language, config["language"], "language")
    translator = parse(TranslatorSettings, config["translator"], "translator").translator(language)
    entries = import_published(arguments.folder, languages, translator)
    asked = _asked_of(config, entries)
    path = Path("data/memory") / f"{config['benchmark']['name']}.jsonl"
    total, new = extend(path, NAME, entries)
    print(f"{path}: {total} entries, {new} of them new; {asked}")


def _asked_of(config: Config, entries: Sequence[MemoryEntry]) -> str:
    """How much of what the benchmark asks for stands in a published set.

    Raises:
        ConfigurationError: nothing does: it is a set of another benchmark.
    """
    name = config["benchmark"]["name"]
    if not (Path("data") / name / "sampled" / "queries_raw.json").is_file():
        return f"how many of them {name} asks for, `dvc repro sample` will show"
    needs = workflow_of(config, *TRANSLATION).use.resolve(PublishedMemory(entries))
    used, missing = len(needs.used), len(needs.missing) + len(needs.waiting)
    if missing and not used:
        raise ConfigurationError(
            f"none of the {len(entries)} texts is one of the {missing} that {name} asks for as it "
            "is configured; nothing was imported. Look at the benchmark, its sample and the "
            "translator"
        )
    told = f"{used} of the {used + missing} texts that {name} asks for are among them"
    if missing:
        complain(f"{missing} texts are still missing: {told}")
    return told


def _plan(arguments: argparse.Namespace) -> None:
    for workflow in workflows(composed("", arguments.overrides)):
        show_plan(workflow, workflow.plan())


def _fill(arguments: argparse.Namespace) -> None:
    for workflow in workflows(composed("", arguments.overrides)):
        fill(workflow, arguments.yes)


def _publish(arguments: argparse.Namespace) -> None:
    for workflow in workflows(composed("", arguments.overrides)):
        for entry in workflow.given_up(arguments.give_up):
            complain(f"given up: {entry.text!r:.70}: {entry.answer}")
        total, new, missing = workflow.publish(arguments.give_up)
        print(f"{workflow.memory}: {total} entries, {new} of them new")
        if missing:
            told = missing_message(workflow.resolve(), workflow.use.wanted)
            raise MemoryMiss(
                f"what is there was written, {missing} texts are still missing: {told}\n"
                "To fill it from a model: python -m bears memory fill"
            )


def _review(arguments: argparse.Namespace) -> None:
    config = composed("", arguments.overrides)
    made = made_questions(config)
    # What was made and is not kept yet has nothing to be translated.
    sampled = Path("data") / config["benchmark"]["name"] / "sampled" / "queries_raw.json"
    workflow = workflow_of(config, *TRANSLATION) if sampled.is_file() or not made else None
    if arguments.export:
        rows = [dict.fromkeys(COLUMNS, "") | row for row in for_review(made)]
        if workflow:
            found = workflow.use.resolve(workflow.kept.known())
            rows += flagged(workflow.use, found, workflow.failures())
        candidates = candidate_rows(config)
        write_review(arguments.export, [*rows, *candidates])
        told = f", {len(candidates)} documents that may answer" if candidates else ""
        print(f"{arguments.export}: {len(rows)} texts to look at{told}")
        return
    places: set[Place] = {(each.unit.question_id, name) for each in made for name in MADE}
    if workflow:
        places |= {(each.record_id, each.field) for each in workflow.use.source_texts.requests()}
    earlier_reviews = reviews_of(config["ledger"]["reviews"])
    again = {(each.record_id, each.field): each.sent_back for each in earlier_reviews}
    decisions = read_decisions(arguments.decisions, places)
    check_against(decisions, earlier_reviews)
    entries = []
    for decision in decisions:
        earlier = again.get((decision.record_id, decision.field), 0)
        counted = replace(decision, times=earlier + (decision.decision == "retranslate"))
        entries.append({name: value for name, value in asdict(counted).items() if value})
    judged = judged_pairs(config, arguments.decisions)
    path = CONF / "ledger" / f"{config['benchmark']['name']}.yaml"
    # What may be refused comes first, so that an import is taken as a whole.
    add(path, "judgements", judged, ("question_id", "doc_id"), final=True)
    add(path, "reviews", entries, ("record_id", "field"))
    print(f"{path}: {len(entries) + len(judged)} decisions")


def _glossary(arguments: argparse.Namespace) -> None:
    workflow = workflow_of(composed("", arguments.overrides), *TRANSLATION)
    task, languages = workflow.use, workflow.use.languages()
    terms = (
        Term(source, rendering, languages[question_id], task.language.name)
        for question_id, pairs in task.resolve(workflow.kept.known()).terms.items()
        for source, rendering in pairs
    )
    print(f"{arguments.file}: {write_glossary(arguments.file, terms)} terms")


COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], None], str, str]] = {
    "import": (
        _import,
        "make a memory of a published set",
        "Add the translations of a published set to data/memory/BENCHMARK.jsonl. "
        "FOLDER holds queries_raw.json, corpus_raw.json, queries.json and corpus.json.",
    ),
    "plan": (
        _plan,
        "what filling would cost",
        "Count the calls and tokens that filling needs, and their price.",
    ),
    "fill": (
        _fill,
        "ask a model for what is missing",
        "Show the plan, then ask the chosen models for all that is missing. "
        "Answers go to the journal as they come (.bears/journal.jsonl): stop it at any time, "
        "the next fill goes on from there. Exits with 0 only when nothing is missing.",
    ),
    "publish": (
        _publish,
        "write the journal's answers into the memory",
        "Write what the benchmark uses to data/memory/, for git: translations to "
        "BENCHMARK.jsonl, a generator's answers to BENCHMARK.answers.jsonl. Where some are still "
        "missing, write what is there, say which are missing, and exit with 1.",
    ),
    "review": (
        _review,
        "look at what is doubtful, and decide",
        "Export what the gates flag, made questions that wait for a person, and what "
        "`audit` found to FILE (.csv or .jsonl), or import the decisions that a person wrote into "
        "it: accept, correct or retranslate a text; relevant, partial or not of a document. They "
        "become entries of the ledger.",
    ),
    "glossary": (
        _glossary,
        "the terms that were learned, as CSV",
        "Write the learned terms to FILE, a CSV. Correct them, and name the "
        "file under translator.glossary: its renderings go before learned ones.",
    ),
}
"""What runs, its summary, and its description."""
