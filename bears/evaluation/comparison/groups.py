"""Groups and ranks of systems, given which pairs differ."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from string import ascii_letters

import networkx as nx

Placed = tuple[str, tuple[int, int]]
"""The group letters of a system, and the best and the worst rank that it may have."""


def placed(means: Mapping[str, float], different: Collection[frozenset[str]]) -> dict[str, Placed]:
    """Return the group and the rank range of each system.

    Args:
        means: system to its mean; a higher one is better.
        different: pairs whose difference is significant.
    """
    # Means that differ by rounding alone are the same.
    ordered = sorted(means, key=lambda name: (-round(means[name], 12), name))
    groups, ranks = letters(ordered, different), rank_ranges(means, different)
    return {name: (groups[name], ranks[name]) for name in means}


def letters(ordered: Sequence[str], different: Collection[frozenset[str]]) -> dict[str, str]:
    """Return the compact letter display: systems that share a letter do not differ significantly.

    Source: Piepho, Journal of Computational and Graphical Statistics 13 (2004). Each letter is a
    maximal set of systems of which no two differ.

    Args:
        ordered: systems, the highest mean first; the first system is in group ``a``.
        different: pairs that differ.
    """
    graph = nx.Graph()
    graph.add_nodes_from(ordered)
    graph.add_edges_from(p for p in combinations(ordered, 2) if frozenset(p) not in different)
    place = {name: i for i, name in enumerate(ordered)}
    groups = sorted(sorted(map(place.__getitem__, group)) for group in nx.find_cliques(graph))
    return {
        name: "".join(_letter(i) for i, group in enumerate(groups) if place[name] in group)
        for name in ordered
    }


def _letter(number: int) -> str:
    """Return a to z, A to Z, and then any other letters."""
    return ascii_letters[number] if number < len(ascii_letters) else chr(0x100 + number)


def rank_ranges(
    means: Mapping[str, float], different: Collection[frozenset[str]]
) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank that each system may have; 1 is the best rank.

    The ranges hold for all systems at once, at the level at which all of ``different`` hold at
    once. A system ranks below all that are significantly better, and above all that are
    significantly worse.

    Source: Mohamad, Goeman and van Zwet, Simultaneous confidence intervals for ranks (2018).
    """
    return {
        name: (
            1 + sum(frozenset((name, o)) in different for o in means if means[o] > mean),
            len(means) - sum(frozenset((name, o)) in different for o in means if means[o] < mean),
        )
        for name, mean in means.items()
    }
