"""Language tags, the scripts of each language, and the languages of a benchmark's texts."""

import re
from collections.abc import Iterable, Mapping

from bears.config.shape import Source
from bears.errors import ConfigurationError
from bears.files.intake.yaml_text import table_of

SCRIPTS: dict[str, tuple[str, ...]] = {}
"""Primary subtag to the scripts of its texts, named as in `bears.language.scripts`."""
for _script, _subtags in table_of(__file__).items():
    for _subtag in _subtags.split():
        SCRIPTS[_subtag] = (*SCRIPTS.get(_subtag, ()), _script)


def primary(tag: str) -> str:
    """Return the primary subtag of a BCP 47 tag: ``zh`` of ``zh-Hant-TW``."""
    return tag.split("-", 1)[0].lower()


def unspaced(tag: str) -> bool:
    """Return whether no script of a language puts spaces between words."""
    scripts = set(SCRIPTS.get(primary(tag), ()))
    return bool(scripts) and scripts <= {"HAN", "KANA", "THAI", "LAO", "MYANMAR", "KHMER"}


_FORM = re.compile(r"[a-z]{2,8}(?:-[a-z0-9]{1,8})*", re.IGNORECASE)


def check_tag(tag: str, where: str) -> None:
    """Refuse an unknown tag, because an index made for it would find nothing.

    Raises:
        ConfigurationError: with the tags that are known.
    """
    if primary(tag) not in SCRIPTS or not _FORM.fullmatch(tag):
        raise ConfigurationError(
            f"{where} is {tag!r}; expected the language of the texts as a BCP 47 tag such as en, "
            f"ja or zh-Hant-TW, whose first part is one of {', '.join(sorted(SCRIPTS))}"
        )


def languages_of(
    sources: Mapping[str, Source], names: Iterable[str], kept: str, target: str
) -> dict[str, str]:
    """Map each source to the language of its texts, for the purpose of translation.

    Args:
        sources: the settings of each source.
        names: the sources that records name. A benchmark of one source may name others; they have
            the language of that one.
        kept: the language of the benchmark (``benchmark.language``).
        target: the selected language. If ``kept`` is another one, the benchmark keeps its language,
            and every text counts as native.
    """
    languages = {name: source.language for name, source in sources.items()}
    if len(languages) == 1:
        [only] = languages.values()
        languages |= dict.fromkeys(names, only)
    return languages if kept == target else dict.fromkeys(languages, target)
