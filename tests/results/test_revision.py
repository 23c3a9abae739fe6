"""A state of the project, as this version of the package and earlier ones wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from bears.config.ledger.entries import PairDecision
from bears.results.origins import _named
from bears.results.revision import CachedRun, Revision
from bears.results.row import configuration_digest
from bears.results.system import System

SAID = {"question_id": "q", "doc_id": "d", "decision": "partial"}
LEDGER = {"replacements": [], "edits": [], "reviews": [], "judgements": [SAID]}
RETRIEVER = {"retriever": {"name": "bm25"}}
EARLIER = {"benchmark": {"name": "mini", "language": "en", "accept": []}, "ledger": LEDGER}
NOW = {"benchmark": {"name": "mini", "language": "en"}, "accepted": [], **LEDGER}


@pytest.mark.parametrize(
    ("config", "digest"),
    [
        # What the version before wrote into the leaderboard for the first and the last.
        ({**RETRIEVER, **EARLIER}, "e8dbf2176e42"),
        ({**RETRIEVER, **NOW}, "e8dbf2176e42"),
        (RETRIEVER, "5b02ee15d677"),
    ],
)
def test_a_commit_of_an_earlier_version_has_the_same_decisions_and_digest(
    config: dict[str, Any], digest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("data/config.yaml").write_text(yaml.safe_dump(config))
    revision = Revision("workspace")
    decided = [PairDecision("q", "d", "partial")] if "benchmark" in config else []
    assert [*revision.decisions] == decided
    assert configuration_digest(revision.config) == digest


@pytest.mark.parametrize(
    "params",
    [
        {"benchmark.name": "mini", "ledger.judgements": [SAID], "retrieve.depth": 9},
        {"benchmark": NOW["benchmark"], "judgements": [SAID], "retrieve": {"depth": 9}},
    ],
)
def test_a_run_in_dvcs_cache_is_read_whichever_version_kept_it(params: dict[str, Any]) -> None:
    run = {"path": "data/mini/runs/bm25.trec", "md5": "0" * 32}
    entry = {"deps": [run], "outs": [], "params": {"data/config.yaml": params}}
    cached = CachedRun("0" * 7, "0", [entry], {"judge": "exact"})
    chosen = {"benchmark": "mini", "retriever": "bm25", "generator": "none", "judge": "none"}
    assert cached.selection == chosen
    assert [*cached.decisions] == [PairDecision("q", "d", "partial")]
    assert cached.config["retrieve"] == {"depth": 9}


def test_a_name_says_what_differs_and_not_how_a_model_was_asked() -> None:
    def ran(name: str, judge: str, *overrides: str) -> System:
        revision = Revision(name)
        # A cached property, which would read params.yaml.
        revision.__dict__["selection"] = {
            **{"retriever": "bm25", "judge": judge, "overrides": [*overrides]}
        }
        return System(name, "", pd.DataFrame(), revision=revision)

    address = "judge.base_url=http://127.0.0.1:8080/v1"
    group = [
        ran("HEAD", "none"),
        ran("exp-1", "relevance", "judge.fill=auto", "judge.budget=1", address),
        ran("exp-2", "none", "retriever.k1=2", "generator.fill=auto"),
    ]
    assert [each.name for each in _named(group)] == [
        *("bm25", "bm25 (relevance)", "bm25 retriever.k1=2")
    ]
