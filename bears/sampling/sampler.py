"""How a benchmark is drawn, as conf/benchmark/<name>.yaml says."""

from collections.abc import Mapping
from typing import Any

from bears.config.typed import build, require_target

BEFORE = {
    "bears": "bears.sampling.mixture.Recipe",
    "recipe": "bears.sampling.mixture.Recipe",
    "bears-v1": "bears.sampling.mixture.V1Recipe",
    "bears-published": "bears.sampling.mixture.PublishedRecipe",
    "whole": "bears.sampling.whole.Whole",
    "made": "bears.questions.settings.MadeSettings",
}
"""The words of earlier versions for the samplers."""


def sampler_of(sample: Mapping[str, Any]) -> Any:
    """Return the sampler that ``sample`` describes.

    Raises:
        ConfigurationError: the description is wrong, or of an earlier version of BEARS.
    """
    word = str(sample.get("sampler", "recipe"))
    require_target(sample, "sample", BEFORE.get(word, BEFORE["recipe"]), "sampler")
    return build(sample, "sample", "bears")


def as_before(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``sample`` as earlier versions wrote it, so that digests of it stay the same."""
    words = {target: word for word, target in reversed(BEFORE.items())}
    settings = {name: part for name, part in sample.items() if name != "_target_"}
    target = sample.get("_target_")
    return {"sampler": words.get(target, target), **settings} if target else settings
