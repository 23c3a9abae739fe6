"""`bears labels next`, `import` and `decide`, from two files of judged answers to a verdict."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

from bears.answers.judging.labelable import verdict_pair
from bears.cli import main
from bears.config import read_ledger
from bears.config.ledger.entries import Ledger
from bears.config.typed import parse
from bears.results.system import System
from tests.cli.test_judgements import at_once, project

__all__ = ["project"]
HEADER = ("question_id", "question", "gold_answers", "answer", "verdict")


def answers(path: Path, wrong: set[int], judge: set[int] = frozenset()) -> str:  # type: ignore[assignment]
    """A system's answers to 60 questions; of those in ``judge`` the judge is mistaken."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for n in range(60):
            verdict = "fail" if (n in wrong) != (n in judge) else "pass"
            answer = f"wrong {path.stem} {n}" if n in wrong else f"right {path.stem} {n}"
            writer.writerow([f"q{n:02}", f"{n}?", "right", answer, verdict])
    return str(path)


def labelled(path: Path, rows: slice = slice(None)) -> list[dict[str, str]]:
    """Label a table by the words of the answers, as a person would."""
    with path.open(newline="") as file:
        table = list(csv.DictReader(file))
    for row in table[rows]:
        for side in "12":
            row[f"label_{side}"] = "pass" if row[f"answer_{side}"].startswith("right") else "fail"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, table[0])
        writer.writeheader()
        writer.writerows(table)
    return table


def test_from_draws_to_a_verdict(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = answers(project / "a.csv", {1, 2}, {5}), answers(project / "b.csv", set(range(0, 60, 2)))
    table = project / "table.csv"

    def bears(*words: str) -> str:
        assert main(["labels", *words]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    assert "e = 1 (decided from 20)" in bears("decide", a, b)
    bears("next", a, b, "--count", "20", "--out", str(table))
    first = labelled(table)
    # The columns hide the names, and which system is which.
    assert {"a.csv", "b.csv"}.isdisjoint(first[0])
    assert len({row["answer_1"].split()[1] for row in first}) == 2
    # Both failed or both passed less often than they differed.
    differed = sum(row["label_1"] != row["label_2"] for row in first)
    assert differed > 10
    bears("import", str(table), a, b, "--author", "anna")
    assert "40 labels were given before: 40 of them the same" in bears(
        "import", str(table), a, b, "--author", "ben"
    )
    drawn = json.loads(
        bears("next", a, b, "--count", "40", "--out", str(table), "--format", "json")
    )
    assert [len(drawn["drawn"]), drawn["waiting"], drawn["of"]] == [40, 0, 60]
    labelled(table)
    said = json.loads(bears("import", str(table), a, b, "--author", "anna", "--format", "json"))
    assert (said["labelled"], said["by_others"]) == (40, 0)
    decided = json.loads(bears("decide", a, b, "--format", "json"))
    assert (decided["better"], decided["stop"], decided["labelled"]) == (a, True, 60)
    assert decided["difference"] == pytest.approx(28 / 60)
    verdict = bears("decide", a, b)
    assert verdict.startswith(f"{a} is better; labeling may stop")
    # All 60 are labelled: (58 - 30) / 60.
    assert "60 of 60 questions labeled" in verdict
    assert "+0.467" in verdict
    assert "is better than" in verdict
    assert "by 0.467 (0.467 to 0.467) on 60 labels" in verdict
    labels = parse(Ledger, read_ledger(Path("conf/ledger/mini.yaml")), "").labels
    both = [System("", "", pd.DataFrame(), files=(Path(each),) * 2).judged for each in (a, b)]
    pair = verdict_pair(*both)
    assert pair.estimates(pair.draws(labels))["such"]["value"] == pytest.approx(28 / 60)
    # The other way round nothing is known of the pair, and nothing is guessed.
    assert verdict_pair(*both[::-1]).draws(labels) == []


def test_labels_that_fit_no_draw_are_refused_and_gaps_wait(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = answers(project / "a.csv", {1, 2}), answers(project / "b.csv", set(range(30)))
    table = project / "table.csv"
    assert main(["labels", "next", a, b, "--count", "8", "--out", str(table)]) == 0
    labelled(table, slice(2, None))
    words = [str(table), a, b, "--author", "anna"]
    filled = table.read_bytes()
    assert main(["labels", "next", a, b, "--out", str(table)]) != 0
    assert "decisions are not imported" in capsys.readouterr().err
    assert table.read_bytes() == filled
    assert main(["labels", "import", *words]) == 0
    capsys.readouterr()
    assert main(["labels", "decide", a, b]) == 0
    out, err = capsys.readouterr()
    assert "0 of 60 questions labeled" in out
    assert "6 labels are not used yet: draw 1 has none" in err
    for wrong, message in (("perhaps", "'perhaps'"), ("", "''")):
        text = table.read_text().replace(",pass,", f",{wrong},", 1)
        (project / "wrong.csv").write_text(text)
        before = Path("conf/ledger/mini.yaml").read_bytes()
        assert main(["labels", "import", "wrong.csv", *words[1:]]) != 0
        assert message in capsys.readouterr().err
        assert Path("conf/ledger/mini.yaml").read_bytes() == before
    assert main(["labels", "next", a, "nothing", "--out", str(table)]) != 0
    assert "no file, no revision, no experiment" in capsys.readouterr().err


def test_people_grade_documents_in_which_two_rankings_differ(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = json.loads((project / "data/mini/translated/queries.json").read_text())
    documents = json.loads((project / "data/mini/translated/corpus.json").read_text())
    ids = [document["doc_id"] for document in documents]
    gold = {each["question_id"]: each["gold_doc_ids"] for each in questions}
    files, grades = [project / "good.trec", project / "bad.trec"], project / "qrels.txt"
    rankings = [
        {q: [*own, *(i for i in ids if i not in own)][:5] for q, own in gold.items()},
        {q: [i for i in ids if i not in own][:5] for q, own in gold.items()},
    ]
    for file, ranking in zip(files, rankings, strict=True):
        lines = (
            f"{q} Q0 {doc_id} {rank} {9 - rank} run\n"
            for q, own in ranking.items()
            for rank, doc_id in enumerate(own, start=1)
        )
        file.write_text("".join(lines))
    grades.write_text("".join(f"{q} 0 {i} 3\n" for q, own in gold.items() for i in own))
    words = [*map(str, files), "--what", "documents", "--measure", "precision@5"]
    table = project / "table.csv"

    def bears(*given: str) -> str:
        assert main(["labels", *given]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    said = bears(
        *("next", *words, "--grades", str(grades), "--count", "999", "--out", str(table)),
        *("--format", "json"),
    )
    drawn = json.loads(said)
    # A document that both rank in the first five counts the same for both, and needs no grade.
    differ = {(q, i) for q in gold for i in {*rankings[0][q]} ^ {*rankings[1][q]}}
    assert {*zip(drawn["drawn"], drawn["items"], strict=True)} == differ
    rows = list(csv.DictReader(table.read_text("utf-8").splitlines()))
    for row, question, doc_id in zip(rows, drawn["drawn"], drawn["items"], strict=True):
        row |= {"grade": "2" if doc_id in gold[question] else "0", "reason": f"see {doc_id}"}
    with table.open("w", newline="") as out:
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    said = bears("import", str(table), *words, "--author", "anna", "--grades", str(grades))
    # Everything is labeled, and nothing more can be drawn.
    assert said.rstrip().endswith(f"{len(rows)} labels count so far")
    assert all(row["file"] in ids for row in rows)
    kept = read_ledger(project / "conf/ledger/mini.yaml")["labels"]
    assert {each["item"]: each["reasons"] for each in kept} == {
        each["item"]: {"anna": f"see {each['item']}"} for each in kept
    }
    decided = json.loads(bears("decide", *words, "--format", "json"))
    # All are graded: the first run has every gold document, the second one none.
    truth = sum(min(len(own), 5) for own in gold.values()) / 5 / len(gold)
    assert decided["better"] == str(files[0])
    assert decided["difference"] == pytest.approx(truth)
    grades.write_text(f"query-id\tcorpus-id\tscore\n{next(iter(gold))}\t{ids[0]}\t5\n")
    for wrong, message in (
        (["--measure", "ndcg@10"], "expected precision@K or dcg@K"),
        (
            ["--grades", str(grades)],
            "the grade is '5'; expected a whole number of at most 4",
        ),
    ):
        assert main(["labels", "decide", *map(str, files), "--what", "documents", *wrong]) == 1
        assert message in capsys.readouterr().err


@pytest.mark.slow
def test_labels_of_two_people_who_import_at_once_are_both_kept(project: Path) -> None:
    a, b = answers(project / "a.csv", {1, 2}), answers(project / "b.csv", set(range(30)))
    table, other = project / "table.csv", project / "other.csv"
    assert main(["labels", "next", a, b, "--count", "8", "--out", str(table)]) == 0
    labelled(table)
    imports = [["labels", "import", str(table), a, b, "--author", name] for name in ("ann", "bob")]
    drawing = ["labels", "next", a, b, "--count", "4", "--out"]
    more = [[*drawing, str(other)], [*drawing, str(project / "third.csv")]]
    assert [status for status, _ in at_once(project, *imports, *more)] == [0, 0, 0, 0]
    labels = parse(Ledger, read_ledger(Path("conf/ledger/mini.yaml")), "").labels
    assert sorted(map(sorted, (draw.labels for draw in labels))) == [[]] * 8 + [["ann", "bob"]] * 8
    assert sorted(draw.draw for draw in labels) == list(range(1, 17))
