"""A sampler is chosen like a retriever: by the class that its benchmark names."""

from __future__ import annotations

import pytest

from bears.errors import ConfigurationError
from bears.sampling.mixture import BEFORE, sampler_of


@pytest.mark.parametrize("word", BEFORE)
@pytest.mark.parametrize("target", [{}, {"_target_": "bears.sampling.mixture.Recipe"}])
def test_a_word_of_an_earlier_version_is_told_the_line_to_write(
    word: str, target: dict[str, str]
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        sampler_of({"sampler": word, **target})
    _, line = str(refused.value).split("in its file in conf/, write ")
    name = {
        "bears": "mixture.Recipe",
        "recipe": "mixture.Recipe",
        "bears-v1": "mixture.V1Recipe",
        "bears-published": "mixture.PublishedRecipe",
        "whole": "whole.Whole",
    }.get(word)
    kind = f"bears.sampling.{name}" if name else "bears.questions.settings.MadeSettings"
    assert line == f"`_target_: {kind}` in place of `sampler: {word}`"


def test_the_settings_of_a_sampler_are_checked() -> None:
    whole = {"_target_": "bears.sampling.whole.Whole", "source": "s", "max_docs": 0}
    with pytest.raises(ConfigurationError, match=r"^sample\.max_docs: .*, found 0$"):
        sampler_of(whole)
    with pytest.raises(ConfigurationError, match=r"^sample\.negatives: .*, found 'x'$"):
        sampler_of({**whole, "max_docs": None, "negatives": "x"})
