"""How Qdrant searches where it does not compare every vector."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from bears.types import Closed, Positive


@dataclass(frozen=True)
class Hnsw(Closed):
    """The graph of an approximate search (Malkov and Yashunin 2018).

    Args:
        m: edges of each node; 0: there is no graph.
        ef_construct: neighbours that are looked at while the graph is built.
        ef: neighbours that are looked at in a search; more is slower and misses less.
        from_kb: segments with fewer kilobytes of vectors get no graph and are searched whole.
    """

    m: Annotated[int, Field(ge=0)]
    ef_construct: Annotated[int, Field(ge=4)]
    ef: Positive
    from_kb: Annotated[int, Field(ge=0)]
