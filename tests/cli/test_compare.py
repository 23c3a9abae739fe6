"""``bears compare`` on files, and on revisions of which nothing is checked out."""

import hashlib
import json
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from bears.cli import main
from bears.config import read_mapping
from bears.files.manifest import seal
from bears.files.records import write_records
from bears.publishing.leaderboard.tables import derived, differing, known_results, publish
from bears.results.origins import ANSWERS
from bears.results.revision import Revision, revisions
from bears.results.row import LeaderboardRow, configuration_digest, row_of
from bears.results.values import read_values
from bears.types import Document, Question
from tests.workspace import ROOT, SETTINGS, finished

ROWS = [f"q{i:02}" for i in range(40)]
GOOD = dict.fromkeys(ROWS, 1.0)
POOR = {question: float(i % 3 == 0) for i, question in enumerate(ROWS)}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in git that DVC has run twice, with nothing of it in the workspace."""
    monkeypatch.chdir(tmp_path)
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "conf").symlink_to(ROOT / "conf")
    (tmp_path / ".dvc").mkdir()
    git("init", "--quiet")
    return tmp_path


def git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


def csv(path: Path, values: Mapping[str, object], measure: str = "success@1") -> str:
    lines = [f"question_id,question_type,{measure}"]
    lines += [f"{question},single-hop,{value}" for question, value in values.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def committed(
    project: Path,
    retriever: str,
    values: Mapping[str, float],
    state: str = "one",
    chunking: str = "none",
    decisions: int = 0,
) -> str:
    """A commit with the results of a retriever, as DVC leaves them."""
    selected = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    write(project / "params.yaml", yaml.safe_dump({**selected, "retriever": retriever}))
    config = {"benchmark": {"name": "mini"}, "retriever": {"name": retriever}}
    config["chunking"] = {"name": chunking}
    write(project / "data/config.yaml", yaml.safe_dump(config))
    records = {"name": "mini", "state": state, "queries": state, "corpus": "same"}
    if decisions:
        records |= {"state": f"{state}{decisions}", "decisions": decisions}  # type: ignore[dict-item]
    write(
        project / "metrics/retrieval.json",
        json.dumps({"benchmark": records, "tie_range": {}, "all": {"n": 40}}),
    )
    content = Path(csv(project / "values.csv", values)).read_bytes()
    (project / "values.csv").unlink()
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    place = project / ".dvc/cache/files/md5" / digest[:2] / digest[2:]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    out = {"path": f"data/mini/runs/{retriever}.questions.csv", "md5": digest}
    write(project / "dvc.lock", yaml.safe_dump({"stages": {"evaluate": {"outs": [out]}}}))
    git("add", "--all", "params.yaml", "data", "metrics", "dvc.lock")
    git("commit", "--quiet", "--message", retriever)
    return git("rev-parse", "HEAD").strip()


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(["compare", *words]) == code
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return err if code else out


def test_revisions_and_experiments_are_compared_without_checking_anything_out(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    poor, good = committed(project, "bm25", POOR), committed(project, "wordllama", GOOD)
    git("reset", "--quiet", "--hard", poor)
    git("update-ref", f"refs/exps/{poor[:2]}/{poor[2:]}/brave-emu", good)
    found = json.loads(told(capsys, "brave-emu", "HEAD", "--format", "json"))
    (pair,) = found["pairs"]
    assert (pair["a"], pair["b"], pair["verdict"]) == ("brave-emu", "HEAD", "brave-emu better")
    assert pair["difference"] == pytest.approx(26 / 40)
    assert pair["p"] == pytest.approx(2 * 0.5**26)
    assert found["by"]["type"]["single-hop"]["n"] == 40
    assert len(found["moved"]["a_better"]) == 26
    assert not list((project / "data").rglob("*.csv"))
    grid = json.loads(told(capsys, "--format", "json"))
    assert [s["name"] for s in grid["systems"]] == ["bm25", "wordllama"]
    before = (project / "metrics/comparison.json").read_bytes()
    told(capsys)
    assert (project / "metrics/comparison.json").read_bytes() == before


def test_results_of_different_code_are_told_apart(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project / "data/code.yaml", "evaluate: aa\nindex: bb\nsample: cc\n")
    first = committed(project, "bm25", POOR)
    # The code of an index differs between retrievers in any case.
    write(project / "data/code.yaml", "evaluate: aa\nindex: dd\nsample: cc\n")
    other = committed(project, "wordllama", GOOD)
    assert "different code" not in told(capsys, first, other)
    write(project / "data/code.yaml", "evaluate: ee\nindex: dd\nsample: cc\n")
    upgraded = committed(project, "hybrid", GOOD)
    said = told(capsys, first, upgraded)
    assert (
        "come from different code of evaluate with chunking=none; run the older one again" in said
    )
    # Another chunking brings its own code into `evaluate`.
    chunked = committed(project, "hybrid", GOOD, chunking="sentences")
    assert "different code" not in told(capsys, first, chunked)
    known = known_results([Revision("a", first), Revision("b", upgraded)])
    rows = [row for each in known.values() if (row := row_of(each))]
    assert [
        "code.evaluate with chunking=none=aa" in text for text in derived(rows, known)["differs"]
    ] == [True, False]


def test_another_state_of_the_benchmark_is_refused_and_what_differs_is_said(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    committed(project, "bm25", POOR)
    committed(project, "wordllama", GOOD, state="two")
    error = told(capsys, "HEAD~", "HEAD", code=1)
    assert "mini in state one" in error
    assert "questions with their gold differ" in error


@pytest.mark.parametrize("damage", [b"", b"question_id,success@1\nq00,1\n", None])
def test_values_that_are_damaged_or_gone_are_no_values(
    project: Path, capsys: pytest.CaptureFixture[str], damage: bytes | None
) -> None:
    committed(project, "bm25", POOR)
    committed(project, "wordllama", GOOD)
    for place in (project / ".dvc/cache/files").rglob("*"):
        if place.is_file():
            place.unlink() if damage is None else place.write_bytes(damage)
    error = told(capsys, "HEAD~", "HEAD", code=1)
    assert ("is not in DVC's cache" if damage is None else "is damaged") in error


def test_damaged_values_of_the_workspace_are_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    committed(project, "bm25", POOR)
    committed(project, "wordllama", GOOD)
    file = project / "data/mini/runs/wordllama.questions.csv"
    file.parent.mkdir(parents=True)
    csv(file, GOOD)
    seal([file], {})
    told(capsys, "workspace", "HEAD~")
    csv(file, {**GOOD, "q00": 0.0})
    assert "wordllama.questions.csv has sha256" in told(capsys, "workspace", "HEAD~", code=1)


BAD = {
    "m\nq00,1\nq00,1\n": "'q00' occurs twice",
    "repeat,m\nq00,1,1\nq00,2,1\nq00,2,0\n": "'q00' occurs twice",
    "m\nq00,1\nq01,good\n": "line 3, m: 'good' is not a",
    "m\nq00,1\nq01,0_1\n": "line 3, m: '0_1' is not a number",
    "m\nq00,1\nq01,１\n": "'１' is not a number",
    "ndcg@10\nq00,1.7\n": "1.7 of question 'q00' is not from 0 to 1",
    "pass_rate\nq00,-1\n": "-1 of question 'q00' is not from 0 to 1",
    "m\nq00,1\nq01,inf\n": "'inf' is not a number",
    "m\nq00,1\nq01,nan\n": "'nan' is not a number",
    "m\nq00,1\nq01,1e308\n": "line 3, m: '1e308' is beyond 1e+15",
    "text\nq00,a\n": "not a single measure",
    "verdict,pass_rate\nq00,pass,0\n": "leave one of them out",
    "m\n": "not a single question",
    "success@1\nq00,1\n": "the questions differ: only",
    "m\n" + "".join(f"{q},1\n" for q in ROWS): "share no measure",
}
"""What follows question_id in a file, and the refusal."""


def test_values_that_cannot_be_compared_are_refused_in_a_sentence(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = csv(project / "good.csv", GOOD)
    files = {f"question_id,{text}": reason for text, reason in BAD.items()}
    for text, reason in {"id,m\nq00,1\n": "no column question_id", **files}.items():
        write(project / "bad.csv", text)
        error = told(capsys, "bad.csv", good, code=1)
        assert reason in error, text
        assert error.count("\n") == 1


def repeated(path: Path, passed: Mapping[str, str]) -> str:
    """Write verdicts by question: p and f for each of two judgements of each of two repeats."""
    words = {"p": "pass", "f": "fail", "u": "unscored"}
    lines = ["question_id,repeat,judgement,verdict"]
    for question, letters in passed.items():
        places = [(repeat, judgement) for repeat in (1, 2) for judgement in (1, 2)]
        rows = zip(places, letters, strict=True)
        lines += [f"{question},{r},{j},{words[letter]}" for (r, j), letter in rows]
    write(path, "\n".join(lines) + "\n")
    return str(path)


def test_repeats_are_averaged_and_it_is_said_whose_noise_there_is(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = ["pppp", "ffff", "ppff", "pfpp", "uuuf"]
    a = repeated(project / "a.csv", {q: said[n % 5] for n, q in enumerate(ROWS)})
    b = csv(project / "b.csv", POOR, "pass_rate")
    found = json.loads(told(capsys, a, b, "--format", "json"))
    (pair,) = found["pairs"]
    assert (pair["n"], pair["mean_a"]) == (40, pytest.approx((1 + 0 + 0.5 + 0.75 + 0) / 5))
    # Of 32 questions without unscored verdicts. Mean squares by hand: of questions
    # 4 * (8 * (1 + 0 + 1/4 + 9/16) - 32 * (9/16) ** 2) / 31, of runs (8 * 1 + 8 * 1/4) / 32, of
    # judgements 8 * 1/2 / 64.
    questions = 4 * (8 * (1 + 0.25 + 0.5625) - 32 * 0.5625**2) / 31
    runs, judge = 10 / 32, 4 / 64
    parts = np.array([questions - runs, runs - judge, judge])
    q, r, j = (f"{share:.0%}" for share in parts / parts.sum())
    # More runs share both of the last two parts, which are those of two runs now.
    more = next(m for m in range(99) if parts[0] + parts[1:].sum() * 2 / (2 + m) <= parts.sum() / 2)
    expected = (
        f"{q} of the uncertainty of pass_rate is in the questions, {r} in the runs, {j} in the "
        f"judge: 32 more questions halve the variance, {more} more repeats halve it too, more "
        f"judgements lower it by at most {j}"
    )
    assert found["repeats"] == {"a": expected}
    assert f"\na: {expected}\n" in told(capsys, a, b)


def test_a_judges_verdicts_are_a_pass_rate_in_which_unscored_is_no_fail(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["unscored", *["pass"] * 20, *["fail"] * 19]
    a = csv(project / "a.csv", dict(zip(ROWS, words, strict=True)), "verdict")
    b = csv(project / "b.csv", dict.fromkeys(ROWS, "pass"), "verdict")
    (pair,) = json.loads(told(capsys, a, b, "--format", "json"))["pairs"]
    assert (pair["measure"], pair["n"]) == ("pass_rate", 39)
    assert pair["mean_a"] == pytest.approx(20 / 39)


def test_of_answers_only_scores_are_measures_though_a_text_may_be_a_number(tmp_path: Path) -> None:
    rows = "q1,1968,pass,0.5\nq2,1968年 / 1968,fail,1.0\n"
    write(tmp_path / "a.csv", f"question_id,gold_answers,verdict,answer_f1\n{rows}")
    values, _ = read_values(tmp_path / "a.csv", chosen=ANSWERS)
    assert values.to_dict("list") == {"pass_rate": [1.0, 0.0], "answer_f1": [0.5, 1.0]}


def test_the_same_measure_in_percent_is_doubted(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = csv(project / "a.csv", GOOD, "m")
    b = csv(project / "b.csv", {q: 100 * v for q, v in POOR.items()}, "m")
    assert "are both in the same unit?" in told(capsys, a, b)


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv"])
def test_hostile_names_act_in_no_form(
    form: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["=cmd|x.csv", "a\x1b[31m[x](http:b)<b>|.csv", "$&_%\\.csv"]
    for name, values in zip(names, (GOOD, POOR, GOOD), strict=True):
        csv(project / name, values)
    text = told(capsys, *names, "--format", form)
    assert "\x1b" not in text
    if form == "csv":
        assert "\n=cmd" not in text
        assert ",=cmd" not in text
    if form == "markdown":
        assert "<b>" not in text
    if form == "latex":
        tables = [line for line in text.split("\n") if not line.startswith("%")]
        assert any(r"\$\&\_\%\textbackslash" in line for line in tables)
        assert not any("$&" in line for line in tables)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("nothing-is-called-so", "HEAD"), "no file, no revision, no experiment"),
        (("a.csv",), "one system cannot be compared"),
        (("a.csv", "a.csv"), "named twice"),
        ((), "fewer than 2 results"),
        (("a.csv", "b.csv", "--measure", "ndcg"), "no measure 'ndcg'"),
        (("a.csv", "b.csv", "--benchmark", "nope"), "Could not find 'benchmark/nope'"),
        (("a.csv", "n" * 300), "no file, no revision, no experiment"),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_sentence(
    words: tuple[str, ...], reason: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    csv(project / "a.csv", GOOD), csv(project / "b.csv", POOR)
    (project / "params.yaml").symlink_to(ROOT / "params.yaml")
    assert reason in told(capsys, *words, code=1)


def run_file(path: Path, questions: int) -> str:
    lines = [f"q{i:02} Q0 d{i} 1 1.0 tag\n" for i in range(questions)]
    write(path, "".join(lines))
    return str(path)


@pytest.fixture
def records(project: Path) -> Path:
    """The folder of a project that has the records of `mini`."""
    write(project / "params.yaml", (ROOT / "params.yaml").read_text(encoding="utf-8"))
    folder = project / "data/mini/translated"
    questions = [Question(q, "?", "", (f"d{i}",), "s", "ad-hoc") for i, q in enumerate(ROWS)]
    documents = [Document(f"d{i}", "text", "s", f"{i}", True) for i in range(len(ROWS))]
    write_records(folder / "queries.json", questions)
    write_records(folder / "corpus.json", documents)
    return project


@pytest.mark.parametrize("form", ["trec", "csv"])
def test_a_file_that_differs_from_its_manifest_is_refused(
    records: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    other = run_file(records / "other.trec", 40)
    file = records / f"runs/bm25.{form}"
    run_file(file, 40)
    if form == "csv":
        other, _ = csv(records / "other.csv", POOR), csv(file, GOOD)
    seal([file], {})
    told(capsys, str(file), other, "--benchmark", "mini")
    kept = file.read_text(encoding="utf-8").splitlines(keepends=True)
    write(file, "".join(kept[:30]))
    error = told(capsys, str(file), other, "--benchmark", "mini", code=1)
    assert f"{file} has {file.stat().st_size} bytes, but" in error
    assert "runs/bm25.manifest.json" in error


@pytest.mark.parametrize(
    ("name", "text"), [("empty.trec", ""), ("empty.json", '{"q00": [], "q01": []}')]
)
def test_a_run_without_a_document_is_refused(
    records: Path, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    write(records / name, text)
    other = run_file(records / "other.trec", 40)
    error = told(capsys, name, other, "--benchmark", "mini", code=1)
    assert name in error
    assert "no document for any question" in error


def test_where_nobody_tells_the_sources_of_questions_that_is_said(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = csv(project / "a.csv", GOOD), csv(project / "b.csv", POOR)
    assert main(["compare", *words, "--by", "source", "--by", "type"]) == 0
    out, said = capsys.readouterr()
    assert "no source of questions is known: no column source_dataset" in said
    assert "question_type" not in said
    # p (Holm) of the types' tables is corrected over those tables.
    assert ", in the tables by type over all of these; intervals" in out
    assert "tables by source" not in out


def test_results_of_another_retriever_than_the_chosen_one_are_not_called_by_its_name(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    committed(project, "bm25", POOR)
    (project / "data/mini/runs").mkdir(parents=True)
    csv(project / "data/mini/runs/bm25.questions.csv", POOR)
    chosen = yaml.safe_load((project / "params.yaml").read_text(encoding="utf-8"))
    write(project / "params.yaml", yaml.safe_dump({**chosen, "retriever": "wordllama"}))
    error = told(capsys, "HEAD", "workspace", code=1)
    assert "workspace: no results by question of wordllama" in error


def test_a_result_that_is_found_twice_is_listed_once_whatever_else_ran(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = committed(project, "wordllama", GOOD)
    poor = committed(project, "bm25", POOR)
    lock = yaml.safe_load((project / "dvc.lock").read_text(encoding="utf-8"))
    lock["stages"]["config"] = {"outs": [{"path": "data/code.yaml", "md5": "0" * 32}]}
    write(project / "dvc.lock", yaml.safe_dump(lock))
    git("commit", "--quiet", "--all", "--message", "another stage ran")
    twin = git("rev-parse", "HEAD").strip()
    git("reset", "--quiet", "--hard", poor)
    for name, commit in (("neat-emu", first), ("twin-emu", twin)):
        git("update-ref", f"refs/exps/{poor[:2]}/{poor[2:]}/{name}", commit)
    systems = json.loads(told(capsys, "--format", "json"))["systems"]
    assert {system["name"]: system["what"] for system in systems} == {
        "bm25": "HEAD",
        "wordllama": "neat-emu",
    }


def test_what_was_measured_with_other_decisions_is_left_out_and_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    older = [committed(project, name, POOR) for name in ("bm25", "wordllama")]
    newer = [committed(project, name, GOOD, decisions=84) for name in ("bm25", "hybrid")]
    head = newer[-1]
    for name, commit in (("a", older[0]), ("b", older[1]), ("c", newer[0])):
        git("update-ref", f"refs/exps/{head[:2]}/{head[2:]}/{name}", commit)
    assert main(["compare", "--format", "json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert [system["name"] for system in found["systems"]] == ["hybrid", "bm25"]
    assert (found["state"], found["decisions"]) == ("one84", 84)
    # The first system was measured again, and nothing is left to do for it.
    assert "left out wordllama, measured with other decisions of people than the 84" in err
    assert "dvc exp run -S retriever=wordllama" in err
    assert "40 questions, 84 decisions of people" in told(capsys)


def test_no_two_files_are_called_the_same_and_capitals_are_read_as_well(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "x").mkdir()
    files = ("x/a.csv", "a.CSV.csv", "a.CSV")
    for name, values in zip(files, (GOOD, dict.fromkeys(ROWS, 0.0), POOR), strict=True):
        csv(project / name, values)
    found = json.loads(told(capsys, *files, "--format", "json"))["systems"]
    assert [system["name"] for system in found] == list(files)
    assert [system["measures"]["success@1"]["mean"] for system in found] == [1.0, 0.0, 0.35]


def test_experiments_of_one_name_on_two_commits_are_told_apart(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    poor, good = committed(project, "bm25", POOR), committed(project, "bm25", GOOD)
    base = committed(project, "wordllama", {**GOOD, "q00": 0.0})
    for start, made in ((poor, good), (good, poor)):
        git("update-ref", f"refs/exps/{start[:2]}/{start[2:]}/mine", made)
    git("reset", "--quiet", "--hard", base)
    found = json.loads(told(capsys, "--all-commits", "--format", "json"))["systems"]
    means = {system["name"]: system["measures"]["success@1"]["mean"] for system in found}
    assert sorted(means.values()) == [0.35, 0.975, 1.0]


@pytest.mark.slow
def test_the_leaderboard_puts_what_cannot_be_told_apart_into_one_group_by_name(
    project: Path,
) -> None:
    almost = {**GOOD, "q00": 0.0}
    places, digests = {}, []
    for retriever, values in (("zeta", GOOD), ("alpha", almost), ("poor", POOR)):
        head = committed(project, retriever, values)
        places[retriever] = values
        digests.append(configuration_digest(read_mapping(project / "data/config.yaml")))
        git("update-ref", f"refs/exps/{head[:2]}/{head[2:]}/{retriever}", head)
    rows = [
        LeaderboardRow(
            *("mini", "", "one", retriever, digest, "experiment"),
            questions=40,
            values={"success@1": sum(values.values()) / 40, "ndcg@10": None},
            main="success@1",
        )
        for (retriever, values), digest in zip(places.items(), digests, strict=True)
    ]
    known = known_results(revisions(all_commits=True))
    told = derived(rows, known)
    assert list(zip(places, told["group"], told["rank"], strict=True)) == [
        ("zeta", "a", "1 to 2"),
        ("alpha", "a", "1 to 2"),
        ("poor", "b", "3"),
    ]
    publish(project / "metrics/leaderboard.csv", rows)
    printed = (project / "metrics/leaderboard.md").read_text(encoding="utf-8")
    assert printed.index("alpha") < printed.index("zeta") < printed.index("poor")
    # A row whose values by question are not here has no group.
    lone = derived([replace(rows[0], system="other"), *rows[1:]], known)
    assert list(lone["group"]) == ["", "a", "b"]
    assert next(iter(lone["low"])) == ""


def test_a_row_of_the_leaderboard_tells_the_settings_that_are_not_its_neighbours() -> None:
    deep = {"retrieve": {"depth": 100}, "retriever": {"name": "bm25", "k1": 0.9}}
    flat = {"retrieve": {"depth": 20}, "retriever": {"name": "bm25", "k1": 0.9}}
    dense = {"retrieve": {"depth": 100}, "retriever": {"name": "e5", "model": "m"}}
    told = differing(["bm25", "bm25", "e5"], [deep, flat, dense])
    assert told == ["retrieve.depth=100", "retrieve.depth=20", "retrieve.depth=100"]
    assert differing(["bm25", "e5"], [deep, dense]) == ["", ""]


def test_a_submission_that_was_scored_here_is_compared_by_its_name_on_the_leaderboard(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = LeaderboardRow("mini", "", "one", "theirs", "0123456789ab", "submission")
    publish(project / "metrics/leaderboard.csv", [row])
    row.kept_values.parent.mkdir(parents=True)
    csv(row.kept_values, GOOD)
    committed(project, "bm25", POOR)
    (pair,) = json.loads(told(capsys, "theirs", "HEAD", "--format", "json"))["pairs"]
    assert (pair["a"], pair["verdict"]) == ("theirs", "theirs better")


def test_the_answers_of_a_judged_file_are_no_measures_though_they_be_numbers(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [f"{q},1949,in {i},pass,0.5" for i, q in enumerate(ROWS)]
    text = "\n".join(["question_id,gold_answers,answer,verdict,answer_f1", *lines]) + "\n"
    for name in ("a.csv", "b.csv"):
        (project / name).write_text(text.replace("in 3,", "3,"), encoding="utf-8")
    found = json.loads(told(capsys, "a.csv", "b.csv", "--format", "json"))
    assert [pair["measure"] for pair in found["pairs"]] == ["pass_rate", "answer_f1"]


@pytest.mark.slow
def test_a_queued_grid_is_compared_with_one_command_and_leaves_the_tree_clean(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    made = finished(tmp_path_factory.getbasetemp())[0]
    workspace = made.copied(tmp_path_factory.mktemp("grid") / "project")
    workspace.dvc("exp", "run", "--queue", "-S", "retriever=wordllama,hybrid")
    workspace.dvc("exp", "run", "--run-all")
    before = workspace.git("status", "--porcelain")
    found = json.loads(workspace.python("bears", "compare", "--format", "json"))
    means = {s["name"]: s["measures"]["ndcg@10"]["mean"] for s in found["systems"]}
    assert sorted(means) == ["bm25", "hybrid", "wordllama"]
    own = json.loads(workspace.text("metrics/retrieval.json"))["all"]["ndcg@10"]
    assert means["bm25"] == pytest.approx(own, abs=1e-9)
    assert found["corrected_over"] == "3 pairs of ndcg@10"
    assert workspace.git("status", "--porcelain") == before


@pytest.mark.slow
def test_what_ran_stays_comparable_by_its_name_whatever_is_committed(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    made = finished(tmp_path_factory.getbasetemp())[0]
    workspace = made.copied(tmp_path_factory.mktemp("committed") / "project")
    answered = ("-S", "generator=sentence", "-S", "judge=contains")
    workspace.dvc("repro", "--force")
    for retriever in ("bm25", "wordllama"):
        workspace.dvc("exp", "run", "-S", f"retriever={retriever}", *answered)
    workspace.git("add", "--all", "params.yaml", "data", "metrics", "dvc.lock")
    workspace.git("commit", "--quiet", "--message", "wordllama with answers")
    # HEAD has no experiment now, and bm25 was never committed with answers.
    found = json.loads(workspace.python("bears", "compare", "--format", "json"))
    names = [system["name"] for system in found["systems"]]
    assert sorted(names) == ["bm25 → sentence", "wordllama → sentence"]
    assert (found["main"], found["called"]) == ("pass_rate", "pass_rate (contains)")
    (below,) = found["below"]
    assert sorted(system["name"] for system in below["systems"]) == ["bm25", "wordllama"]
    assert below["corrected_over"] == "1 pair of ndcg@10"
    again = json.loads(workspace.python("bears", "compare", *names, "--format", "json"))
    assert again["pairs"] == found["pairs"]
    said = workspace.python("bears", "labels", "next", *names, "--format", "json")
    assert json.loads(said)["of"] == 18
    # The beginning of a name is enough where no other name begins so.
    found = json.loads(
        workspace.python("bears", "compare", "bm25", "wordllama", "--format", "json")
    )
    assert [system["name"] for system in found["systems"]] == ["bm25", "wordllama"]
