"""How Qdrant searches where it does not compare every vector."""

from dataclasses import dataclass

from bears.errors import ConfigurationError
from bears.types import Closed


@dataclass(frozen=True)
class Hnsw(Closed):
    """The graph of an approximate search (Malkov and Yashunin 2018).

    Args:
        m: edges of each node; 0: there is no graph.
        ef_construct: neighbours that are looked at while the graph is built.
        ef: neighbours that are looked at in a search; more is slower and misses less.
        from_kb: segments with fewer kilobytes of vectors get no graph and are searched whole.
    """

    m: int
    ef_construct: int
    ef: int
    from_kb: int

    def __post_init__(self) -> None:
        least = {"m": 0, "ef_construct": 4, "ef": 1, "from_kb": 0}
        for key, number in least.items():
            if (found := getattr(self, key)) < number:
                raise ConfigurationError(
                    f"vector_store.hnsw.{key} is {found}; expected at least {number}"
                )
