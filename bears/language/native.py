"""Which texts are in the language that is asked for already."""

from collections.abc import Iterable, Mapping


def languages_of(
    sources: Mapping[str, Mapping[str, str]], names: Iterable[str], kept: str, target: str
) -> dict[str, str]:
    """Source to the language of its texts, as far as translating goes.

    Args:
        sources: source to its configuration, which has a ``language``.
        names: the sources that records name; a benchmark of one source may name others, and its
            language is then that of the one.
        kept: the language of the benchmark (``benchmark.language``).
        target: the selected language. Where ``kept`` is another one the benchmark keeps its
            language, and every text counts as native.
    """
    languages = {name: source["language"] for name, source in sources.items()}
    if len(languages) == 1:
        [only] = languages.values()
        languages |= dict.fromkeys(names, only)
    return languages if kept == target else dict.fromkeys(languages, target)
