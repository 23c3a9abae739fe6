"""bears.layout and dvc.yaml spell the same paths."""

from __future__ import annotations

import shlex

import yaml

from bears import layout
from tests.workspace import ROOT

STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
FILES = layout.BenchmarkFiles("${benchmark}")
RETRIEVER = "${retriever}"


def options(stage: str) -> dict[str, str]:
    """Return the paths of a stage's command by their options."""
    words = shlex.split(STAGES[stage]["cmd"])[3:]
    return {
        option.removeprefix("--"): path
        for option, path in zip(words[::2], words[1::2], strict=True)
    }


def test_the_layout_is_that_of_the_pipeline() -> None:
    expected = {
        "config": {"conf": layout.CONF, "out": layout.CONFIG, "code": layout.CODE},
        "download": {"rows": FILES.rows, "provenance": FILES.sources},
        "sample": {"out": FILES.sampled},
        "translate": {"memory": FILES.replies(), "out": FILES.translated},
        "verify": {"out": FILES.verified, "metrics": layout.VERIFICATION},
        "audit": {"out": FILES.audited, "metrics": layout.AUDIT},
        "index": {"corpus": FILES.corpus, "out": FILES.index(RETRIEVER)},
        "rewrite": {"queries": FILES.queries, "out": FILES.rewritten("${rewriter}")},
        "retrieve": {"run": FILES.run(RETRIEVER), "within": FILES.within(RETRIEVER)},
        "evaluate": {"metrics": layout.RETRIEVAL},
        "generate": {"out": FILES.answers(RETRIEVER, "${generator}"), "memory": layout.REPLIES},
        "judge": {
            "lineage": FILES.lineage,
            "sidecar": FILES.sidecar,
            "metrics": layout.ANSWERS,
            "headline": layout.HEADLINE,
        },
    }
    assert expected.keys() == STAGES.keys()
    for stage, paths in expected.items():
        for option, path in paths.items():
            assert options(stage)[option] == str(path), f"{stage} --{option}"


def test_made_questions_are_kept_in_a_folder_of_their_own() -> None:
    assert str(FILES.replies("questions").parent) == options("sample")["memory"]
    assert FILES.replies("answers").parent == layout.REPLIES
