"""Documents that a retriever has indexed, ready to be searched."""

import shutil
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path

from bears.config import Config, build, parse
from bears.errors import FormatError
from bears.retrieval.chunking import chunks
from bears.retrieval.retrieve_settings import RetrieveSettings
from bears.retrieval.retriever import Query, Searcher
from bears.retrieval.stopwatch import Stopwatch
from bears.types import Document, Question, Ranking, Run


class Index:
    """An index of documents. What is not given a folder is gone when nobody holds it any more.

    Args:
        documents: what is indexed.
        config: as `bears.library.settings.settings` gives it.
        folder: in which the index stays, instead of one that is there; None: a temporary one.

    Raises:
        BearsError: the retriever's model is not here, or a setting does not fit.
    """

    def __init__(
        self, documents: Iterable[Document], config: Config, folder: str | Path | None = None
    ) -> None:
        self.name = str(config["retriever"]["name"])
        self._settings = parse(RetrieveSettings, config["retrieve"], "retrieve")
        retriever = build(config["retriever"], "retriever")
        chunking = build(config["chunking"], "chunking")
        scratch = Path(tempfile.mkdtemp(prefix="bears-"))
        weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)
        place = Path(folder or scratch / "index")
        place.mkdir(parents=True, exist_ok=True)
        retriever.index(chunks(documents, chunking), place, scratch / "scratch")
        shutil.rmtree(scratch / "scratch", ignore_errors=True)
        self._searcher: Searcher = retriever.open(place)

    def __repr__(self) -> str:
        return f"Index({self.name!r})"

    def search(self, query: str, depth: int = 10) -> Ranking:
        """The best ``depth`` documents of one query, best first: `Hit` with doc_id and score.

        Raises:
            FormatError: ``depth`` is below 1.
        """
        if depth < 1:
            raise FormatError(f"depth is {depth}; expected 1 or more")
        (found,) = self._searcher.search([Query(query)], depth, Stopwatch())
        return found

    def run(self, questions: Iterable[Question]) -> Run:
        """The ranking of each question by its id, ``retrieve.depth`` (100) documents deep.

        Raises:
            FormatError: one is no `Question`.
        """
        asked = list(questions)
        if wrong := [each for each in asked if not isinstance(each, Question)]:
            raise FormatError(
                f"{wrong[0]!r:.80} is no question of a benchmark; a text is asked with search(TEXT)"
            )
        texts = {question.question_id: Query(question.question) for question in asked}
        depth = self._settings.depth
        found = self._searcher.search(list(texts.values()), depth, Stopwatch()) if texts else []
        return {
            each: self._settings.kept(each, hits) for each, hits in zip(texts, found, strict=True)
        }
