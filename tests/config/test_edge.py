"""The edge of stages and commands: each real cause gives one sentence and a true exit status."""

import os
import subprocess
import sys
from collections.abc import Callable
from errno import EFBIG
from pathlib import Path

import pytest

from bears.config.edge import ended
from bears.files.records import to_line
from tests.workspace import ROOT, environment_for


def shell(line: str, **variables: str) -> tuple[int, str]:
    """The exit status of a line of bash, and what it printed on stderr; `$P` is Python."""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=ROOT,
        env={**environment_for(sys.executable), "P": sys.executable, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    return done.returncode, done.stderr


def circle(depth: int) -> int:
    return circle(depth + 1)


def absent() -> None:
    Path("nosuch").read_bytes()


def mistyped() -> None:
    len(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("work", "status", "sentence"),
    [
        (lambda: bytearray(2**62), 1, "there is not enough memory ("),
        (lambda: circle(0), 1, "a file that was read is nested too deeply ("),
        (lambda: b"\xff".decode(), 1, "a text is not valid Unicode ('utf-8' codec"),
        (lambda: "\ud800".encode(), 1, "a text is not valid Unicode ('utf-8' codec"),
        (absent, 1, "nosuch: no such file or directory; see that it is there"),
        (mistyped, 70, "this is a bug in bears: TypeError: object of type 'int' has no len() ("),
    ],
)
def test_what_no_door_foresees_is_one_sentence(
    work: Callable[[], None], status: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("boil", work) == status
    told = capsys.readouterr().err
    assert told.startswith(f"boil: {sentence}")
    assert told.count("\n") == 1


def test_of_a_bug_users_see_our_line_and_developers_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("boil", lambda: print(to_line({"a": object()}))) == 70
    assert "(bears/files/records.py, line " in capsys.readouterr().err
    monkeypatch.setenv("BEARS_TRACEBACK", "1")
    assert ended("boil", mistyped) == 70
    told = capsys.readouterr().err
    assert told.startswith("Traceback (most recent call last):")
    assert "    len(5)" in told


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_under_standard_output_is_an_error(unbuffered: str) -> None:
    for command in ("show", "--help"):
        if command == "--help" and unbuffered:
            continue  # argparse itself lets that pass
        line = f"$P -m bears {command} > /dev/full"
        status, told = shell(line, PYTHONUNBUFFERED=unbuffered)
        assert (status, told.count("\n")) == (1, 1)
        assert "no space left on device; free some space" in told


@pytest.mark.slow
def test_a_file_that_does_not_fit_is_named_and_the_earlier_one_kept(tmp_path: Path) -> None:
    file, (base, other) = tmp_path / "gate.md", (tmp_path / "in" / name for name in "ab")
    base.parent.mkdir()
    for values, correct in ((base, 40), (other, 10)):
        rows = [f"{'question' * 20}{n:02},{int(n < correct)}" for n in range(40)]
        values.with_suffix(".csv").write_text("\n".join(["question_id,ndcg@10", *rows, ""]))
    file.write_text("earlier", encoding="utf-8")
    status, told = shell(f"ulimit -f 1; $P -m bears gate {base}.csv {other}.csv --markdown {file}")
    assert status == 2
    assert told == (
        f"bears: {file}: {os.strerror(EFBIG).lower()}; permit larger files (ulimit -f), "
        "then run the same again\n"
    )
    found = {path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()}
    assert found == {file.name: "earlier"}


@pytest.mark.slow
def test_an_error_without_a_reader_still_has_its_exit_status() -> None:
    assert shell("$P -m bears replies review 2> /dev/full") == (1, "")


def test_a_terminal_without_chinese_is_told_in_escapes(tmp_path: Path) -> None:
    work = (
        "import sys, pathlib; from bears.config.edge import ended\n"
        "ended('boil', lambda: print('無'))\n"
        "sys.exit(ended('boil', pathlib.Path('無').read_bytes))"
    )
    status, told = shell(f'$P -c "{work}" > {tmp_path}/out', PYTHONIOENCODING="ascii")
    assert (tmp_path / "out").read_bytes() == b"\\u7121\n"
    assert (status, told.isascii(), told.count("\n")) == (1, True, 1)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("pipe", ["| true", "2>&1 | true"])
def test_the_work_goes_on_when_the_reader_leaves(
    pipe: str, unbuffered: str, tmp_path: Path
) -> None:
    work = (
        "import sys, pathlib; from bears.config.edge import ended\n"
        "def work():\n"
        "    for stream in (sys.stdout, sys.stderr): print('bears' * 100_000, file=stream)\n"
        f"    pathlib.Path('{tmp_path}/done').touch()\n"
        "sys.exit(ended('boil', work))"
    )
    status, _ = shell(f'$P -c "{work}" {pipe}', PYTHONUNBUFFERED=unbuffered)
    assert status == 0
    assert (tmp_path / "done").exists()
