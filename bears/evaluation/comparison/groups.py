"""Systems that cannot be told apart: letters for groups of them, and ranges for their ranks."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from string import ascii_letters

import networkx as nx


def letters(ordered: Sequence[str], different: Collection[frozenset[str]]) -> dict[str, str]:
    """The compact letter display: two systems share a letter if they cannot be told apart.

    Source: Piepho, Journal of Computational and Graphical Statistics 13 (2004). Each letter is a
    largest set of systems of which no two are different.

    Args:
        ordered: systems, the highest mean first; ``a`` is a group of the first.
        different: pairs that can be told apart.
    """
    graph = nx.Graph()
    graph.add_nodes_from(ordered)
    graph.add_edges_from(
        pair for pair in combinations(ordered, 2) if frozenset(pair) not in different
    )
    place = {name: i for i, name in enumerate(ordered)}
    groups = sorted(sorted(map(place.__getitem__, group)) for group in nx.find_cliques(graph))
    return {
        name: "".join(_letter(i) for i, group in enumerate(groups) if place[name] in group)
        for name in ordered
    }


def _letter(number: int) -> str:
    """a to z, A to Z, and then letters that nobody will ever see."""
    return ascii_letters[number] if number < len(ascii_letters) else chr(0x100 + number)


def rank_ranges(
    means: Mapping[str, float], different: Collection[frozenset[str]]
) -> dict[str, tuple[int, int]]:
    """The ranks that each system may have, 1 the best.

    They hold for all systems at once, at the level at which all of ``different`` hold at once: a
    rank is beyond the systems that are surely better, and before those that are surely worse.

    Source: Mohamad, Goeman and van Zwet, Simultaneous confidence intervals for ranks (2018).
    """
    return {
        name: (
            1 + sum(frozenset((name, o)) in different for o in means if means[o] > mean),
            len(means) - sum(frozenset((name, o)) in different for o in means if means[o] < mean),
        )
        for name, mean in means.items()
    }
