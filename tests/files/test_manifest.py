"""Manifests: what is damaged, missing or one too many is named, whatever it is."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bears.errors import FormatError
from bears.files.manifest import check, manifest_of, seal
from bears.files.records import sha256_of, write_json
from stages import retrieve
from tests.desk import Desk
from tests.workspace import Workspace, ran

FILES = {"a.json": b'{"x": 1}', "below/b.npy": bytes(range(256)), "empty": b""}


def hexdigest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def output(tmp_path: Path) -> Path:
    folder = tmp_path / "index"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    seal([folder], {})
    return folder


def test_a_manifest_has_each_files_size_and_sha256(output: Path) -> None:
    found = json.loads((output / "manifest.json").read_bytes())
    assert found == {
        "files": {
            name: {"bytes": len(content), "sha256": hexdigest(content)}
            for name, content in FILES.items()
        }
    }
    assert check(output) == hexdigest((output / "manifest.json").read_bytes())


@given(data=st.data())
def test_any_bit_of_any_file_is_missed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("index")
    content = data.draw(st.binary(min_size=1, max_size=40))
    (folder / "file").write_bytes(content)
    seal([folder], {})
    for path in sorted(folder.iterdir()):
        whole = path.read_bytes()
        place = data.draw(st.integers(0, 8 * len(whole) - 1))
        spoilt = bytearray(whole)
        spoilt[place // 8] ^= 1 << place % 8
        path.write_bytes(spoilt)
        try:
            digest = check(folder)
        except FormatError:
            pass
        else:
            # White space in a manifest says nothing, but it is another manifest.
            assert path.name == "manifest.json"
            assert digest != hexdigest(whole)
        path.write_bytes(whole)
        check(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_gone_or_no_file_is_named(output: Path, name: str) -> None:
    path = output / name
    path.unlink()
    with pytest.raises(FormatError, match=f"{name} is missing"):
        check(output)
    for put in (os.mkfifo, lambda path: path.symlink_to("/nowhere")):
        put(path)
        with pytest.raises(FormatError, match=f"{name} has no bytes, but"):
            check(output)
        path.unlink()


def test_a_file_that_nobody_sealed_is_damage_too(output: Path) -> None:
    (output / ".left-by-a-kill.tmp").write_bytes(b"half")
    check(output)
    (output / "below" / "c").write_bytes(b"")
    with pytest.raises(FormatError, match="below/c is unexpected"):
        check(output)


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"files": {}',
        '{"files": {"a.json": 5}}',
        '{"files": {"a.json": {"bytes": "8", "sha256": "' + "0" * 64 + '"}}}',
        '{"files": {"a.json": {"bytes": 8, "sha256": "x"}}}',
        '{"files": {}, "made_from": {}, "more": 1}',
        '{"files": {"../../secret": {"bytes": 8, "sha256": "' + "0" * 64 + '"}}}',
    ],
)
def test_a_malformed_manifest_is_damage(output: Path, text: str) -> None:
    (output / "manifest.json").write_text(text)
    with pytest.raises(FormatError, match=r"Remove .*index and run `dvc repro`"):
        check(output)


def test_files_share_a_manifest_that_says_what_they_were_made_from(tmp_path: Path) -> None:
    run, within = tmp_path / "e5-2.5.trec", tmp_path / "e5-2.5.within.trec"
    run.write_bytes(b"run")
    within.write_bytes(b"within")
    seal([run, within], {"index": "0" * 64})
    manifest = tmp_path / "e5-2.5.manifest.json"
    assert json.loads(manifest.read_bytes())["made_from"] == {"index": "0" * 64}
    assert manifest_of(run) == manifest_of(within) == manifest
    assert check(within) == hexdigest(b"within")
    within.write_bytes(b"withim")
    check(run)
    with pytest.raises(FormatError, match=r"e5-2\.5\.within\.trec has sha256"):
        check(within)


def test_what_no_manifest_speaks_of_is_left_alone_unless_it_was_promised(tmp_path: Path) -> None:
    own = tmp_path / "somebody.trec"
    own.write_bytes(b"run")
    (tmp_path / "manifest.json").write_text('{"short_name": "a web site"}')
    assert check(own) is None
    with pytest.raises(FormatError, match="has no manifest"):
        check(own, promised=True)


# From here on with DVC, as its users meet it.


def test_metrics_tell_what_was_measured_and_an_index_of_another_corpus_is_refused(
    workspace: Workspace,
) -> None:
    data = workspace.root / "data/mini"
    assert json.loads(workspace.text("metrics/retrieval.json"))["measured"] == {
        "run": sha256_of(data / "runs/bm25.trec")[:12],
        "index": sha256_of(data / "index/bm25/manifest.json")[:12],
    }
    whole = (data / "translated/corpus.json").read_bytes()
    made_from = json.loads((data / "index/bm25/made_from.json").read_bytes())
    assert made_from == {"corpus.json": hexdigest(whole), "density": 1}
    write_json(data / "translated/corpus.json", json.loads(whole)[:-1])
    seal([data / "translated"], {})
    told = Desk(workspace.root, ()).stage("retrieve", retrieve.main, code=1)
    assert f"data/mini/index/bm25/made_from.json has {hexdigest(whole)}" in told
    assert "`dvc repro index`" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", ["data/mini/translated/queries.json", "data/mini/index/bm25/lengths.npy"]
)
def test_a_damaged_object_of_the_cache_stops_the_next_stage_and_the_mend_mends(
    path: str, workspace: Workspace
) -> None:
    md5 = hashlib.md5((workspace.root / path).read_bytes()).hexdigest()
    kept = workspace.root / ".dvc/cache/files/md5" / md5[:2] / md5[2:]
    kept.chmod(0o644)
    content = bytearray(kept.read_bytes())
    content[len(content) // 2] ^= 1
    kept.write_bytes(content)
    kept.chmod(0o444)
    (workspace.root / path).unlink()
    workspace.dvc("checkout")
    assert "up to date" in workspace.dvc("status")

    told = workspace.dvc("exp", "run", "-S", "overrides=['retrieve.depth=90']", code=255)
    assert ran(told)[-1] == "retrieve"
    assert "\nretrieve: --" in told
    assert "remove .dvc/cache" in told
    assert "Traceback" not in told

    kept.unlink()
    (workspace.root / path).unlink()
    workspace.git("checkout", "--quiet", ".")
    workspace.dvc("repro")
    assert workspace.git("status", "--short") == ""
    assert hashlib.md5((workspace.root / path).read_bytes()).hexdigest() == md5
