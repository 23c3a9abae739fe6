"""`bears gate` on files of values, and on commits whose records differ."""

import hashlib
import json
import subprocess
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from bears.cli import main
from bears.files.records import write_records
from bears.types import Document, Question
from tests.workspace import ROOT, SETTINGS

NASTY = "<img src=x> | **b**\u202e\x1b[31m @all ]]> &"
QUESTIONS = [
    Question(f"q{i:02}", f"What is {i}? {NASTY}", "it", (f"d{i:02}",), "own", "single-hop")
    for i in range(40)
]
DOCUMENTS = [Document(f"d{i:02}", f"text {i}", "own", str(i), True) for i in range(40)]
GOOD = [1.0] * 40


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in git, with the configuration of the checkout."""
    monkeypatch.chdir(tmp_path)
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "conf").symlink_to(ROOT / "conf")
    (tmp_path / "params.yaml").write_bytes((ROOT / "params.yaml").read_bytes())
    (tmp_path / ".dvc").mkdir()
    git("init", "--quiet")
    return tmp_path


def git(*words: str) -> None:
    subprocess.run(["git", *words], check=True, capture_output=True)


def csv(name: str, values: Sequence[float], measure: str = "success@1") -> str:
    lines = [
        f"{question.question_id},{value}"
        for question, value in zip(QUESTIONS, values, strict=False)
    ]
    Path(name).write_text("\n".join([f"question_id,{measure}", *lines, ""]), encoding="utf-8")
    return name


def lost(count: int) -> list[float]:
    return [float(i >= count) for i in range(40)]


def kept(content: bytes, suffix: str = "") -> str:
    """Put a content into DVC's cache; return its digest."""
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest() + suffix
    place = Path(".dvc/cache/files/md5") / digest[:2] / digest[2:]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    return digest


def committed(
    tag: str,
    values: Sequence[float],
    questions: Sequence[Question] = QUESTIONS,
    documents: Sequence[Document] = DOCUMENTS,
    decisions: Sequence[dict[str, str]] = (),
) -> None:
    """Commit the results and the records of `mini`, as DVC leaves them."""
    write_records(Path("queries.json"), questions)
    write_records(Path("corpus.json"), documents)
    digests = {name: kept(Path(name).read_bytes()) for name in ("queries.json", "corpus.json")}
    parts = [{"md5": digest, "relpath": name} for name, digest in digests.items()]
    rows = [
        f"{question.question_id},{value}"
        for question, value in zip(questions, values, strict=False)
    ]
    outs = {
        "data/mini/translated": kept(json.dumps(parts).encode(), ".dir"),
        "data/mini/runs/bm25.questions.csv": kept(
            "\n".join(["question_id,ndcg@10", *rows, ""]).encode()
        ),
    }
    stages = {"all": {"outs": [{"path": path, "md5": md5} for path, md5 in outs.items()]}}
    Path("dvc.lock").write_text(yaml.safe_dump({"stages": stages}))
    state = {"name": "mini", "state": str((digests, decisions)), "questions": len(questions)}
    if decisions:
        state["decisions"] = len(decisions)
    config = {"ledger": {"judgements": list(decisions)}}
    Path("data").mkdir(exist_ok=True)
    Path("data/config.yaml").write_text(yaml.safe_dump(config))
    state |= {"queries": digests["queries.json"], "corpus": digests["corpus.json"]}
    Path("metrics").mkdir(exist_ok=True)
    metrics = {"benchmark": state, "tie_range": {}, "all": {"n": len(questions)}}
    Path("metrics/retrieval.json").write_text(json.dumps(metrics))
    git("add", "params.yaml", "dvc.lock", "metrics", "data/config.yaml")
    git("commit", "--quiet", "--allow-empty", "--message", tag)
    git("tag", tag)


def gate(*words: str, code: int) -> str:
    """Run the command; return what it prints, after a look at the files that it wrote."""
    for name in ("gate.md", "gate.xml"):
        Path(name).unlink(missing_ok=True)
    with redirect_stdout(StringIO()) as printed:
        assert main(["gate", *words, "--markdown", "gate.md", "--junit", "gate.xml"]) == code
    suite = ElementTree.parse("gate.xml").getroot()
    totals = {"failure": "failures", "error": "errors", "skipped": "skipped"}
    found = {kind: len(suite.findall(f"testcase/{kind}")) for kind in totals}
    assert {kind: int(suite.get(total, "")) for kind, total in totals.items()} == found
    assert int(suite.get("tests", "")) == len(suite)
    expected = {0: set(), 1: {"failure"}, 3: {"error"}, 4: {"error"}}[code]
    unseen = printed.getvalue().startswith("cannot tell")
    assert {kind for kind, count in found.items() if count} == ({"skipped"} if unseen else expected)
    assert Path("gate.md").stat().st_size
    return printed.getvalue()


def test_each_result_has_its_status_and_its_files() -> None:
    base, four, five = csv("base.csv", GOOD), csv("four.csv", lost(4)), csv("five.csv", lost(5))
    # Five of five lost have a one-sided p of 1/32, four of four 1/16.
    printed = gate(base, five, code=1)
    assert printed.startswith("fail: success@1 worse (1.0000 to 0.8750)")
    assert "0.0312" in printed
    gate(five, base, code=0)
    blind = gate(base, four, code=0)
    said = "it lost 0.1000, and 40 questions can only show one of 0.2"
    assert blind.startswith(f"cannot tell: success@1 cannot tell (1.0000 to 0.9000): {said}")
    assert said in Path("gate.md").read_text("utf-8")
    assert said in Path("gate.xml").read_text("utf-8")
    gate(base, four, "--strict", code=4)
    gate(base, five, "--strict", code=1)
    gate(five, base, "--strict", code=0)
    # The values are the same, although 40 questions cannot rule out a loss of 0.05 on others.
    assert "success@1 unchanged" in gate(base, csv("same.csv", GOOD), "--allow", "0.05", code=0)
    gate(base, five, "--allow", "0.5", code=0)
    gate(base, five, "--allow", "0.1", code=1)
    assert "it takes about" in gate(base, csv("one.csv", lost(1)), "--allow", "0.05", code=4)
    assert "different records: 4 questions removed; --common" in gate(
        base, csv("few.csv", GOOD[:36]), code=3
    )
    assert "36 common questions alone" in gate(base, "few.csv", "--common", code=0)


def test_questions_or_clusters_that_can_show_nothing_are_undecided() -> None:
    gate(csv("base.csv", GOOD[:4]), csv("worst.csv", [0.0] * 4), code=4)
    for name, values in (("base.csv", GOOD), ("worst.csv", lost(20))):
        rows = [f"q{i:02},{value},{i % 4}" for i, value in enumerate(values)]
        Path(name).write_text("\n".join(["question_id,success@1,cluster", *rows, ""]))
    printed = gate("base.csv", "worst.csv", code=4)
    assert "p cannot be below 0.0625" in printed  # 1 / 2^4


@pytest.mark.parametrize(
    "words", [["nothing"], ["five.csv", "--measure", "mrr"], ["five.csv", "--allow", "0"]]
)
def test_what_cannot_be_read_is_no_failure_of_the_change(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    csv("five.csv", lost(5))
    assert main(["gate", csv("base.csv", GOOD), *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(SystemExit, match="2"):
        main(["gate", "base.csv"])


def test_p_is_corrected_over_the_named_measures_whose_foreign_names_are_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, values in (("base.csv", GOOD), ("five.csv", lost(5))):
        rows = [f"q{i:02},{v},{v},{v}" for i, v in enumerate(values)]
        Path(name).write_text("\n".join(["question_id,ndcg@10,mrr,pass_rate", *rows, ""]))
    # Twice 1/32 is above 0.05: the main measure and pass_rate are the default.
    assert "ndcg@10 cannot tell" in gate("base.csv", "five.csv", code=0)
    assert main(["gate", "base.csv", "five.csv", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["measure"] for row in found["pairs"]] == ["ndcg@10", "pass_rate"]
    assert [row["p_holm"] for row in found["pairs"]] == pytest.approx([1 / 16, 1 / 16])
    assert len(found["lost"]) == 5
    assert "mrr worse" in gate("base.csv", "five.csv", "--measure", "RR", code=1)


def test_other_records_are_counted_and_the_common_questions_compared() -> None:
    changed = [replace(q, gold_doc_ids=("d39",)) if q.question_id < "q02" else q for q in QUESTIONS]
    more = [Document(f"e{i}", "new", "own", f"e{i}", False) for i in range(7)]
    committed("base", GOOD)
    committed("moved", lost(2), changed[:39], [*DOCUMENTS, *more])
    said = gate("base", "moved", code=3)
    assert "gold of 2 questions changed" in said
    assert "1 question removed" in said
    assert "7 documents added" in said
    # The two questions whose gold changed are lost, and do not count.
    said = gate("base", "moved", "--common", code=0)
    assert "37 common questions alone (1 question removed, gold of 2" in said
    assert "37 common questions alone" in Path("gate.md").read_text("utf-8")
    committed("worse", lost(7), changed[:39], [*DOCUMENTS, *more])
    gate("base", "worse", "--common", code=1)
    said = gate("moved", "worse", code=1)
    assert "common" not in said


def test_other_decisions_are_other_gold_and_questions_without_them_can_be_compared() -> None:
    said = [
        {"question_id": f"q{i:02}", "doc_id": "d39", "decision": "relevant", "author": "Ann"}
        for i in range(3)
    ]
    committed("base", GOOD)
    committed("decided", lost(3), decisions=said)
    assert "not comparable" in (told := gate("base", "decided", code=3))
    assert "gold of 3 questions changed" in told
    assert "37 common questions" in gate("base", "decided", "--common", code=0)
    committed("worse", lost(9), decisions=said)
    assert "40 questions, 3 decisions of people" in gate("decided", "worse", code=1)


def test_names_and_texts_of_other_people_do_no_harm_in_any_output() -> None:
    committed("base", GOOD)
    committed("worse", lost(12))
    shown = gate("base", "worse", code=1)
    assert "What is 3?" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert shown.count("What is") == 10
    page = Path("gate.md").read_text("utf-8")
    assert "<img" not in page
    assert "**b**" not in page
    assert "@all" not in page
    base, worse = csv("base.csv", GOOD, NASTY), csv("]]> <b>&\x1b.csv", lost(20), NASTY)
    gate(base, worse, code=1)
    names = [case.get("name") for case in ElementTree.parse("gate.xml").getroot()]
    assert names == ["<img src=x> | **b**\\u202e\\u001b[31m @all ]]> &"]
    assert "<b>" not in Path("gate.md").read_text("utf-8")
