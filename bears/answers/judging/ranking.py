"""Systems in the order of their pass rates, where that order does not hang on the unscored."""

from collections.abc import Mapping, Sequence


def ranked(bounds: Mapping[str, Sequence[float] | None]) -> tuple[list[str], list[tuple[str, str]]]:
    """Systems from the best to the worst, and the pairs that nobody can rank.

    Args:
        bounds: system to its least and its greatest pass rate, see ``pass_bounds``.

    Returns:
        The systems, by name where any pair cannot be ranked; and these pairs: a verdict that is
        missing would decide which of the two is better.
    """
    names = sorted(bounds)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    open_pairs = [pair for pair in pairs if _overlap(*(bounds[name] for name in pair))]
    if open_pairs:
        return names, open_pairs
    return sorted(names, key=lambda name: tuple(bounds[name] or ()), reverse=True), []


def _overlap(a: Sequence[float] | None, b: Sequence[float] | None) -> bool:
    """Whether either could be the higher one; two points that are equal are known to be."""
    if a is None or b is None:
        return True
    points = a[0] == a[1] and b[0] == b[1]
    return not points and a[0] <= b[1] and b[0] <= a[1]
