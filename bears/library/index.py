"""Documents that a retriever has indexed, ready to be searched."""

import shutil
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path

from bears.config.shape import Choice
from bears.config.typed import build
from bears.errors import FormatError
from bears.retrieval.chunking import chunks
from bears.retrieval.levels import OpenIndex, SearchResult
from bears.retrieval.retriever import Query, RetrieveSettings, Stopwatch
from bears.types import ChunkRanking, Document, Question, Ranking, Run


class Index:
    """An index of documents. Without a folder it is deleted together with the object.

    Args:
        documents: what is indexed.
        folder: in which the index stays, instead of one that is there; None: a temporary one.
        chunking, retrieve, retriever: see `bears.config.typed.configured`.

    Raises:
        BearsError: the retriever's model is not here, or a setting does not fit.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        folder: str | Path | None = None,
        *,
        chunking: Choice,
        retrieve: RetrieveSettings,
        retriever: Choice,
    ) -> None:
        self.name = retriever.name
        built = build(retriever, "retriever")
        scratch = Path(tempfile.mkdtemp(prefix="bears-"))
        weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)
        place = Path(folder or scratch / "index")
        place.mkdir(parents=True, exist_ok=True)
        whole = list(documents)
        cut = list(chunks(whole, build(chunking, "chunking")))
        density = len(cut) / max(len({document.doc_id for document in whole}), 1)
        places = {each.doc_id: each.chunk for each in cut if each.chunk.end is not None}
        built.index(cut, place, scratch / "scratch")
        shutil.rmtree(scratch / "scratch", ignore_errors=True)
        self._index = OpenIndex(built.open(place), density, places, retrieve)

    def __repr__(self) -> str:
        return f"Index({self.name!r})"

    def search(self, query: str, depth: int = 10) -> Ranking:
        """Return the ``depth`` best documents for a query, best first: `Hit` with doc_id and score.

        Raises:
            FormatError: ``depth`` is below 1.
        """
        if depth < 1:
            raise FormatError(f"depth is {depth}; expected 1 or more")
        return self._index.levels({"": Query(query)}, depth, Stopwatch())[""].documents

    def run(self, questions: Iterable[Question]) -> Run:
        """Return the ranking of each question by its id, ``retrieve.depth`` (100) documents deep.

        Raises:
            FormatError: one of them is not a `Question`.
        """
        return {key: levels.documents for key, levels in self._levels(questions).items()}

    def chunks(self, questions: Iterable[Question]) -> dict[str, ChunkRanking]:
        """Return the ranking of chunks of each question by its id.

        Raises what `run` raises.
        """
        return {key: levels.chunks for key, levels in self._levels(questions).items()}

    def _levels(self, questions: Iterable[Question]) -> dict[str, SearchResult]:
        asked = list(questions)
        if wrong := [each for each in asked if not isinstance(each, Question)]:
            raise FormatError(
                f"{wrong[0]!r:.80} is not a Question; to search for a text, call search(TEXT)"
            )
        queries = {question.question_id: Query(question.question) for question in asked}
        return self._index.search(queries, Stopwatch())
