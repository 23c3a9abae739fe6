"""A first ranking of two retrievers on a folder with questions and no gold."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.provider_server import ProviderServer
from tests.workspace import Workspace

MILLS = ("water", "wind", "paper", "coffee", "pepper", "steel", "cotton", "timber")
PARTS = ("wheel", "roof", "owner", "noise", "price")


@pytest.mark.slow
def test_a_folder_without_gold_gets_a_ranking_with_intervals_and_labels_correct_it(
    tmp_path: Path, provider: Callable[..., ProviderServer]
) -> None:
    documents = tmp_path / "mills"
    documents.mkdir()
    for mill in MILLS:
        for part in PARTS:
            text = f"The {part} of the {mill} mill is known in every village of the valley."
            (documents / f"{mill}-{part}.txt").write_text(text)
    asked = [f"Who knows the {part} of the {mill} mill?" for mill in MILLS[:4] for part in PARTS]
    (documents / "questions.csv").write_text("\n".join(["question", *asked]))
    Workspace(tmp_path).python("bears", "init", "first", "--documents", str(documents))
    project, server = Workspace(tmp_path / "first"), provider("good")
    overrides = f"overrides=['judge.base_url={server.url}','judge.fill=auto']"
    names = {}
    for retriever in ("bm25", "wordllama"):
        words = ("-S", f"retriever={retriever}", "-S", "judge=local-relevance", "-S", overrides)
        names[retriever] = f"{retriever}-graded"
        said = project.dvc("exp", "run", "--name", names[retriever], *words)
        assert "95 % of graded_precision@10" in said
    # What both found is paid for once.
    assert server.stats()["requests"] < 2 * 20 * 10
    found = json.loads(project.python("bears", "compare", "--format", "json"))
    (pair,) = (each for each in found["pairs"] if each["measure"] == "graded_precision@10")
    assert pair["n"] == 20
    # This judge gives one grade to everything, which says nothing of a difference.
    assert (pair["low"], pair["difference"], pair["high"]) == (None, 0, None)
    assert "gives the same grade," in project.python("bears", "compare")
    measures = {each["name"]: each["measures"] for each in found["systems"]}
    for own in measures.values():
        assert 0 < own["graded_precision@10"]["mean"] <= 1
        assert not any(name.startswith("ndcg") for name in own)
    project.python("bears", "report")
    page = project.text("report.html")
    assert "people have labeled 0 of its" in page
    assert "gives the same grade," in page
    for systems in ([names["bm25"]], [*names.values()]):
        label(project, systems)
    check_that_labels_lead(project, [*names.values()])


LABEL, WHAT = ("bears", "labels"), ("--what", "documents")


def label(project: Workspace, systems: list[str]) -> None:
    """Label some documents as a person would, and check what is printed."""
    project.python(*LABEL, "next", *systems, *WHAT, "--count", "25")
    table = project.root / "to_label.csv"
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["grade"] = "3" if row["question"].split()[3] in row["document"] else "0"
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    project.python(*LABEL, "import", "to_label.csv", *systems, *WHAT, "--author", "me")
    said = project.python(*LABEL, "decide", *systems, *WHAT)
    assert "for these questions " in said
    assert f" on {len(rows)} labels" in said
    table.unlink()


def check_that_labels_lead(project: Workspace, systems: list[str]) -> None:
    """Compare what the page, `compare` and `labels decide` say of a pair that was labeled."""
    decided = json.loads(project.python(*LABEL, "decide", *systems, *WHAT, "--format", "json"))
    such = decided["estimates"]["such"]
    found = json.loads(project.python("bears", "compare", *systems, "--format", "json"))
    (pair,) = (each for each in found["pairs"] if each["measure"] == "graded_precision@10")
    assert [pair[key] for key in ("difference", "low", "high")] == pytest.approx(
        [such[key] for key in ("value", "low", "high")]
    )
    assert pair["labels"] == decided["labelled"] >= 25
    assert pair["judge"]["difference"] == 0
    # A pair is found in either order.
    turned = json.loads(project.python("bears", "compare", *systems[::-1], "--format", "json"))
    (other,) = (each for each in turned["pairs"] if each["measure"] == "graded_precision@10")
    assert other["low"] == pytest.approx(-pair["high"])
    project.python("bears", "report", *systems)
    for said in (project.python("bears", "compare", *systems), project.text("report.html")):
        assert f"({pair['labels']} labels of people)" in said
    assert "by people" in project.text("report.html")
    # The workspace has the second system, whose labels are those of the pair alone.
    assert "by people" not in project.python("bears", "show")
    label(project, systems[1:])
    project.dvc("repro")
    (people,) = json.loads(project.text("metrics/answers.json"))["by_people"].values()
    headline = json.loads(project.text("metrics/headline.json"))
    assert headline["graded_precision@10"] == people["value"]
    assert "graded_precision@10 by people: " in project.python("bears", "show")
