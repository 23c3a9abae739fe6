"""Read the answers of a system with everything that is known about them."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bears.answers.judging.judged import JudgedQuestion
from bears.answers.judging.ruling import Case
from bears.config.typed import parse
from bears.evaluation.answers.predictions import answers_of, read_answers
from bears.evaluation.answers.score import literal, referenced, references_of, score_answers
from bears.evaluation.clusters import clusters_of
from bears.evaluation.metric import Floats
from bears.evaluation.repeats import asked_in
from bears.evaluation.trace_measures import trace_values
from bears.files.records import read_documents, read_json
from bears.files.shown import complain
from bears.files.trec import read_table
from bears.files.visible import one_line
from bears.language.normalization import without_citations
from bears.layout import lineage_beside
from bears.trace import Search, Trace
from bears.types import Question, whole_documents


def read_unjudged(
    questions: Sequence[Question],
    paths: Mapping[str, Path],
    language: str,
    run: Path | None = None,
    closed_book: bool = False,
    ignore_unknown: bool = False,
) -> list[JudgedQuestion]:
    """Return every question with a system's answer, before it is judged; each repeat after another.

    Args:
        questions: of the benchmark, with people's decisions in their gold.
        paths: of ``corpus``; of ``answers``, unless only rankings are judged; optionally of
            ``lineage`` (further annotators' answers) and ``sidecar`` (aliases).
        language: BCP 47 tag of the answers.
        run: the run from which the generator's documents were taken, if known.
        closed_book: whether the generator was to answer without documents.
        ignore_unknown: skip answers to unknown questions, with a warning, instead of failing.

    Raises:
        FormatError: a file is malformed.
    """
    questions = referenced(questions, paths.get("lineage"), language)
    documents = read_documents(paths["corpus"])
    answers = read_answers(paths["answers"]) if "answers" in paths else ()
    repeats = answers_of(answers, questions, documents, ignore_unknown)
    aliases = _aliases(paths.get("sidecar"))
    found = read_table(run, {q.question_id for q in questions}).rankings() if run else {}
    rankings = whole_documents(found)
    of = clusters_of(questions, paths.get("lineage")).tolist()
    clusters = {question.question_id: each for question, each in zip(questions, of, strict=True)}
    if unknown := {key for given in repeats for key in given} - clusters.keys():
        count = len(unknown)
        complain(f"warning: {count} questions are not in this benchmark, and are skipped")
    doc_ids = {document.doc_id for document in documents}
    rows = []
    for number, (given, asked) in enumerate(asked_in(repeats, questions), start=1):
        scores = score_answers(asked, given, language)
        measured = _measured(asked, given)
        for at, question in enumerate(asked):
            key = question.question_id
            trace = given.get(key, Trace(question_id=key))
            if closed_book:
                trace = replace(trace, searches=())
            elif run:
                search = Search(question.question, rankings.get(key, ()))
                trace = replace(trace, searches=(search,))
            answer = without_citations(trace.answer or "").strip()
            case = _case(question, answer, language, aliases.get(key, ()))
            own = question, case, scores[key], trace, language, clusters[key]
            traced = {name: float(values[at]) for name, values in measured.items()}
            row = JudgedQuestion(
                *own,
                repeat=number,
                traced=traced,
                asked="answers" in paths,
                faults=dict(_faults(given.get(key), doc_ids)),
            )
            rows.append(replace(row, traced={**traced, **row.refusals}))
    return rows


def records_in(folder: Path, answers: Path | None) -> dict[str, Path]:
    """Return the paths that `read_unjudged` needs.

    Args:
        folder: of the records: the pipeline's, or an export.
        answers: the file of answers; None if only rankings are judged.
    """
    named = {name: folder / f"{name}.json" for name in ("queries", "corpus", "sidecar")}
    found = {name: path for name, path in named.items() if path.exists()}
    if lineage := lineage_beside(folder):
        found["lineage"] = lineage
    return found | ({"answers": answers} if answers else {})


def _faults(given: Trace | None, doc_ids: Container[str]) -> Iterator[tuple[str, str]]:
    """Yield the kind of each thing that is wrong with an answer, and a message."""
    if given is None:
        yield "missing", "missing"
        return
    if given.answer is None:
        yield "no_answer", "no answer"
    elif not given.answer.strip():
        yield "empty", "an empty answer"
    if given.error:
        yield "system", one_line(given.error)
    evidence = given.evidence or ()
    if wrong := sum(chunk.doc_id not in doc_ids for chunk in evidence):
        yield "evidence", f"{wrong} of {len(evidence)} named as evidence are not documents"


def _measured(questions: Sequence[Question], traces: Mapping[str, Trace]) -> Mapping[str, Floats]:
    """Return the measures of a system that says what it searched; without a trace if it failed."""
    if all(trace.searches is None for trace in traces.values()):
        return {}
    known = {key: each for key, each in traces.items() if each.searches is not None or each.answer}
    return trace_values(questions, known)


def _case(question: Question, answer: str, language: str, aliases: Sequence[str]) -> Case:
    golds = [literal(reference) for reference in references_of(question, language)]
    return Case(
        question.question_id,
        question.asked,
        tuple(dict.fromkeys(gold for gold in golds if gold.strip())),
        answer,
        tuple(aliases),
    )


def _aliases(sidecar: Path | None) -> Mapping[str, Sequence[str]]:
    read = parse(dict[str, Any], read_json(sidecar), str(sidecar)) if sidecar else {}
    return parse(dict[str, list[str]], read.get("aliases", {}), f"{sidecar}: aliases")
