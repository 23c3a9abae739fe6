"""dvc.yaml against the code: nothing used is undeclared, nothing declared is unused."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra.utils import get_class, get_method

from bears.config import Config, compose, read_selection
from bears.config.pipeline import GROUPS, configuration_of_stages
from bears.config.typed import configured, keys_of
from bears.sources.source import SHAPES
from tests.workspace import ROOT, STAGES

DEFINITIONS: dict[str, dict[str, Any]] = yaml.safe_load(
    (ROOT / "dvc.yaml").read_text(encoding="utf-8")
)["stages"]
CONF = ROOT / "conf"
CHOICES = sorted(path for path in CONF.glob("*/*.yaml"))
LOCAL_ONLY = {"any", "chunking"}
HUB_SOURCES = [p for p in CHOICES if p.parent.name == "source" and p.stem not in LOCAL_ONLY]


def names(group: str) -> list[str]:
    return [path.stem for path in CHOICES if path.parent.name == group]


SELECTION = read_selection(ROOT / "params.yaml")


@cache
def composed(benchmark: str) -> Config:
    return compose(CONF, {**SELECTION, "benchmark": benchmark})


def targets(value: Any) -> Iterator[str]:
    """Every ``_target_``, those of nested parts too."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from [part] if key == "_target_" else targets(part)


def test_the_stages_stand_in_reading_order() -> None:
    assert list(DEFINITIONS) == STAGES
    assert {path.stem for path in (ROOT / "stages").glob("*.py")} == {*STAGES, "__init__"}


@pytest.mark.parametrize("stage", STAGES[1:])
def test_every_stage_depends_on_its_code_by_one_line(stage: str) -> None:
    assert {"data/code.yaml": [stage]} in DEFINITIONS[stage]["params"]
    assert not [dep for dep in DEFINITIONS[stage]["deps"] if dep.startswith(("bears", "stages"))]


def declared_keys(stage: str) -> list[list[str]]:
    params = DEFINITIONS[stage]["params"]
    return [item["data/config.yaml"] for item in params if "data/config.yaml" in item]


@pytest.mark.parametrize("stage", STAGES[1:])
def test_params_are_the_parameters_of_main(stage: str) -> None:
    keys = keys_of(import_module(f"stages.{stage}").main)
    (declared,) = declared_keys(stage)
    assert declared == sorted(keys.keys() - {"language"})
    assert ("language" in keys) == ("data/language.yaml" in DEFINITIONS[stage]["deps"])


def test_a_setting_has_the_same_class_in_every_stage_that_does_not_only_pass_it_on() -> None:
    kinds: dict[str, set[Any]] = {}
    for stage in STAGES[1:]:
        for key, kind in keys_of(import_module(f"stages.{stage}").main).items():
            kinds.setdefault(key, set()).add(kind)
    several = {key for key, found in kinds.items() if len(found) > 1}
    # `sample` may only need the name of the language.
    assert several == {"language"}


@pytest.mark.slow
def test_every_benchmark_has_the_keys_of_every_stage() -> None:
    for benchmark in names("benchmark"):
        for stage in STAGES[1:]:
            main = import_module(f"stages.{stage}").main
            configured(main, composed(benchmark), benchmark)


def test_only_the_first_stage_depends_on_the_selection_and_the_files_behind_it() -> None:
    assert DEFINITIONS["config"]["params"] == sorted(SELECTION)
    for stage in STAGES[1:]:
        assert "conf" not in DEFINITIONS[stage]["deps"]
        assert not [item for item in DEFINITIONS[stage]["params"] if isinstance(item, str)]


OUTPUTS = ("outs", "metrics", "plots")


def declared_paths(definition: dict[str, Any], *kinds: str) -> set[str]:
    listed = [item for kind in kinds for item in definition.get(kind, [])]
    return {next(iter(item)) if isinstance(item, dict) else item for item in listed}


@pytest.mark.parametrize("stage", STAGES)
def test_the_paths_of_the_command_are_those_that_are_declared(stage: str) -> None:
    definition = DEFINITIONS[stage]
    words = shlex.split(definition["cmd"])
    assert words[:3] == ["python", "-m", f"stages.{stage}"]
    assert not [p for p in declared_paths(definition, "deps", *OUTPUTS) if "timing" in p]
    for option, path in zip(words[3::2], words[4::2], strict=True):
        # The timing differs on every machine and in every run, so it must not be an output.
        if option != "--timing":
            assert path in declared_paths(definition, "deps", *OUTPUTS), f"{option} {path}"
    for path in declared_paths(definition, *OUTPUTS):
        # Around every stage manifests are written, below the names of its own files.
        assert path in words or path.endswith(".manifest.json"), f"{stage} does not write {path}"


@pytest.mark.slow
def test_every_benchmark_names_code_that_exists_and_its_own_sources() -> None:
    for benchmark in names("benchmark"):
        config = composed(benchmark)
        assert config["benchmark"]["name"] == benchmark
        for entry in config["sources"].values():
            if entry.get("shape") not in SHAPES:
                get_method(entry["reader"])
        sampling = config["sample"]
        if "sources" not in sampling:
            assert [sampling["source"]] == [*config["sources"]]
        else:
            named = {quota["source"] for quota in sampling["sources"]}
            assert named | set(sampling["negatives"]) <= config["sources"].keys()
        called = {name: entry["name"] for name, entry in config["sources"].items()}
        assert all(called[name] in (name, benchmark) for name in called)


@pytest.mark.slow
def test_a_choice_is_called_what_its_file_is_called_and_names_code_that_exists() -> None:
    # Ledgers are not choices, parts of other choices have no names, and the test above composes
    # benchmarks.
    elsewhere = ("ledger", "endpoint", "benchmark")
    called = [
        (path.parent.name, path.stem) for path in CHOICES if path.parent.name not in elsewhere
    ]
    probes = [f"+{group}@probe.p{n}={name}" for n, (group, name) in enumerate(called)]
    config = compose(CONF, SELECTION, probes)
    found = [config["probe"][f"p{n}"] for n, _ in enumerate(called)]
    assert [each["name"] for each in found] == [name for _, name in called]
    for (group, _), each in zip(called, found, strict=True):
        for target in targets(each) if group == "retriever" else ():
            get_class(target)


def test_a_ledger_belongs_to_a_benchmark() -> None:
    assert set(names("ledger")) <= set(names("benchmark"))


@pytest.mark.parametrize("path", HUB_SOURCES, ids=lambda path: path.stem)
def test_a_hub_source_is_pinned_to_a_commit(path: Path) -> None:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert re.fullmatch(r"[0-9a-f]{40}", content["revision"])
    for digest in content.get("sha256", {}).values():
        assert re.fullmatch(r"[0-9a-f]{64}", digest)


def test_params_yaml_names_one_word_a_group() -> None:
    assert SELECTION.keys() == {*GROUPS, "mirror", "overrides"}
    assert (SELECTION["overrides"], SELECTION["mirror"]) == ([], "")


@pytest.mark.parametrize("name", ["core.txt", "dense.txt", "dev.txt", "uv.txt", "torch.txt"])
def test_requirements_are_pinned_with_hashes_and_name_no_address(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert "index-url" not in text
    entries = re.sub(r"\\\n\s*", " ", text).splitlines()
    entries = [entry for entry in entries if entry.strip() and not entry.startswith("#")]
    assert entries
    for entry in entries:
        assert re.match(r"[\w.\-\[\]]+==\S+ .*--hash=sha256:[0-9a-f]{64}", entry), entry


def test_the_core_needs_neither_torch_nor_a_client_of_a_vector_store() -> None:
    core, more = (
        set(re.findall(r"^([\w.\-]+)==", (ROOT / "requirements" / name).read_text(), re.MULTILINE))
        for name in ("core.txt", "qdrant.txt")
    )
    assert not {name for name in core if re.match(r"torch|nvidia|cuda|triton|qdrant", name)}
    assert {"dvc", "hydra-core"} <= core
    assert core | {"qdrant-client"} <= more


@pytest.mark.slow
def test_a_benchmark_that_is_not_translated_has_its_memory_in_git() -> None:
    """A queued experiment has only what git tracks; DVC wants all of it, and nothing empty."""
    for benchmark in names("benchmark"):
        if composed(benchmark)["sample"]["_target_"].endswith(".Whole"):
            assert (ROOT / "data" / "memory" / f"{benchmark}.jsonl").read_bytes() == b"\n"


ACCEPT = "benchmark.accept=[{check: empty, record_id: r, reason: why}]"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "stages"),
    [
        ("benchmark.cite_as=me", []),
        ("benchmark.date_published=today", []),
        ("benchmark.licence=MIT", []),
        (ACCEPT, ["verify", "audit"]),
        ("replacements", ["sample"]),
        ("edits", ["sample"]),
        ("reviews", ["sample", "translate", "verify"]),
        ("judgements", ["verify", "audit", "evaluate", "judge"]),
        ("labels", ["judge"]),
    ],
)
def test_a_change_makes_only_those_stages_run_that_read_it(
    change: str, stages: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {
        "replacements": {"question_id": "q", "reason": "why"},
        "edits": {"record_id": "q", "field": "question", "old": "a", "new": "b", "reason": "why"},
        "reviews": {"record_id": "q", "field": "question", "decision": "accept"},
        "judgements": {"question_id": "q", "doc_id": "d", "decision": "not"},
        "labels": {"pair": "a b", "draw": 1, "question_id": "q", "weight": 1.0, "largest": 1.0},
    }
    monkeypatch.chdir(ROOT)
    conf = tmp_path / "conf"
    (conf / "ledger").mkdir(parents=True)
    before = configuration_of_stages(compose(conf, SELECTION))
    if change in entry:
        ledger = yaml.safe_dump({change: [entry[change]]})
        (conf / "ledger" / "mini.yaml").write_text(ledger, encoding="utf-8")
    overrides = [] if change in entry else [change]
    after = configuration_of_stages(compose(conf, SELECTION, overrides))
    assert [stage for stage in before if before[stage] != after[stage]] == stages
