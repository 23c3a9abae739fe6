"""The items of a system that a judge grades one by one, and the measures that they make.

Documents are graded for their question, nuggets for an answer, and the sentences of an answer for
the passages that they cite.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bears.answers.judging.chosen import AnyJudge, rulings_of
from bears.answers.judging.files import read_unjudged
from bears.answers.judging.judged import JudgedQuestion, with_rulings
from bears.answers.judging.ruling import RELEVANT, UNCITED, VITAL, Case, Graded, Item
from bears.config.ledger.entries import Nugget
from bears.evaluation.answers.nuggets import citation_scores, nugget_scores
from bears.files.chunk_run import read_chunk_run
from bears.files.records import stream_documents
from bears.files.shown import complain
from bears.files.trec import read_table
from bears.language.sentences import sentence_spans
from bears.layout import chunks_beside
from bears.llm.use import KeptReplies
from bears.trace import Trace
from bears.types import Chunk, Question

DEPTH = 10
"""How many documents of a ranking are graded."""
LONGEST = 8000
"""Characters of a passage that a judge reads."""
NOTHING = Chunk("")
"""What a ranking without documents has in their place."""
Read = Callable[[Chunk], str]
"""Returns the text of a chunk; empty if its document is not in the benchmark."""


def with_items(
    rows: Sequence[JudgedQuestion],
    judge: AnyJudge | None,
    corpus: Path,
    nuggets: Iterable[Nugget],
    run: Path | None = None,
) -> list[JudgedQuestion]:
    """Add to each row the items that the judge grades.

    Args:
        corpus: the file of the documents.
        nuggets: of all questions.
        run: of the retriever whose documents are graded; None: those that each trace found.

    Raises:
        FormatError: a file is malformed.
    """
    scale = judge.scale if judge else Case.scale
    if scale == Case.scale:
        return [*rows]
    contents = {each.doc_id: each.content for each in stream_documents(corpus)}
    of_question = defaultdict[str, list[Nugget]](list)
    for nugget in nuggets:
        of_question[nugget.question_id].append(nugget)
    if scale == "nuggets" and not of_question:
        complain("the benchmark has no nuggets to look for; `bears nuggets write` makes some")
    ranked = scale == "relevance"
    found = _retrieved(run, {row.key for row in rows}) if run and ranked else {}

    def read(chunk: Chunk) -> str:
        return chunk.of(contents.get(chunk.doc_id, ""))[:LONGEST]

    def items(row: JudgedQuestion) -> Iterator[Item]:
        # A ranking without documents counts 0.
        own = found.get(row.key, ()) if run else _searched(row.trace, contents)
        known = run or row.trace.searches is not None
        for chunk in (own or [NOTHING]) if ranked and known else ():
            texts = {"question": row.case.question, "passage": read(chunk)}
            yield Item("relevance", row.key, chunk.doc_id, texts)
        if scale == "nuggets":
            yield from _nuggets(row.case, of_question[row.key])
        if scale == "citations":
            yield from _sentences(row.trace, read)

    return [replace(row, items=tuple(items(row))) for row in rows]


def traced_rows(
    traces: Path,
    questions: Sequence[Question],
    paths: Mapping[str, Path],
    language: str,
    judge: AnyJudge | None,
    nuggets: Iterable[Nugget],
) -> list[JudgedQuestion]:
    """Return the questions of a file of traces, for a judge; none if there is no such file.

    Args:
        traces: of any questions; those that are not in the benchmark are left out.
        questions: of the benchmark, with people's decisions in their gold.
        paths: as in `read_unjudged`.
        language: BCP 47 tag of the answers.
        nuggets: of all questions.

    Raises:
        FormatError: a file is malformed.
    """
    if not traces.is_file():
        return []
    answers = {**paths, "answers": traces}
    rows = read_unjudged(questions, answers, language, ignore_unknown=True)
    return with_items(rows, judge, paths["corpus"], nuggets)


def _retrieved(run: Path, questions: set[str]) -> dict[str, list[Chunk]]:
    """Return the first documents of each ranking, each as the best of its chunks."""
    chunks = chunks_beside(run)
    best: defaultdict[str, dict[str, Chunk]] = defaultdict(dict)
    for key, ranking in read_chunk_run(chunks, questions).items() if chunks.is_file() else ():
        best[key] = {hit.doc_id: hit.chunk for hit in reversed(ranking)}
    return {
        key: [best[key].get(hit.doc_id, Chunk(hit.doc_id)) for hit in ranking[:DEPTH]]
        for key, ranking in read_table(run, questions).rankings().items()
    }


def _searched(trace: Trace, contents: Container[str]) -> list[Chunk]:
    """Return the first documents that a system found, each as the first of its chunks."""
    first: dict[str, Chunk] = {}
    for hit in trace.ranking:
        if hit.chunk.doc_id in contents:
            first.setdefault(hit.chunk.doc_id, hit.chunk)
    return [*first.values()][:DEPTH]


def _nuggets(case: Case, own: Sequence[Nugget]) -> Iterator[Item]:
    beside = tuple(nugget.text for nugget in own)
    for nugget in own:
        texts = {"question": case.question, "nugget": nugget.text, "answer": case.answer}
        yield Item("nuggets", case.question_id, nugget.nugget_id, texts, nugget.importance, beside)


def _sentences(trace: Trace, read: Read) -> Iterator[Item]:
    """Yield the sentences of an answer, each with the passage that it cites first.

    An answer of a system that does not say what each sentence cites has none.
    """
    if trace.citations is None:
        return
    answer, cited = trace.answer or "", [*trace.citations]
    for number, (start, end) in enumerate(sentence_spans(answer) or [(0, 0)], start=1):
        own = [each for each in cited if each.end <= end]
        del cited[: len(own)]
        passage = read(own[0].chunk) if own else ""
        texts = {"sentence": answer[start:end], "passage": passage}
        note = own[0].chunk.name if own else UNCITED
        yield Item("citations", trace.question_id, str(number), texts, note)


def cases_of(rows: Sequence[JudgedQuestion]) -> list[Case | Item]:
    """Return everything that a judge may judge."""
    return [
        *(row.case for row in rows if row.asked),
        *(item for row in rows for item in row.items),
    ]


def judged(
    rows: Sequence[JudgedQuestion], judge: AnyJudge | None, language: str, known: KeptReplies
) -> list[JudgedQuestion]:
    """Return the rows with the rulings on their answers, or on their items.

    Raises:
        RepliesMissing: the rulings of a model are missing.
    """
    if judge is None:
        return [*rows]
    rulings = rulings_of(judge, cases_of(rows), language, known)
    if judge.scale == Case.scale:
        return with_rulings(rows, rulings)
    graded, found = [], iter(rulings)
    for row in rows:
        own = [Graded(each, next(found)) for each in row.items]
        traced = {**row.traced, **measures(own, 0)}
        graded.append(replace(row, graded=tuple(own), traced=traced, most=measures(own, -1)))
    return graded


def measures(own: Sequence[Graded], unscored: int) -> dict[str, float]:
    """Return the measures of one question.

    ``graded_precision@10`` is the share of documents with a grade from `RELEVANT` on among the
    first ten, and ``graded_dcg@10`` the sum of all grades, each divided by log2(rank + 1).

    Args:
        own: the items of the question, documents in the order of the ranking.
        unscored: as in `Graded.credit`.
    """
    of: dict[str, list[Graded]] = {}
    for each in own:
        of.setdefault(each.item.scale, []).append(each)
    credits = {scale: [each.credit(unscored) for each in items] for scale, items in of.items()}
    found: dict[str, float] = {}
    if grades := credits.get("relevance"):
        found[f"graded_precision@{DEPTH}"] = sum(grade >= RELEVANT for grade in grades) / DEPTH
        gains = (grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))
        found[f"graded_dcg@{DEPTH}"] = math.fsum(gains)
    if nuggets := credits.get("nuggets"):
        vital = [each.item.note == VITAL for each in of["nuggets"]]
        found |= nugget_scores(nuggets, vital)
    if "citations" in credits:
        cites = [each.item.note != UNCITED for each in of["citations"]]
        support = zip(credits["citations"], cites, strict=True)
        found |= citation_scores([credit if there else None for credit, there in support])
    return found
