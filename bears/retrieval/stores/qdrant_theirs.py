"""A collection that another program filled: it is read, and never written to."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bears.errors import StoreError
from bears.files.records import read_lines, write_lines
from bears.identity import identifier_of
from bears.retrieval.outside.matching import UNMATCHED, Passage, PassageMatcher
from bears.retrieval.outside.system import TEXTS, text_of, whole_texts
from bears.retrieval.sparse.bm25 import BM25Searcher
from bears.retrieval.stores.qdrant_server import Collection, Hnsw, Server
from bears.types import Document

PLAIN = re.compile(r"[\w-]+")
"""A key that Qdrant takes without quotation marks."""


def write_texts(documents: Iterable[Document], folder: Path) -> None:
    """Write what `PointMatcher` reads."""
    named = ({**text_of(each), "name": each.doc_id, "group": each.group} for each in documents)
    write_lines(folder / TEXTS, named)


class PointMatcher:
    """The documents of a benchmark, by what points say of them.

    Attributes:
        groups: of each document and each chunk, its group.
    """

    def __init__(self, folder: Path) -> None:
        rows = [row for _, row in read_lines(folder / TEXTS)]
        self._matcher = PassageMatcher(whole_texts(rows))
        self.groups = {row[key]: row["group"] for row in rows for key in ("doc_id", "name")}

    def doc_id(self, key: str, text: str) -> str:
        """Return the document or the chunk with an id, or the document with a path or a text.

        Without one, the name begins with `UNMATCHED`, as for a system that runs elsewhere.
        """
        if key in self.groups:
            return key
        found = self._matcher.match(Passage(id=key, text=text))
        return found.doc_id if found else f"{UNMATCHED}{identifier_of(key)}"


class Theirs(Collection):
    """A collection of another program, which is checked to have what the settings name.

    Args:
        server, name, hnsw: see `Collection`.
        vector_name: of its dense vectors; empty: the only ones.
        sparse_name: of its sparse vectors, for ``retriever=qdrant-hybrid``; empty: the only ones.
        sparse_model: with which the server encodes a question for those.
        id_key: of the payload, the id or the path of a document; ``a.b`` is ``b`` in ``a``, or
            has a dot.
        text_key: of the payload, the text, by which a point without a known id is matched; empty:
            it is not.
        matcher: of the documents of the benchmark.

    Attributes:
        size: the dimensions of the dense vectors.

    Raises:
        StoreError: the collection, a vector or a key is missing, or vectors are compared in
            another way than by cosine.
    """

    def __init__(
        self,
        server: Server,
        name: str,
        hnsw: Hnsw | None,
        vector_name: str,
        sparse_name: str,
        sparse_model: str,
        id_key: str,
        text_key: str,
        matcher: PointMatcher,
    ) -> None:
        super().__init__(server, name, hnsw)
        self._documents, self._sparse_name, self._sparse_model = matcher, sparse_name, sparse_model
        if not self._ask(self._client.collection_exists, name):
            known = self._ask(self._client.get_collections).collections
            self._chosen("collection", name, "collections", [each.name for each in known])
        config = self._ask(self._client.get_collection, name).config
        dense = config.params.vectors or {}
        vectors: dict[str, Any] = dense if isinstance(dense, dict) else {"": dense}
        self.vector = self._chosen("vector_name", vector_name, f"dense vectors of {name}", vectors)
        self.size, found = int(vectors[self.vector].size), vectors[self.vector]
        if found.distance not in ("Cosine", "Dot") or found.multivector_config:
            raise StoreError(
                f"vector_store.vector_name is {self.vector!r}, but these vectors of the collection "
                f"{name} have the distance {found.distance.value}"
                f"{' and are several a point' if found.multivector_config else ''}; name vectors "
                "with Cosine or Dot, one a point, as our models make them"
            )
        self._known_sparse = [*(config.params.sparse_vectors or {})]
        self.fit = (
            f"choose the model that filled the collection {name}, or other vectors of it in "
            "vector_store.vector_name"
        )
        if hnsw:
            graph = config.hnsw_config
            self.hnsw = Hnsw(graph.m, graph.ef_construct, hnsw.ef, graph.full_scan_threshold)
        self._id = self._path("id_key", id_key)
        self._text = self._path("text_key", text_key) if text_key else ()
        self.fetched = tuple(_joined(path) for path in (self._id, self._text) if path)

    def doc_id(self, point: Any) -> str:
        """Return the document or the chunk that a point is of."""
        key, text = (_value(point.payload, path) for path in (self._id, self._text))
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise StoreError(
                f"point {point.id} of the collection {self.name} has {key!r:.80} as "
                f"{'.'.join(self._id)!r}; expected the id of a document, a text or a number. Name "
                "another key in vector_store.id_key, or correct the point"
            )
        return self._documents.doc_id(str(key), text if isinstance(text, str) else "")

    def within(self, group: str) -> Any:
        """Return a filter for the points of a group; None if it is empty.

        It looks for the very ids of documents, which may be numbers.
        """
        if not group:
            return None
        names = [name for name, of in self._documents.groups.items() if of == group]
        numbers = [int(name) for name in names if name.isdecimal()]
        conditions = [
            self._api.FieldCondition(key=self.fetched[0], match=self._api.MatchAny(any=some))
            for some in (names, numbers)
        ]
        return self._api.Filter(should=conditions)

    def sparse_query(self, question: str, bm25: BM25Searcher | None) -> Any:  # noqa: ARG002
        """Return the question, which the server encodes; None: there is nothing to encode."""
        self.sparse = self._chosen(
            "sparse_name", self._sparse_name, f"sparse vectors of {self.name}", self._known_sparse
        )
        if not any(map(str.isalnum, question)):
            return None
        return self._api.Document(text=question, model=self._sparse_model)

    def _chosen(self, setting: str, wanted: str, what: str, known: Iterable[str]) -> str:
        """Return the wanted name, or the only one if it is empty."""
        names = [*known]
        if wanted in names:
            return wanted
        if wanted or len(names) != 1:
            raise StoreError(
                f"vector_store.{setting} is {wanted!r}, but the {what} at "
                f"{self._server.url} are {', '.join(map(repr, names[:20])) or 'none'}; give the "
                "name of one of them"
            )
        return names[0]

    def _path(self, setting: str, key: str) -> tuple[str, ...]:
        """Return the keys that lead to a value that every point has."""
        lacking = []
        for path in _paths(key):
            without = self._api.IsEmptyCondition(is_empty=self._api.PayloadField(key=_joined(path)))
            lacks = self._api.Filter(must=[without])
            count = self._ask(self._client.count, self.name, count_filter=lacks, exact=True).count
            if not count:
                return path
            lacking.append((count, lacks))
        count, lacks = min(lacking, key=lambda each: each[0])
        (point,), _ = self._ask(self._client.scroll, self.name, scroll_filter=lacks, limit=1)
        raise StoreError(
            f"vector_store.{setting} is {key!r}, but {count:,} points of the collection "
            f"{self.name} at {self._server.url} do not have it, such as {point.id} with "
            f"{point.payload!r:.200}; give a key that every point has, or add it to those"
        )


def _paths(key: str) -> Iterator[tuple[str, ...]]:
    """Yield the ways to read ``a.b.c``, where a dot may be of a key itself; the deepest first."""
    for place in [each.start() for each in re.finditer(r"\.", key)]:
        yield from ((key[:place], *rest) for rest in _paths(key[place + 1 :]))
    yield (key,)


def _joined(path: Iterable[str]) -> str:
    return ".".join(part if PLAIN.fullmatch(part) else f'"{part}"' for part in path)


def _value(payload: Any, path: Iterable[str]) -> Any:
    for part in path:
        payload = payload.get(part) if isinstance(payload, Mapping) else None
    return payload
