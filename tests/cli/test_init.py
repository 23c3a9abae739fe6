"""`bears init` and `bears new`: projects outside of any checkout, and what they may add."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
import yaml
from ruamel.yaml import YAML

from bears.cli import main
from bears.config.packaged import OURS, STAGES, pipeline
from bears.config.pipeline import definitions
from bears.files.intake.files import json_value
from bears.layout import CODE, LANGUAGE
from stages import config
from tests.sources.files import row, workbook
from tests.workspace import ROOT, Workspace, ran

pytestmark = pytest.mark.usefixtures("dvc_starts_once", "code_read_once")
ROWS = [
    {"frage": "Wer schrieb den Faust?", "text": "Der Faust ist von Goethe.", "antwort": "Goethe"},
    {
        "frage": "Wo liegt die Stadt Bonn?",
        "text": "Bonn liegt am Rhein, südlich von Köln.",
        "antwort": "am Rhein",
    },
]


def folder_of_documents(place: Path, table: str = "questions.csv") -> Path:
    folder = place / "my manuals 手冊"
    folder.mkdir()
    (folder / "pump.md").write_text("# Pump\n\nThe pump of the mill runs at night.\n")
    (folder / "lift.txt").write_text("The lift of the mill was built by two brothers.\n")
    (folder / "logo.png").write_bytes(b"\x89PNG")
    (folder / table).write_text(
        "question,answer,document,quotation\n"
        "When does the pump run?,at night,pump.md,runs at night\n"
    )
    return folder


def head(project: Path) -> list[str]:
    """The files of the last commit."""
    words = ["git", "show", "--pretty=", "--name-only", "-z", "HEAD", "--"]
    done = subprocess.run(words, cwd=project, capture_output=True, check=True, encoding="utf-8")
    return done.stdout.strip("\0").split("\0")


def test_a_new_project_has_the_pipeline_of_the_checkout() -> None:
    ours = yaml.safe_load((ROOT / "dvc.yaml").read_bytes())
    for stage in ours["stages"].values():
        stage["cmd"] = stage["cmd"].replace("python -m stages.", f"python -m {STAGES}.")
    assert ours["stages"]["config"]["deps"] == [line.strip(" -") for line in OURS.split("\n")[:-1]]
    # The code of an installed package lies outside of a project.
    ours["stages"]["config"] |= {"deps": [], "always_changed": True}
    assert yaml.safe_load(pipeline()) == ours


def test_a_folder_becomes_a_project_and_what_was_guessed_is_printed(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = folder_of_documents(place, "faq.csv")
    assert main(["init", "mill 1", "--documents", str(documents)]) == 0
    said = capsys.readouterr().out
    assert "language: en, guessed" in said
    assert "2 documents, 1 questions with gold in faq.csv" in said
    assert "left out: 1 file(s), such as logo.png: not one of" in said
    assert said.endswith("next: cd 'mill 1' && dvc repro\n")
    project = place / "mill 1"
    written = yaml.safe_load((project / "conf/benchmark/mill-1.yaml").read_bytes())
    assert written["sources"]["own"]["path"] == str(documents)
    assert written["sources"]["own"]["settings"] == {"questions": "faq.csv"}
    files = ["dvc.yaml", "params.yaml", ".gitignore", ".dvcignore", "README.md"]
    files += [
        "conf/source/.gitkeep",
        ".dvc/config",
        ".dvc/.gitignore",
        "conf/benchmark/mill-1.yaml",
    ]
    files += [".dvc/plots/measure_bars.json", ".dvc/plots/recall_curve.json"]
    assert sorted(head(project)) == sorted(files)
    # Again, after an edit: nothing that is there changes, and what is missing comes back.
    (project / "README.md").write_text("mine")
    (project / ".dvcignore").unlink()
    assert main(["init", "mill 1", "--documents", str(documents)]) == 0
    assert (project / "README.md").read_text() == "mine"
    assert (project / ".dvcignore").exists()


def test_a_folder_without_questions_says_how_to_get_them(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = folder_of_documents(place)
    (documents / "questions.csv").unlink()
    assert main(["init", "mill", "--documents", str(documents)]) == 0
    assert "next: write questions.csv or questions.xlsx in that" in capsys.readouterr().out


GOLDEN = [
    {"q": "When does the pump run?", "gold": "pump", "seen": "lift", "kind": "easy"},
    {"q": "Who pays for the lift?", "gold": None, "seen": "pump.md", "kind": "unanswerable"},
]


@pytest.mark.parametrize("command", ["init", "new"])
def test_a_golden_set_beside_the_folder_is_read_and_shown_as_a_table(
    place: Path, capsys: pytest.CaptureFixture[str], command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = folder_of_documents(place)
    (documents / "questions.csv").unlink()
    if command == "new":
        assert main(["init", "mill"]) == 0
        monkeypatch.chdir(place / "mill")
    golden = place / "golden.json"
    golden.write_text(json.dumps({"version": 1, "cases": GOLDEN}), "utf-8")
    words = [command, "fine", "--documents", str(documents), "--questions", str(golden)]
    assert main(words) == 1
    assert "document may be gold or seen; say which: --set document=gold" in capsys.readouterr().err
    assert main([*words, "--set", "document=gold"]) == 0
    said = capsys.readouterr().out
    assert "1 questions with gold in golden.json" in said
    assert "questions without an answer: 1" in said
    table = [line.split()[:3] for line in said.splitlines()]
    assert [*["gold", "document", "pump"]] in table
    assert ["seen", "not", "read"] in table
    project = place / "fine" if command == "init" else place / "mill"
    written = yaml.safe_load((project / "conf/benchmark/fine.yaml").read_bytes())["sources"]["own"]
    assert written["settings"] == {"questions": "../golden.json"}
    assert written["fields"] == {"document": "gold"}
    # A change of a file outside of the folder is noticed.
    monkeypatch.chdir(project)
    if command == "init":
        stage = [Path("conf"), Path("data/config.yaml"), LANGUAGE, CODE, []]
        config.main(*stage)  # type: ignore[arg-type]
        before = yaml.safe_load(Path("data/config.yaml").read_bytes())["contents"]
        golden.write_text(json.dumps(GOLDEN), "utf-8")
        config.main(*stage)  # type: ignore[arg-type]
        assert yaml.safe_load(Path("data/config.yaml").read_bytes())["contents"] != before


def test_several_files_that_may_be_the_questions_are_named(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = folder_of_documents(place)
    (documents / "questions.csv").rename(documents / "golden.csv")
    (documents / "test.jsonl").write_text(json.dumps(GOLDEN[0]), "utf-8")
    (documents / "settings.json").write_text('{"theme": "dark"}', "utf-8")
    assert main(["init", "mill", "--documents", str(documents)]) == 1
    told = capsys.readouterr().err
    assert "golden.csv, test.jsonl in" in told
    assert f"name one: --questions {documents / 'golden.csv'}" in told
    assert main(["init", "mill", "--rows", str(documents), "--questions", "x"]) == 1
    assert "--questions needs --documents FOLDER" in capsys.readouterr().err


def test_a_workbook_of_any_name_is_found(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    documents = folder_of_documents(place)
    (documents / "questions.csv").unlink()
    for name in ("questions.xlsx", "faq.xlsx"):
        rows = row("question", "document") + row("When does the pump run?", "pump.md")
        (documents / name).write_bytes(workbook(rows))
        assert main(["init", name, "--documents", str(documents)]) == 0
        assert f"1 questions with gold in {name}" in capsys.readouterr().out
        (documents / name).unlink()


@pytest.mark.slow
def test_in_a_repository_only_the_projects_own_files_are_committed(place: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], check=True)
    (place / "staged.txt").write_text("mine")
    subprocess.run(["git", "add", "staged.txt"], check=True)
    assert main(["init", "bench"]) == 0
    committed = head(place)
    assert "bench/dvc.yaml" in committed
    assert "bench/data/memory/mini.jsonl" in committed
    assert all(path.startswith("bench/") for path in committed)
    assert not (place / ".dvc").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--documents", "none"], "none does not exist"),
        (["--rows", "a", "--beir", "b"], "--rows and --beir are given; expected one of them"),
        (["--benchmark", "nosuch"], "no benchmark 'nosuch'; there are any, bears"),
        (["--source", "nosuch"], "drcd"),
    ],
)
def test_what_cannot_become_a_project_is_refused_and_leaves_no_file(
    place: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["init", "bench", *words]) == 1
    assert said in capsys.readouterr().err
    assert [path for path in place.rglob("*") if path.is_file()] == []


def test_a_benchmark_is_added_from_rows_a_beir_set_or_a_source(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "bench"]) == 0
    monkeypatch.chdir(place / "bench")
    rows = place / "rows.json"
    rows.write_text(json.dumps(ROWS), encoding="utf-8")
    assert main(["new", "german", "--rows", str(rows)]) == 0
    added = yaml.safe_load(Path("conf/benchmark/german.yaml").read_bytes())
    assert added["sources"]["any"]["fields"]["question"] == "frage"
    beir = Path("data/local/set")
    (beir / "qrels").mkdir(parents=True)
    (beir / "corpus.jsonl").write_text('{"_id": "d1", "text": "The mill of the village."}\n')
    (beir / "queries.jsonl").write_text('{"_id": "q1", "text": "Which mill?"}\n')
    (beir / "qrels/dev.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    assert main(["new", "set", "--beir", str(beir)]) == 0
    added = yaml.safe_load(Path("conf/benchmark/set.yaml").read_bytes())["sources"]["beir"]
    assert (added["path"], added["split"]) == ("data/local/set", "dev")
    assert main(["new", "chinese", "--source", "drcd"]) == 0
    assert main(["new", "larger", "--benchmark", "bears"]) == 0
    capsys.readouterr()
    assert main(["new", "larger", "--benchmark", "bears"]) == 1
    assert "larger.yaml exists; choose another name" in capsys.readouterr().err
    for name in ("a b", "any", "own", "bears"):
        assert main(["new", name, "--benchmark", "bears"]) == 1
        assert "cannot name a benchmark" in capsys.readouterr().err
    assert main(["new", "empty"]) == 1
    # A message with the possible words lists the project's and the shipped ones.
    assert main(["replies", "plan", "benchmark=nosuch"]) == 1
    listed = set(capsys.readouterr().err.split())
    assert {"german", "set", "chinese", "larger", "mini", "scifact"} <= listed


OWN = {
    "lines.py": "class Lines:\n    def ranges(self, text):\n"
    "        ends = [i + 1 for i, c in enumerate(text) if c == '.'] or [len(text)]\n"
    "        return [*zip([0, *ends[:-1]], ends)]\n",
    "conf/chunking/lines.yaml": "name: lines\n_target_: lines.Lines\n",
    "conf/retriever/bm25.yaml": "name: bm25\n_target_: mine.Weak\nk1: 0.0\nb: 0.0\n",
    "mine.py": "from bears.retrieval.sparse.bm25 import BM25\n\n\n"
    "class Weak(BM25):\n    def __init__(self, k1: float, b: float, language: str = '') -> None:\n"
    "        super().__init__(k1, b, language, analyzer='cjk-bigrams')\n",
    "measures.py": "from bears.evaluation.measures.success import SUCCESS\n\nfirst = SUCCESS\n",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel, unpacked."""
    to = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "uv", "build", "--wheel", "--quiet", "--out-dir"]
    subprocess.run([*build, str(to), str(ROOT)], check=True)
    (wheel,) = to.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(to / "installed")
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(to / "installed")], check=True)
    return to / "installed"


@pytest.fixture
def installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Path:
    """Where the package of the built wheel is, which Python finds before any checkout."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    if "BEARS_INSTALLED" in os.environ:  # of `make release`
        return Path(sysconfig.get_path("purelib"))
    # Times of files are kept, so that Python takes what was compiled.
    shutil.copytree(request.getfixturevalue("wheel"), tmp_path / "installed")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "installed"))
    return tmp_path / "installed"


# What YAML 1.1, YAML 1.2 or Hydra take for a number, a date, a truth value or nothing.
NAMES = ["2026", "1e5", "on", "null", "2026-01-01", "0o7", "08", "1_0", "nan", "手冊"]
PLACES = ["a\nb: [", "${benchmark.name}", "\\${x}", "${oc.env:HOME}", "a: 'b' #\"c", "- x", "{y}"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "folder"), [*((name, "docs") for name in NAMES), *(("mill", each) for each in PLACES)]
)
def test_any_name_and_any_path_reach_the_configuration_as_they_are(
    place: Path, monkeypatch: pytest.MonkeyPatch, name: str, folder: str
) -> None:
    documents = folder_of_documents(place).rename(place / folder)
    assert main(["init", name, "--documents", str(documents)]) == 0
    monkeypatch.chdir(name)
    # As DVC reads params.yaml, for the paths that carry the name.
    assert YAML().load(Path("params.yaml"))["benchmark"] == name
    config.main(Path("conf"), Path("data/config.yaml"), LANGUAGE, CODE, [])
    written = yaml.safe_load(Path("data/config.yaml").read_bytes())
    assert written["benchmark"]["name"] == name
    assert written["sources"]["own"]["path"] == str(documents)
    assert written["sources"]["own"]["name"] == name


def test_init_says_what_becomes_of_questions_without_gold_and_asks_for_no_translation(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = folder_of_documents(place)
    with (documents / "questions.csv").open("a") as table:
        table.write("Who built the lift?,,,\nWho paid for it?,,,\n")
    assert main(["init", "mill", "--documents", str(documents)]) == 0
    said = capsys.readouterr().out
    assert "1 questions with gold in questions.csv" in said
    assert "questions without gold: 2; they are kept" in said
    assert YAML().load(place / "mill/params.yaml")["language"] == "auto"
    assert main(["init", "mill"]) == 1
    assert "mill is a project already: `bears upgrade`" in capsys.readouterr().err
    (documents / "scan.pdf").write_bytes(b"%PDF-1.4 torn")
    with (documents / "questions.csv").open("a") as table:
        table.write("What is in the scan?,,scan.pdf,\n")
    assert main(["init", "other", "--documents", str(documents)]) == 1
    assert "line 5: scan.pdf is left out: it cannot be read" in (told := capsys.readouterr().err)
    assert "Save it as a text, a Word file or a PDF with text and name that, or empty" in told


OLD = ROOT / "tests/data/{}-ac4ade4.yaml"
"""dvc.yaml and params.yaml as `bears init` wrote them on 25 November 2026, at commit ac4ade4."""


@pytest.fixture
def old_project(place: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A project of an earlier version, with an edited selection."""
    assert main(["init", "bench"]) == 0
    project = Workspace(place / "bench")
    for name in ("dvc", "params"):
        text = Path(str(OLD).format(name)).read_text("utf-8")
        text = text.replace("python -m bears.stages.", f"python -m {STAGES}.")
        (project.root / f"{name}.yaml").write_text(text, "utf-8")
    project.git("commit", "--quiet", "--amend", "--all", "--no-edit")
    project.edit("params.yaml", "retriever: bm25", "retriever: wordllama")
    monkeypatch.chdir(project.root)
    return project


def test_an_old_project_is_told_to_upgrade_and_keeps_its_words(
    old_project: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "config: dvc.yaml is of another version of BEARS (its stage " in (
        told := old_project.python("stages.config", code=1)
    )
    assert "run `bears upgrade`, which writes it anew\n" in told
    assert main(["new", "more", "--benchmark", "bears"]) == 1
    told = capsys.readouterr().err
    assert "Could not override 'reader'" in told
    assert "If params.yaml has it from an earlier version of BEARS, run `bears upgrade`" in told
    # An edited pipeline is not replaced before its owner has seen what that changes.
    own = old_project.text("dvc.yaml") + "  mine:\n    cmd: date\n"
    (old_project.root / "dvc.yaml").write_text(own)
    assert main(["upgrade"]) == 1
    shown = capsys.readouterr()
    assert {"-  mine:", "-      - reader", "-reader: none"} <= {*shown.out.splitlines()}
    assert "dvc.yaml was edited, and would change as shown above" in shown.err
    assert old_project.text("dvc.yaml") == own
    assert main(["upgrade", "--yes"]) == 0
    assert old_project.text("dvc.yaml") == pipeline()
    assert old_project.text("dvc.yaml.orig") == own
    selected = yaml.safe_load(old_project.text("params.yaml"))
    assert selected.keys() == yaml.safe_load((ROOT / "params.yaml").read_bytes()).keys()
    assert (selected["benchmark"], selected["retriever"]) == ("mini", "wordllama")
    capsys.readouterr()
    assert main(["upgrade"]) == 0
    assert capsys.readouterr().out == "up to date\n"


def test_a_new_group_is_added_and_a_pipeline_may_have_more_than_ours(
    old_project: Workspace,
) -> None:
    old_project.edit("params.yaml", "rewriter: none\n", "")
    assert main(["upgrade"]) == 0
    assert yaml.safe_load(old_project.text("params.yaml"))["rewriter"] == "none"
    assert old_project.git("status", "--porcelain") == ""
    text = pipeline().replace("    deps:\n", "    deps:\n      - mine.txt\n", 1)
    (old_project.root / "dvc.yaml").write_text(
        text + "  mine:\n    foreach: [a]\n    do:\n      cmd: date\n"
    )
    assert "mine" not in definitions()


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_an_upgraded_project_runs_to_the_end(old_project: Workspace) -> None:
    text = old_project.text("dvc.yaml").replace("python -m stages.", "python -m bears.stages.")
    (old_project.root / "dvc.yaml").write_text(text)
    old_project.git("commit", "--quiet", "--amend", "--no-edit", "dvc.yaml")
    assert "run `bears upgrade`" in old_project.dvc("repro", code=255)
    assert "next: dvc repro" in old_project.python("bears", "upgrade")
    again = old_project.dvc("repro")
    assert len(ran(again)) == 12
    assert "is empty" not in again
    assert "wordllama on mini" in old_project.python("bears", "show")


def runs_as_the_checkout_does(outside: Workspace) -> Workspace:
    """Make a project in a folder, run it as it is, and return it."""
    outside.python("bears", "init", "mini")
    project = Workspace(outside.root / "mini")
    assert "bears.stages.config" in project.text("dvc.yaml")
    assert len(ran(project.dvc("repro"))) == 12
    ours = json_value(ROOT / "metrics/retrieval.json")
    theirs = json_value(project.root / "metrics/retrieval.json")
    assert theirs == ours
    assert project.text("data/code.yaml") == (ROOT / "data/code.yaml").read_text("utf-8")
    assert ran(project.dvc("repro")) == ["config"]
    return project


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_a_project_in_a_repository_runs_as_the_checkout_does(tmp_path: Path) -> None:
    (tmp_path / "a 夾 b").mkdir()
    outside = Workspace(tmp_path / "a 夾 b")
    outside.git("init", "--quiet")
    runs_as_the_checkout_does(outside)


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_a_project_from_the_wheel_runs_as_the_checkout_does_and_follows_a_folder(
    tmp_path: Path,
) -> None:
    (tmp_path / "a 夾 b").mkdir()
    project = runs_as_the_checkout_does(Workspace(tmp_path / "a 夾 b"))
    project.commit()
    assert "wordllama on mini" in project.dvc("exp", "run", "-S", "retriever=wordllama") + (
        project.python("bears", "show")
    )
    assert "no significant difference" in project.python("bears", "compare")
    project.python("bears", "report")
    project.dvc("plots", "show", "--json")
    documents = folder_of_documents(tmp_path)
    project.python("bears", "new", "mill", "--documents", str(documents))
    project.dvc("exp", "run", "-S", "benchmark=mill", "-S", "retriever=bm25")
    assert "bm25 on mill" in project.python("bears", "show")
    # What changes in the folder is read again; nothing is, if nothing changes.
    assert ran(project.dvc("repro")) == ["config"]
    (documents / "lift.txt").write_text("The lift of the mill was built by three sisters.\n")
    assert {"download", "index", "evaluate"} <= set(ran(project.dvc("repro")))
    assert "three sisters" in project.text("data/mill/translated/corpus.json")
    (documents / ".hidden").write_text("not read")
    assert ran(project.dvc("repro")) == ["config"]
    # On a machine without the folder, what was read from it is still there.
    documents.rename(tmp_path / "elsewhere")
    assert ran(project.dvc("repro")) == ["config"]


@pytest.mark.slow
def test_a_projects_own_code_and_an_upgrade_rerun_what_they_touch(
    tmp_path: Path, installed: Path
) -> None:
    outside = Workspace(tmp_path)
    outside.python("bears", "init", "bench")
    project = Workspace(tmp_path / "bench")
    project.dvc("repro")
    # An upgrade that changes one retriever.
    package = installed / "bears/retrieval"
    other = package / "models/wordllama.py"
    other.write_text(other.read_text("utf-8") + "\nNEW = 1\n", encoding="utf-8")
    assert ran(project.dvc("repro")) == ["config"]
    code = package / "sparse/bm25.py"
    code.write_text(code.read_text("utf-8") + "\nNEW = 1\n", encoding="utf-8")
    again = ran(project.dvc("repro"))
    assert again[0] == "config"
    assert {"index", "retrieve"} <= set(again)
    assert not {"download", "translate", "verify"} & set(again)
    # Words of one's own: one replaces ours, one is new, and all name code of the project.
    for name, text in OWN.items():
        (project.root / name).parent.mkdir(parents=True, exist_ok=True)
        (project.root / name).write_text(text)
    measures = "overrides=['evaluate.measures=[success@1,measures.first@1]']"
    project.commit()
    project.dvc("exp", "run", "-S", "chunking=lines", "-S", measures)
    means = json_value(project.root / "metrics/retrieval.json")["all"]
    assert means["measures.first@1"] == means["success@1"]
    project.commit()
    changed = OWN["lines.py"].replace("'.'", "'。'")
    (project.root / "lines.py").write_text(changed)
    again = ran(project.dvc("repro"))
    assert again[:2] == ["config", "index"]
