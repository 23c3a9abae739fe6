"""Which texts count as being in the target language already."""

from __future__ import annotations

import pytest

from bears.language.tags import languages_of

MIXED = {"drcd": {"language": "zh-Hant-TW"}, "hotpotqa": {"language": "en"}}
ONE = {"beir": {"language": "en"}}


@pytest.mark.parametrize(
    ("sources", "names", "kept", "expected"),
    [
        # Translated into the selected language: every source has its own.
        (MIXED, {"drcd"}, "zh-Hant-TW", {"drcd": "zh-Hant-TW", "hotpotqa": "en"}),
        (ONE, {"beir"}, "zh-Hant-TW", {"beir": "en"}),
        # Kept in another language than the selected one: nothing is to be translated.
        (ONE, {"beir"}, "en", {"beir": "zh-Hant-TW"}),
        # Records of a benchmark of one source may name where they once came from.
        (ONE, {"drcd", "2wiki"}, "zh-Hant-TW", dict.fromkeys(("beir", "drcd", "2wiki"), "en")),
        (ONE, {"drcd"}, "en", dict.fromkeys(("beir", "drcd"), "zh-Hant-TW")),
        # Of several sources an unknown name stays unknown.
        (MIXED, {"nq"}, "zh-Hant-TW", {"drcd": "zh-Hant-TW", "hotpotqa": "en"}),
    ],
)
def test_a_text_is_native_where_its_language_is_the_target(
    sources: dict[str, dict[str, str]], names: set[str], kept: str, expected: dict[str, str]
) -> None:
    assert languages_of(sources, names, kept, "zh-Hant-TW") == expected
