"""A sampler is chosen like a retriever: by the class that its benchmark names."""

from __future__ import annotations

import pytest

from bears.errors import ConfigurationError
from bears.sampling.mixture import sampler_of


def test_the_settings_of_a_sampler_are_checked() -> None:
    whole = {"_target_": "bears.sampling.whole.Whole", "source": "s", "max_docs": 0}
    with pytest.raises(ConfigurationError, match=r"^sample\.max_docs: .*, found 0$"):
        sampler_of(whole)
    with pytest.raises(ConfigurationError, match=r"^sample\.negatives: .*, found 'x'$"):
        sampler_of({**whole, "max_docs": None, "negatives": "x"})
