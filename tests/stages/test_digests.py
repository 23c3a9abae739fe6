"""What must not change: the records, rankings and values of the benchmarks, and what is replayed.

The cases that are those of a word are compared where the word runs, in `test_words.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.selecting import DIGESTS, assert_as_it_was, import_translations, select
from tests.stages.test_words import HELD, WORDS
from tests.workspace import Workspace

BEARS = ["benchmark=bears", "mirror=DATA/raw"]
CASES: dict[str, tuple[str, list[str]]] = {
    "mini, sentences": ("judge", ["chunking=sentences", "generator=sentence", "judge=contains"]),
    **{f"bears, seed {n}": ("sample", [*BEARS, f"sample.seed={n}"]) for n in (1, 7, 2026)},
    **{
        f"chunking, {word}": (
            "evaluate",
            ["benchmark=chunking", "mirror=DATA", f"chunking={word}"],
        )
        for word in ("tokens", "sentences", "passages")
    },
}
"""A name to the last stage that runs, and the choices."""


def test_every_digest_is_compared_here_or_where_a_word_runs() -> None:
    assert {*CASES, *HELD.values()} == DIGESTS.keys()
    assert CASES.keys().isdisjoint(HELD.values())
    assert HELD.keys() <= {*WORDS}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_records_rankings_and_values_are_what_they_were(
    case: str, sharing: Workspace, shared_data: Path
) -> None:
    stage, words = CASES[case]
    words = [word.replace("DATA", str(shared_data)) for word in words]
    select(sharing, words)
    benchmark = dict(word.split("=", 1) for word in words).get("benchmark", "mini")
    if stage != "sample":
        import_translations(sharing, benchmark, shared_data)
    sharing.dvc("repro", stage)
    assert_as_it_was(case, sharing.root, benchmark)
