"""Rankings as people have them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from numbers import Real
from typing import Any

from bears.errors import FormatError
from bears.files.progress import Progress
from bears.retrieval.outside.matching import PassageMatcher, matched
from bears.retrieval.outside.replies import asking, has_passages, reply_of
from bears.trace import Search, Trace
from bears.types import Chunk, ChunkHit, ChunkRanking, Question, in_chunk_order

Place = str | Chunk
Found = Iterable[Place] | Iterable[tuple[Place, float]] | Mapping[Place, float]
"""A ranking: ids or chunks, best first; pairs with a score, best first; or each with its score."""
Rankings = Mapping[str, Found] | Callable[[str], Any] | Any
"""Rankings by question_id, or a system; see `bears.retrieval.outside.replies.asking`."""
Unmatched = list[tuple[str, str]]
"""Passages without a document: question_id and text."""


def traces_of(
    rankings: Rankings, questions: Sequence[Question], documents: Mapping[str, str], threads: int
) -> tuple[dict[str, Trace], Unmatched]:
    """Return question_id to trace, and the passages that match no document.

    Args:
        rankings: in any of the forms above.
        questions: the benchmark's, which a system is asked.
        documents: doc_id to text.
        threads: how many questions a system is asked at a time.

    Raises:
        FormatError: a question or a document is unknown, a ranking has another form, or no passage
            matches a document.
    """
    if isinstance(rankings, Mapping):
        found = dict(rankings)
    elif ask := asking(rankings):
        texts = [question.question for question in questions]
        with ThreadPoolExecutor(threads) as pool:
            # With one thread the system is asked in this one, which it may depend on.
            answers = pool.map(ask, texts) if threads > 1 else map(ask, texts)
            bar = Progress(answers, total=len(texts), unit=" questions", delay=2)
            found = dict(zip((q.question_id for q in questions), bar, strict=True))
        if any(has_passages(reply) for reply in found.values()):
            return _matched(found, questions, documents)
    else:
        raise FormatError(
            f"run is {rankings!r:.80}; expected question_id to ranking, a function from a "
            "question's text to a ranking or to passages, a retriever of LangChain, LlamaIndex or "
            "PyTerrier, or the path of a TREC run file"
        )
    known = {each.question_id: each for each in questions}
    if unknown := [key for key in found if key not in known]:
        raise FormatError(
            f"{unknown[0]!r:.80} is not a question_id of this benchmark; take the ids from "
            "benchmark.questions, or give a function from a question's text to a ranking"
        )
    run = {key: _ranking(key, ranking) for key, ranking in found.items()}
    for key, ranking in run.items():
        if strange := [hit.doc_id for hit in ranking if hit.doc_id not in documents]:
            raise FormatError(
                f"question {key!r}: {strange[0]!r:.80} is not the id of a document of this "
                "benchmark; rank documents by the ids that benchmark.documents has"
            )
    return {
        key: Trace(question_id=key, searches=(Search(known[key].question, ranking),))
        for key, ranking in run.items()
    }, []


def _matched(
    found: Mapping[str, Any], questions: Sequence[Question], documents: Mapping[str, str]
) -> tuple[dict[str, Trace], Unmatched]:
    """Match the passages of each question; those without a document keep their rank."""
    matcher, traces, unmatched, passages = PassageMatcher(documents), {}, Unmatched(), 0
    for question in questions:
        key = question.question_id
        reply = reply_of(found[key], question.question)
        found_here = reply.passages
        chunks = matcher.chunks(found_here)
        passages += len(chunks)
        unmatched += [
            (key, each.text or each.source or each.id)
            for chunk, each in zip(chunks, found_here, strict=True)
            if not matched(chunk)
        ]
        traces[key] = matcher.trace(key, reply, chunks)
    if passages and passages == len(unmatched):
        raise FormatError(
            f"none of the {passages} passages is from a document of this benchmark, such as "
            f"{unmatched[0][1]!r:.80}; give their source, or the text of the documents"
        )
    return traces, unmatched


def _ranking(key: str, found: Any) -> ChunkRanking:
    if isinstance(found, Mapping):
        return in_chunk_order(_hit(key, pair) for pair in found.items())
    if isinstance(found, str | Set) or not isinstance(found, Iterable):
        raise _no_ranking(key, found)
    listed = list(found)
    if all(isinstance(each, str | Chunk) for each in listed):
        listed = [(each, -float(place)) for place, each in enumerate(listed)]
    hits = tuple(_hit(key, pair) for pair in listed)
    for before, after in pairwise(hits):
        # Distances come so, and would be read as the worst ranking there is.
        if after.score > before.score:
            raise FormatError(
                f"question {key!r}: the score rises from {before.score} to {after.score} at "
                f"{after.doc_id!r:.80}; list the best document first, with the highest score "
                "(negate distances), or give a mapping of id to score"
            )
    if len({hit.chunk for hit in hits}) < len(hits):
        twice, _ = Counter(hit.chunk.name for hit in hits).most_common(1)[0]
        raise FormatError(
            f"question {key!r}, document {twice!r} occurs more than once in a ranking"
        )
    return in_chunk_order(hits)


def _hit(key: str, pair: Any) -> ChunkHit:
    match pair:
        case (str(doc_id), Real() as score) if not isinstance(score, bool):
            return ChunkHit(Chunk(doc_id), float(score))
        case (Chunk() as chunk, Real() as score) if not isinstance(score, bool):
            return ChunkHit(chunk, float(score))
    raise _no_ranking(key, pair)


def _no_ranking(key: str, found: Any) -> FormatError:
    return FormatError(
        f"question {key!r}: {found!r:.80} does not belong in a ranking; expected a list of "
        "document ids, a list of pairs (id, score), or a mapping of id to score"
    )
