"""The generated pages are fresh, every name is documented, and docs/library.py runs."""

import inspect
import re
from pathlib import Path
from runpy import run_path

import pytest
import yaml

import bears.library
from bears.cli import COMMANDS
from benchmarks.references import main, meaning, parser_of, subparsers
from tests.workspace import ROOT


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_the_generated_pages_are_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_a_help_text(name: str) -> None:
    parser = parser_of(name)
    for each in [parser, *subparsers(parser)]:
        assert each.description or subparsers(each), f"{each.prog} has no description"
        for action in each._actions:
            options = ", ".join(action.option_strings)
            assert action.help or not options, f"{each.prog} {options} has no help text"


def test_every_command_on_a_page_exists_with_its_options() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    found = 0
    for path in pages:
        if path.name in ("CHANGELOG.md", "commands.md"):
            continue
        for line in re.findall(r"(?:^\$ |`)bears ([a-z][^`\n#|]*)", path.read_text("utf-8"), re.M):
            for words in (part.removeprefix("bears ").split() for part in line.split(" && ")):
                if words[0] in COMMANDS:
                    assert unknown_options(words) == [], f"{path.name}: bears {line}"
                    found += 1
    assert found > 100


def unknown_options(words: list[str]) -> list[str]:
    """Return the options of a command line that the command does not have."""
    parser = parser_of(words[0])
    inner = {child.prog.split()[-1]: child for child in subparsers(parser)}
    if inner and len(words) > 1:
        parser = inner.get(words[1], parser)
        if words[1] not in inner and not words[1].startswith(("-", "…", "[")):
            return [words[1]]
    known = parser._option_string_actions
    return [word for word in words if word.startswith("--") and word.split("=")[0] not in known]


def test_the_table_of_stages_names_the_keys_of_dvc_yaml() -> None:
    page = (ROOT / "docs/pipeline.md").read_text(encoding="utf-8")
    stated = dict(re.findall(r"^\| `(\w+)` \| .*? \| (.*?) \| ", page, re.MULTILINE))
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    assert [name for name in stated if name in stages] == [*stages]
    for name, stage in stages.items():
        groups = {re.sub(r"\..*", "", key) for key in re.findall(r"`([\w.]+)`", stated[name])}
        files = [each for each in stage.get("params", []) if isinstance(each, dict)]
        keys = [key for each in files for key in each.get("data/config.yaml", [])]
        # The language is a file of its own.
        assert {key.partition(".")[0] for key in keys} | {"language"} == groups | {"language"}, name


def test_every_file_of_a_group_has_a_meaning() -> None:
    files = [path for path in Path("conf").glob("*/*.yaml") if path.parent.name != "ledger"]
    assert len(files) > 50
    assert [str(path) for path in files if not meaning(path)] == []


def test_every_public_name_of_the_library_is_on_its_page() -> None:
    page = Path("docs/library.md").read_text() + Path("docs/library.py").read_text()
    for name in bears.library.__all__:
        assert f"bears.{name}" in page, name
        if inspect.isclass(value := getattr(bears.library, name)):
            members = [each for each in vars(value) if not each.startswith("_")]
            assert [each for each in members if f".{each}" not in page] == [], name


@pytest.mark.slow
def test_the_script_in_cells_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run_path(str(ROOT / "docs/library.py"))
    printed = capsys.readouterr().out
    assert "varna" in printed
    assert "undecided" in printed  # Five questions prove nothing.
    assert (tmp_path / "recall.svg").read_text(encoding="utf-8").startswith("<svg")
