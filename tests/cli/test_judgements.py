"""Pooling unjudged documents, and importing people's judgements into the ledger."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from shutil import copytree, ignore_patterns
from subprocess import PIPE, Popen

import pytest

from bears.cli import main
from bears.config import read_ledger
from bears.config.ledger.entries import Ledger
from bears.config.typed import parse
from bears.files.lock import locked
from bears.files.records import write_lines, write_records
from bears.quality.audit.audit_pool import Candidate
from bears.results.pool import pooled
from bears.types import Chunk, ChunkRanking, Document, Question, chunks_in_order
from tests.workspace import ROOT


def run(**rankings: str) -> dict[str, ChunkRanking]:
    """A run of documents that are called by one letter each."""
    return {q: chunks_in_order(map(Chunk, ids)) for q, ids in rankings.items()}


def test_the_pool_is_what_any_system_has_up_to_the_depth_without_what_is_judged() -> None:
    runs = [run(q="abcd", r="a"), run(q="efgh", r="b", z="x")]
    found = pooled(runs, 2, {"q": {"a", "z"}, "r": set(), "s": set()})
    assert {q: "".join(sorted(ids)) for q, ids in found.items()} == {"q": "bef", "r": "ab", "s": ""}


def test_the_order_of_the_pool_shows_neither_systems_nor_ranks() -> None:
    letters = "abcdefghijklmnop"
    one, other = run(q=letters), run(q=letters[::-1])
    judged: dict[str, set[str]] = {"q": set()}
    found = pooled([one, other], 16, judged)["q"]
    assert found == pooled([other, one], 16, judged)["q"]
    assert found not in (list(letters), list(letters[::-1]))
    # Nor is a document always before another one.
    many = [f"q{n}" for n in range(20)]
    both = pooled([run(**dict.fromkeys(many, "ab"))], 2, {q: set() for q in many})
    assert {tuple(ids) for ids in both.values()} == {("a", "b"), ("b", "a")}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a benchmark of three questions, and a run of it."""
    for name in ("params.yaml", "dvc.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    copytree(ROOT / "conf", tmp_path / "conf", ignore=ignore_patterns("ledger"))
    (tmp_path / "conf/ledger").mkdir()
    translated = tmp_path / "data/mini/translated"
    questions = [
        Question("q1", "one?", "=answer", ("a",), "s", "ad-hoc"),
        Question("q2", "two?", "", (), "s", "ad-hoc", judged=False),
    ]
    documents = [Document(d, f"{d} " * 2000, "s", d, d == "a") for d in "abcd"]
    write_records(translated / "queries.json", questions)
    write_records(translated / "corpus.json", documents)
    lines = [f"{q} Q0 {d} 1 {-n} t" for q in ("q1", "q2") for n, d in enumerate("abcd")]
    (tmp_path / "run.trec").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    return tmp_path


def bears(*words: str) -> int:
    return main(["judgements", *words, "--benchmark", "mini"])


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def decided(
    project: Path, decide: Callable[[dict[str, str]], str], name: str = "judged.csv", depth: int = 3
) -> Path:
    """A pool of the run with decisions in it."""
    pool = project / "pool.csv"
    assert bears("pool", str(pool), "--systems", "run.trec", "--depth", str(depth)) == 0
    rows = table(pool)
    with (project / name).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "decision": decide(row)} for row in rows)
    return project / name


def in_ledger() -> dict[tuple[str, ...], tuple[str, str]]:
    found = parse(Ledger, read_ledger(Path("conf/ledger/mini.yaml")), "ledger").judgements
    return {one.place[:2]: (one.decision, one.author) for one in found}


@pytest.mark.usefixtures("project")
def test_the_table_shows_a_judge_the_documents_and_no_system() -> None:
    assert bears("pool", "pool.csv", "--systems", "run.trec", "--depth", "2") == 0
    rows = table(Path("pool.csv"))
    pairs = {(row["record_id"], row["doc_id"]) for row in rows}
    assert pairs == {("q1", "b"), ("q2", "a"), ("q2", "b")}
    assert all(len(row["document"]) == 2000 and row["document"].endswith("…") for row in rows)
    # A spreadsheet runs no formula from a cell.
    assert {row["answer"] for row in rows} == {"'=answer", ""}
    assert "run" not in "".join(rows[0]) + "".join(rows[0].values())
    assert bears("pool", "p.csv", "--systems", "run.trec", "--without-gold") == 0
    assert {row["record_id"] for row in table(Path("p.csv"))} == {"q2"}


def test_questions_without_gold_come_first_and_only_people_have_judged(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = decided(project, lambda row: "Not " if row["doc_id"] == "b" else "")
    rows = table(path)
    assert [row["record_id"] for row in rows] == ["q2"] * 3 + ["q1"] * 2
    said = capsys.readouterr().out
    assert "5 documents to judge for 2 questions" in said
    assert "people judged 0 before" in said
    assert "the first 3 are for the 1 questions without gold" in said
    assert bears("import", str(path)) == 0
    assert set(in_ledger().values()) == {("not", "")}
    assert bears("pool", "p.csv", "--systems", "run.trec", "--depth", "3", "--without-gold") == 0
    said = capsys.readouterr().out
    assert "2 documents to judge for 1 questions, the first 3 of run.trec; people judged 2" in said
    assert "--without-gold" not in said


def at_once(folder: Path, *commands: list[str]) -> list[tuple[int, str]]:
    """Return status and output of commands that have all read the ledger before one may write."""
    program = [sys.executable, "-c", "import sys; from bears.cli import main; sys.exit(main())"]
    with locked(folder / "conf/ledger", "the ledger"):
        processes = [
            Popen([*program, *words], cwd=folder, stdout=PIPE, stderr=PIPE, text=True)
            for words in commands
        ]
        waiting = [str(process.stderr and process.stderr.readline()) for process in processes]
        assert all("waiting" in line for line in waiting), waiting
    told = ["".join(process.communicate(timeout=60)) for process in processes]
    return [(process.returncode, text) for process, text in zip(processes, told, strict=True)]


@pytest.mark.slow
def test_of_two_people_who_import_at_once_one_hears_of_the_other(project: Path) -> None:
    """Both ended with 0, and the decisions of one were lost."""
    (project / "data/memory").mkdir()
    words = {"relevant": "ann", "not": "bob"}
    commands = [
        ["judgements", "import", str(decided(project, lambda _, w=word: w, f"{name}.csv")),  # type: ignore[misc]
         "--author", name, "--benchmark", "mini"]
        for word, name in words.items()
    ]  # fmt: skip
    (first, _), (second, other) = sorted(at_once(project, *commands))
    assert (first, second) == (0, 1)
    assert "were judged otherwise before" in other
    found = set(in_ledger().values())
    assert len(found) == 1
    assert found <= set(words.items())
    entry = ["replace", "q1", "--benchmark", "mini", "--reason"]
    write_records(
        project / "data/mini/sampled/queries_raw.json",
        [Question("q1", "one?", "", (), "s", "ad-hoc")],
    )
    (first, _), (second, other) = sorted(at_once(project, [*entry, "a"], [*entry, "b"]))
    assert (first, second) == (0, 1)
    assert "q1 is replaced already" in other


def test_what_is_imported_is_judged_and_the_rest_is_pooled_again(project: Path) -> None:
    path = decided(project, lambda row: "relevant" if row["doc_id"] == "b" else "")
    assert bears("import", str(path), "--author", "A. Reader") == 0
    assert in_ledger() == {(q, "b"): ("relevant", "A. Reader") for q in ("q1", "q2")}
    assert bears("pool", "pool.csv", "--systems", "run.trec", "--depth", "3") == 0
    left = {(row["record_id"], row["doc_id"]) for row in table(Path("pool.csv"))}
    assert left == {("q1", "c"), ("q2", "a"), ("q2", "c")}


def audited(project: Path, *chunks: Chunk) -> None:
    """Candidates for the first question, as `audit` writes them."""
    found = [{**asdict(Candidate("q1", each.name, {"rank": 1})), **asdict(each)} for each in chunks]
    write_lines(project / "data/mini/audited/candidates.jsonl", found)


def test_what_the_audit_found_is_pooled_until_it_is_decided(project: Path) -> None:
    audited(project, Chunk("b"), Chunk("c", 2, 8))
    words = ("pool", "pool.csv", "--systems", "audit")
    assert bears(*words) == 0
    rows = {row["doc_id"]: row for row in table(Path("pool.csv"))}
    assert {row["record_id"] for row in rows.values()} == {"q1"}
    assert rows.keys() == {"b", "c"}
    assert [rows["c"][name] for name in ("start", "end", "document")] == ["2", "8", "c c c "]
    row = {**rows["b"], "decision": "partial"}
    with Path("judged.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([[*row], [*row.values()]])
    assert bears("import", "judged.csv") == 0
    assert in_ledger() == {("q1", "b"): ("partial", "")}
    assert bears(*words) == 0
    assert [row["doc_id"] for row in table(Path("pool.csv"))] == ["c"]


def test_what_the_audit_found_in_another_state_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audited(project, Chunk("zz"))
    assert bears("pool", "p.csv", "--systems", "audit") == 1
    assert "audit: its document 'zz' is not in the benchmark" in capsys.readouterr().err


def test_one_decision_on_all_pairs_has_no_kappa_and_no_warning(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = decided(project, lambda _: "relevant")
    for _ in range(2):
        assert bears("import", str(path)) == 0
    assert "5 pairs were judged before: 5 of them the same\n" in capsys.readouterr().out


def test_a_second_judge_is_compared_and_changes_nothing_without_replace(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = decided(project, lambda row: "relevant" if row["doc_id"] in "ab" else "not", "1.csv")
    second = project / "2.csv"
    text = first.read_text(encoding="utf-8").replace("not,", " Partial,", 1)
    second.write_text(text, encoding="utf-8")
    assert bears("import", str(first)) == 0
    before = in_ledger()
    capsys.readouterr()
    assert bears("import", str(first)) == 0
    same = "5 pairs were judged before: 5 of them the same, Cohen's kappa 1.00"
    assert same in capsys.readouterr().out
    assert bears("import", str(second)) == 1
    told = capsys.readouterr()
    # By hand: 3 relevant, 2 not; one of the latter is partial: (0.8 - 0.44) / (1 - 0.44).
    assert "5 pairs were judged before: 4 of them the same, Cohen's kappa 0.64" in told.out
    assert "1 pairs were judged otherwise before, such as q2 c" in told.err
    assert "was not and is partial" in told.err
    assert in_ledger() == before
    assert bears("import", str(second), "--replace") == 0
    assert sorted(said for said, _ in in_ledger().values()) == ["not", "partial", *["relevant"] * 3]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("pool", "p.csv", "--systems", "bge-m3"), "no file, no revision, no experiment"),
        (("pool", "p.csv", "--systems", "run.trec,nope"), "no file, no revision, no experiment"),
        (("pool", "p.csv", "--systems", "run.trec", "--depth", "0"), "--depth is 0; expected"),
        (("pool", "p.csv", "--systems", "other.trec"), "other.trec: its document 'zz' is not in"),
        (("pool", "p.csv"), "nothing ran on mini as it is now"),
        (("pool", "p.csv", "--systems", "audit"), "audited does not exist; run `dvc repro audit`"),
        (("import", "absent.csv"), "absent.csv: no such file"),
        (("import", "yes.csv"), "decision"),
        (("import", "gone.csv"), "there is no q1 nobody"),
        (("import", "undecided.csv"), "undecided.csv: no row has a decision"),
    ],
)
def test_what_cannot_be_pooled_or_imported_is_said_in_a_sentence(
    project: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    (project / "other.trec").write_text("q1 Q0 zz 1 1 t\n", encoding="utf-8")
    header = "record_id,doc_id,decision,reason,author\n"
    (project / "yes.csv").write_text(f"{header}q1,b,yes,,\n", encoding="utf-8")
    (project / "gone.csv").write_text(f"{header}q1,nobody,not,,\n", encoding="utf-8")
    (project / "undecided.csv").write_text(f"{header}q1,b,,,\n", encoding="utf-8")
    assert bears(*words) == 1
    assert message in capsys.readouterr().err
    assert not Path("conf/ledger/mini.yaml").exists()
