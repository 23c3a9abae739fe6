"""Fill the gaps of a CSV of questions: what the retriever finds, and what the generator answers."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from bears.answers.answered import answered
from bears.answers.outside import OutsideGenerator
from bears.answers.ragas.rows import RagasRow
from bears.answers.settings import generator_of
from bears.answers.shown import Shown, show, with_texts
from bears.answers.task import AnswerTask
from bears.config import Config
from bears.config.shape import WrittenIn
from bears.config.typed import build, parse
from bears.errors import ConfigurationError, RepliesMissing
from bears.files.chunk_run import read_places
from bears.files.progress import Progress
from bears.files.records import stream_documents
from bears.files.shown import complain
from bears.llm.use import KeptReplies, KeptReply, all_of
from bears.llm.workflow import Workflow
from bears.retrieval.index_files import PLACES, check_made_from
from bears.retrieval.levels import OpenIndex
from bears.retrieval.models.hosted import hosted
from bears.retrieval.outside.matching import Passage, PassageMatcher
from bears.retrieval.outside.system import OutsideRetriever, OutsideSettings, OutsideSystem
from bears.retrieval.retriever import Query, RetrieveSettings, Stopwatch
from bears.selection.configuration import files_of, made, selected
from bears.selection.spending import ask_missing, publish, show_plan
from bears.types import Chunk, Question, in_chunk_order

REMEDY = "see what they cost with --plan, and ask for them with --fill"
Gaps = Mapping[str, RagasRow]
"""The rows that lack something, by the id that their questions get."""
Found = dict[str, tuple[str, tuple[str, ...]]]
"""The answers and the contexts of such rows."""


@dataclass(frozen=True, slots=True)
class Consent:
    """What a command may do about replies that are missing.

    Args:
        plan: only show what must be asked, and its price.
        fill: ask for it.
        yes: do not ask the person first.
        publish: write the replies that were used to data/memory.
    """

    plan: bool
    fill: bool
    yes: bool
    publish: bool


def filled(rows: Sequence[RagasRow], config: Config, consent: Consent) -> list[RagasRow]:
    """Return rows without gaps.

    In a plan, the right answer stands for one that was not given yet, so that what ragas asks about
    it can be counted.

    Raises:
        ConfigurationError: the selected systems cannot fill the gaps.
        RepliesMissing: something must be asked, and may not be.
    """
    gaps = {f"row {place}": row for place, row in enumerate(rows, 1) if row.lacks}
    if not gaps:
        return [*rows]
    generator = generator_of(selected(config).generator)
    fill = _replied if isinstance(generator, OutsideGenerator) else _generated
    found = fill(gaps, generator, config, consent)
    return [row.filled(*found.get(f"row {place}", ("", ()))) for place, row in enumerate(rows, 1)]


def _generated(gaps: Gaps, generator: Any, config: Config, consent: Consent) -> Found:
    """Return what a generator answers from the contexts of a row, or from what a search finds."""
    if getattr(generator, "context", "") != "retrieved":
        raise ConfigurationError(
            f"generator is {generator.name}, which does not answer from what a retriever finds; "
            "what a CSV lacks needs one with context: retrieved, such as generator=gpt-4.1-mini"
        )
    # A row is scored with all of its contexts, so the generator sees all of them.
    shown = {name: Shown(tuple(map(Chunk, r.contexts)), r.contexts) for name, r in gaps.items()}
    asked = {name: row.question for name, row in gaps.items() if "contexts" in row.lacks}
    if asked:
        found = _searched(asked, config, consent)
        first = {name: chunks[: generator.documents] for name, chunks in found.items()}
        texts = with_texts(first, files_of(config).corpus)
        shown |= {name: show(each, generator.tokens) for name, each in texts.items()}
    questions = [
        Question(name, row.question, row.ground_truth, (), "", "ad-hoc")
        for name, row in gaps.items()
        if "answer" in row.lacks
    ]
    written_in = parse(WrittenIn, config["written_in"], "written_in")
    task = AnswerTask(replace(generator, repeats=1), written_in, questions, shown)
    known = _known(task, config, consent) if generator.model and questions else KeptReplies()
    answers = {trace.question_id: trace.answer or "" for trace in answered(task, known)}
    return {name: (answers.get(name, ""), shown[name].texts) for name in gaps}


def _searched(asked: Mapping[str, str], config: Config, consent: Consent) -> dict[str, list[Chunk]]:
    """Return what the retriever finds for each question, as the file of a run has it."""
    files, chosen = files_of(config), deepcopy(selected(config).retriever)
    for encoder in hosted(chosen) if not consent.fill else ():
        # It refuses with the price of the questions' vectors.
        encoder["fill"] = "never"
    built, index = build(chosen, "retriever"), files.index(chosen.name)
    made(config, "index", files.corpus, index)
    if isinstance(built, OutsideRetriever):
        built = replace(built, keep=True)
        unknown = _unknown(built, asked.values(), consent)
        asked = {name: text for name, text in asked.items() if text not in unknown}
    searcher, density = built.open(index), check_made_from(index, files.corpus)
    retrieve = parse(RetrieveSettings, config["retrieve"], "retrieve")
    opened = OpenIndex(searcher, density, read_places(index / PLACES), retrieve)
    found = opened.search({name: Query(text) for name, text in asked.items()}, Stopwatch())
    if isinstance(built, OutsideRetriever) and consent.fill:
        searcher.finish()
    ranked = {name: in_chunk_order(one.chunks) for name, one in found.items()}
    return {name: [hit.chunk for hit in hits] for name, hits in ranked.items()}


def _known(task: AnswerTask, config: Config, consent: Consent) -> KeptReplies:
    """Return the replies with all answers; a plan takes the right answer where one is missing."""
    workflow, remedy = Workflow(task, files_of(config).replies("answers")), REMEDY
    if consent.fill:
        remedy = ask_missing(workflow, consent.yes).stopped or "fill again"
    known = workflow.known()
    if consent.plan:
        show_plan(workflow, workflow.plan())
        right = {each.question_id: each.gold_answer or each.question for each in task.questions}
        for each in task.resolve(known).missing:
            known.add(KeptReply(task.key(each), "", "", "", right[each.record_id]))
    all_of(task.resolve(known), task.wanted, remedy)
    if consent.publish:
        publish(workflow)
    return known


def _replied(gaps: Gaps, generator: Any, config: Config, consent: Consent) -> Found:
    """Return what a system outside answers, with the texts of the passages that it gives."""
    corpus, settings = files_of(config).corpus, replace(generator, keep=True)
    documents = stream_documents(corpus) if corpus.is_file() else ()
    texts = {each.doc_id: each.content for each in documents}
    unknown = _unknown(settings, [row.question for row in gaps.values()], consent)
    unanswerable = parse(WrittenIn, config["written_in"], "written_in").unanswerable
    system, matcher = OutsideSystem(settings), PassageMatcher(texts)
    found: Found = {name: (row.ground_truth or row.question, ()) for name, row in gaps.items()}
    for name, row in Progress(gaps.items(), unit=" questions"):
        if row.question in unknown:
            continue
        found[name] = "", ()
        if reply := system.reply(row.question):
            answer = settings.answer_in(reply, unanswerable).text
            contexts = [_text_of(passage, matcher, texts) for passage in reply.passages]
            if lost := contexts.count(""):
                complain(f"{name}: {lost} passages without a text are named like no document")
            found[name] = answer, tuple(filter(None, contexts))
    if consent.fill:
        system.finish()
    return found


def _text_of(passage: Passage, matcher: PassageMatcher, texts: Mapping[str, str]) -> str:
    """Return the text of a passage; a bare text may be the id of a document."""
    chunk = matcher.match(passage) if passage.text in ("", passage.id) else None
    return chunk.of(texts[chunk.doc_id]) if chunk else passage.text


def _unknown(settings: OutsideSettings, asked: Iterable[str], consent: Consent) -> list[str]:
    """Return the questions whose replies a plan does not know, after saying how many they are.

    Raises:
        RepliesMissing: a system outside must be asked, and may not be.
    """
    missing = OutsideSystem(settings).missing(asked)
    where = settings.call or settings.url or settings.url_env
    what = f"{len(missing)} questions must be asked of {settings.part} {where}"
    if consent.plan:
        print(f"{what}, at a price that only it knows; what it finds does not count below")
    elif missing and not consent.fill:
        raise RepliesMissing(f"{what}; ask them with --fill")
    return missing if consent.plan else []
