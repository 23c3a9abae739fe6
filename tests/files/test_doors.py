"""Files from outside come in through bears/files/intake, and nothing else opens or parses them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.modules import trees

READERS = {
    *("open", "os.open", "os.fdopen", "io.open"),
    *("json.load", "json.loads", "jiter.from_json", "pydantic_core.from_json", "from_json"),
    *("yaml.load", "yaml.safe_load", "yaml.parse", "yaml.compose"),
    *("csv.reader", "csv.DictReader", "gzip.open", "gzip.GzipFile", "gzip.decompress"),
    *("zipfile.ZipFile", "tarfile.open", "pickle.load", "pickle.loads"),
    *("parquet.ParquetFile", "parquet.read_table", "pq.ParquetFile", "pq.read_table"),
    *("load_workbook", "openpyxl.load_workbook"),
}
METHODS = ("read_text", "read_bytes")
ALLOWED = {
    "bears/config/code.py": "our own code",
    "bears/config/edge.py": "os.devnull alone",
    "bears/files/lock.py": "locks are ours, and hold a process number",
    "bears/files/journal.py": "ours, and a line is trusted for its checksum alone",
    "bears/files/records.py": "bytes are digested and not read; a temporary file of ours, to write",
    "bears/answers/ragas/program.py": "reads what ragas.run gives it, where nothing of ours is",
    "bears/files/page.py": "files of the package itself",
    "bears/retrieval/combined/hybrid.py": "what the same process has just written",
    "bears/retrieval/combined/rerank.py": "an index of ours, held to its manifest",
    "bears/retrieval/dense/shards.py": "an index of ours, held to its manifest",
}
"""Module to the reason why it may read by itself."""


def calls_that_read(tree: ast.Module) -> Iterator[str]:
    """Each call in a module that opens a file for reading, or parses what a file can hold."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        # A retriever opens a folder too; a file is opened with a mode, or with nothing.
        modes = [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)]
        modes += [ast.literal_eval(k.value) for k in node.keywords if k.arg == "mode"]
        opened = name.endswith(".open") and (not node.args or modes)
        writes = modes and not set(str(modes[0])) & set("r+")
        if (name in READERS or name.endswith(tuple(f".{m}" for m in METHODS)) or opened) and (
            not writes
        ):
            yield name


def test_only_the_door_reads_what_comes_from_outside() -> None:
    found = {
        path: calls
        for path, tree in trees().items()
        if Path(path).parent != Path("bears/files/intake") and (calls := [*calls_that_read(tree)])
    }
    assert {path: calls for path, calls in found.items() if path not in ALLOWED} == {}


@pytest.mark.parametrize(
    ("call", "reads"),
    [
        *((call, True) for call in ("path.open()", "path.open('rb')", "path.open(mode='r+b')")),
        *((call, True) for call in ("a.b.read_text()", "json.loads(line)", "open(name)")),
        *((call, False) for call in ("path.open('wb')", "store.open(folder)", "read_text(path)")),
    ],
)
def test_a_call_that_reads_is_told_from_one_that_does_not(call: str, reads: bool) -> None:
    assert bool(list(calls_that_read(ast.parse(call)))) == reads
