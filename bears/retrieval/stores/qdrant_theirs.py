"""A collection that another program filled: it is read, and never written to."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from bears.errors import StoreError
from bears.identity import identifier_of
from bears.retrieval.outside.matching import UNMATCHED, Passage, PassageMatcher
from bears.retrieval.stores.qdrant_server import Collection, Hnsw, Server
from bears.types import Document, IndexedChunk

PART = re.compile(r'"([^"]*)"|([^."]+)')
"""A part of a path in the payload; one with a dot or a space has quotation marks."""


def groups_of(documents: Iterable[Document]) -> dict[str, str]:
    """Return the name of each document and of each chunk, to its group."""
    groups: dict[str, str] = {}
    for each in documents:
        groups[each.doc_id] = each.group
        if isinstance(each, IndexedChunk):
            groups[each.chunk.doc_id] = each.group
    return groups


class Theirs(Collection):
    """A collection of another program, which is checked to have what the settings name.

    Args:
        server, name, hnsw: see `Collection`.
        vector_name: of its dense vectors; empty: the only ones.
        id_key: of the payload, the id or the path of a document; ``a.b`` is ``b`` in ``a``.
        groups: see `groups_of`.

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
        id_key: str,
        groups: Mapping[str, str],
    ) -> None:
        super().__init__(server, name, hnsw)
        self._groups, self._matcher = groups, PassageMatcher(groups)
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
        self.fit = (
            f"choose the model that filled the collection {name}, or other vectors of it in "
            "vector_store.vector_name"
        )
        if hnsw:
            graph = config.hnsw_config
            self.hnsw = Hnsw(graph.m, graph.ef_construct, hnsw.ef, graph.full_scan_threshold)
        self.fetched = (id_key,)
        self._check_all_have(id_key)

    def doc_id(self, point: Any) -> str:
        """Return the document or the chunk with the point's id, or the document with its path.

        Without one, the name begins with `UNMATCHED`, as for a system that runs elsewhere.
        """
        key = point.payload
        for quoted, plain in PART.findall(self.fetched[0]):
            key = key.get(quoted or plain) if isinstance(key, Mapping) else None
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise StoreError(
                f"point {point.id} of the collection {self.name} has {key!r:.80} as "
                f"{self.fetched[0]!r}; expected the id of a document, a text or a number. Name "
                "another key in vector_store.id_key, or correct the point"
            )
        found = self._matcher.match(Passage(id=str(key)))
        return found.doc_id if found else f"{UNMATCHED}{identifier_of(str(key))}"

    def within(self, group: str) -> Any:
        """Return a filter for the points of a group; None if it is empty.

        It looks for the very ids of documents, which may be numbers.
        """
        if not group:
            return None
        names = [name for name, of in self._groups.items() if of == group]
        numbers = [int(name) for name in names if name.isdecimal()]
        conditions = [
            self._api.FieldCondition(key=self.fetched[0], match=self._api.MatchAny(any=some))
            for some in (names, numbers)
        ]
        return self._api.Filter(should=conditions)

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

    def _check_all_have(self, key: str) -> None:
        without = self._api.IsEmptyCondition(is_empty=self._api.PayloadField(key=key))
        lacks = self._api.Filter(must=[without])
        count = self._ask(self._client.count, self.name, count_filter=lacks, exact=True).count
        if count:
            (point,), _ = self._ask(self._client.scroll, self.name, scroll_filter=lacks, limit=1)
            raise StoreError(
                f"vector_store.id_key is {key!r}, but {count:,} points of the collection "
                f"{self.name} at {self._server.url} do not have it, such as {point.id} with "
                f"{point.payload!r:.200}; give a key that every point has, or add it to those"
            )
