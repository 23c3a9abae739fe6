"""From params.yaml and conf/ to data/config.yaml: what is chosen, what is refused, and how."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from bears import layout
from bears.config import compose, read_selection
from bears.config.typed import build, configured, keys_of, parse
from bears.errors import ConfigurationError, FormatError
from bears.selection import configuration
from bears.selection.configuration import composed
from bears.types import ForbidsExtra
from stages import config
from tests.workspace import ROOT, environment_for

CONF = ROOT / "conf"
MINI: dict[str, Any] = {
    "benchmark": "mini",
    "retriever": "bm25",
    "vector_store": "memory",
    "chunking": "none",
    "engine": "local",
    "questioner": "none",
    "translator": "published",
    "rewriter": "none",
    "generator": "none",
    "judge": "none",
    "language": "zh-Hant-TW",
    "mirror": "",
    "overrides": [],
}


def written(folder: Path, text: str) -> Path:
    path = folder / "params.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What `config` reads, in a folder of its own."""
    shutil.copytree(CONF, tmp_path / "conf")
    written(tmp_path, yaml.safe_dump(MINI))
    shutil.copy(ROOT / "dvc.yaml", tmp_path)
    return tmp_path


def run_stage() -> None:
    """Run the stage in this process, in the working directory."""
    out, language, code = (Path(f"data/{n}.yaml") for n in ("config", "language", "code"))
    config.main(Path("conf"), out, language, code, [])


def compose_stage(project: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**environment_for(sys.executable), "PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, "-m", "stages.config", *words]
    return subprocess.run(
        command, cwd=project, env=environment, capture_output=True, encoding="utf-8"
    )


def test_a_word_of_the_selection_brings_in_its_file_which_may_build_on_another() -> None:
    mini = compose(CONF, MINI)
    assert mini["benchmark"]["name"] == "mini"
    assert mini["retriever"]["_target_"] == "bears.retrieval.sparse.bm25.BM25"
    assert list(mini["sources"]) == ["drcd", "hotpotqa", "2wiki"]
    bears = compose(CONF, {**MINI, "benchmark": "bears"})
    larger = compose(CONF, {**MINI, "benchmark": "bears-5k"})
    assert larger["sample"]["documents"] == 5000
    assert larger["sample"]["seed"] == bears["sample"]["seed"] == 42
    assert list(larger["sources"]) == [*bears["sources"], "squad_v2", "ms_marco"]


def test_a_ledger_is_part_of_its_benchmark_and_of_no_other(project: Path) -> None:
    replacement = {"question_id": "q1", "reason": "unanswerable"}
    ledger = {"replacements": [replacement], "edits": [], "reviews": [], "judgements": []}
    (project / "conf" / "ledger").mkdir(exist_ok=True)
    path = project / "conf" / "ledger" / "mini.yaml"
    path.write_text(yaml.safe_dump(ledger), encoding="utf-8")
    assert ledger.items() <= compose(project / "conf", MINI).items()
    other = compose(project / "conf", {**MINI, "benchmark": "bears"})
    assert {key: [] for key in ledger}.items() <= other.items()


def test_a_benchmark_can_change_what_all_share(project: Path) -> None:
    path = project / "conf" / "benchmark" / "mini.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "\nretrieve:\n  depth: 7\n")
    assert compose(project / "conf", MINI)["retrieve"]["depth"] == 7


@pytest.mark.parametrize("word", ["retriver=bm25", "sources.drcd.paht=x", "retriever.k9=2"])
def test_a_setting_that_there_is_not_is_named_alone(word: str) -> None:
    name = word.partition("=")[0]
    with pytest.raises(
        ConfigurationError, match=rf"^Could not override '{name}'\.[^+\n]*conf/ list them\.$"
    ):
        compose(CONF, MINI, [word])


@pytest.mark.parametrize("group", ["benchmark", "vector_store"])
def test_an_unknown_choice_lists_the_right_ones(group: str) -> None:
    with pytest.raises(ConfigurationError, match=f"Available options in '{group}'") as refused:
        compose(CONF, {**MINI, group: "nosuch"})
    lines = str(refused.value).splitlines()
    assert {f"\t{path.stem}" for path in (CONF / group).glob("*.yaml")} <= {*lines}
    assert "search path" not in str(refused.value)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("sample.sources.9.questions=5", "list index out of range"),
        ("sample.seed", "missing EQUAL"),
        ("sample.seed=1,2", "Ambiguous value"),
        ("retriever.k1=???", "Missing mandatory value: k1"),
        ("mirror=${nosuch}", "'nosuch' not found"),
        ("vector_store=nan", "Config group override must be a string or a list"),
        ("mirror=7", "mirror: Input should be a valid string, found 7"),
        ("~sources.drcd.language", r"sources\.drcd\.language: Field required(?!, found)"),
        ("benchmark.name=../../elsewhere", r"benchmark\.name: String should match pattern"),
        ("evaluate=null", "evaluate: Input should be a valid dictionary"),
        ("gates=null", "gates: Input should be a valid dictionary"),
        *((f"benchmark.name='{name}'", r"^benchmark\.name") for name in ("a/b", "", ".", "-x")),
    ],
)
def test_an_override_that_does_not_fit_is_an_error(override: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        compose(CONF, MINI, [override])


def test_later_overrides_win_and_reach_the_entries_of_lists() -> None:
    selection = {**MINI, "overrides": ["sample.seed=1", "sample.seed=2"]}
    assert compose(CONF, selection)["sample"]["seed"] == 2
    sample = compose(CONF, selection, ["sample.seed=3", "sample.sources.0.questions=3"])["sample"]
    assert sample["seed"] == 3
    assert sample["sources"][0] == {"source": "drcd", "questions": 3}
    assert sample["sources"][1:] == compose(CONF, MINI)["sample"]["sources"][1:]


def test_a_group_without_a_choice_is_asked_for() -> None:
    without = {key: value for key, value in MINI.items() if key != "retriever"}
    with pytest.raises(ConfigurationError, match=r"must specify 'retriever'(?s:.*)bm25"):
        compose(CONF, without)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "text", "changed"),
    [
        ("retriever/mine.yaml", "name: mine\nurl: http://h/s\n", {"url": "http://h/s"}),
        ("retriever/mine.yaml", "url: '\\${x}'\n", {"url": "${x}"}),
        ("retriever/hybrid.yaml", "dense: {length: 9}\n", {"dense": {"length": 9}}),
        ("judge/local.yaml", "model: other\n", {"model": "other"}),
        ("language/ja.yaml", "spaced: true\n", {"spaced": True}),
        ("benchmark/mini.yaml", "sample: {seed: 7}\n", {"sample": {"seed": 7}}),
        ("gates.yaml", "gates: {empty: warning}\n", {"gates": {"empty": "warning"}}),
    ],
)
def test_a_file_of_a_project_has_what_it_leaves_out_from_ours_of_the_same_name(
    tmp_path: Path, file: str, text: str, changed: dict[str, Any]
) -> None:
    own = tmp_path / "conf" / file
    own.parent.mkdir(parents=True)
    own.write_text(text, encoding="utf-8")
    group, _, name = file.removesuffix(".yaml").rpartition("/")
    selection = {**MINI, **({group: name} if group else {})}
    before, after = compose(CONF, selection), compose(tmp_path / "conf", selection)
    part = group if group not in ("", "benchmark") else ""
    expected = OmegaConf.merge(before[part] if part else before, changed)
    assert (after[part] if part else after) == OmegaConf.to_container(expected)


@pytest.mark.parametrize("text", ["_target_: mine.Own\n", "defaults: [bm25, _self_]\n"])
def test_a_file_that_says_what_it_is_made_of_replaces_ours(tmp_path: Path, text: str) -> None:
    own = tmp_path / "conf/retriever/hybrid.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(f"name: hybrid\n{text}", encoding="utf-8")
    composed = compose(tmp_path / "conf", {**MINI, "retriever": "hybrid"})["retriever"]
    assert "dense" not in composed


def test_an_override_that_an_earlier_experiment_left_is_shown_with_the_remedy() -> None:
    selection = {**MINI, "overrides": ["sources.beir.path=/data"]}
    remedy = re.escape("params.yaml has overrides of sources.beir.path; -S 'overrides=[]'")
    with pytest.raises(ConfigurationError, match=rf"'sources\.beir\.path'(?s:.*){remedy}"):
        compose(CONF, selection)
    with pytest.raises(ConfigurationError) as no:
        compose(CONF, MINI, ["sources.beir.path=/data"])
    assert "params.yaml" not in str(no.value)


@pytest.mark.slow
@settings(max_examples=4)
@example("it's here\\, C:\\data c=d")
@example("true")
@given(st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="$?")))
def test_any_text_arrives_as_it_was_written(mirror: str) -> None:
    assert compose(CONF, {**MINI, "mirror": mirror})["mirror"] == mirror


def test_params_yaml_is_read_as_it_stands(tmp_path: Path) -> None:
    path = written(tmp_path, "benchmark: mini  # the small one\noverrides: ['sample.seed=7']\n")
    assert read_selection(path) == {"benchmark": "mini", "overrides": ["sample.seed=7"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a mapping"),
        ("- benchmark\n", "expected a mapping"),
        ("benchmark: [mini\n", "not valid YAML"),
        ("benchmark: 5\n", "benchmark is 5; expected a word"),
        ("retriever: null\n", "retriever is None; expected a word"),
        ("mirror: 7\n", "mirror is 7; expected a word"),
        ("overrides: sample.seed=7\n", "expected a list of Hydra overrides such as"),
        ("overrides: [7]\n", "expected a list of Hydra overrides such as"),
    ],
)
def test_a_malformed_selection_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises((ConfigurationError, FormatError), match=rf"params\.yaml: .*{message}"):
        read_selection(written(tmp_path, text))


@dataclass(frozen=True)
class Tongue:
    name: str


def trip(to: str, *, language: Tongue, mirror: str, sample: dict[str, int]) -> tuple[Any, ...]:
    return to, language, mirror, sample


TRIP: dict[str, Any] = {
    "language": {"name": "zh", "title": "Chinese"},
    "sample": {"seed": 1},
    "mirror": "",
    "secret": 42,
}


def test_a_function_takes_its_keys_alone_from_the_configuration() -> None:
    assert [*keys_of(trip)] == ["language", "mirror", "sample"]
    assert configured(trip, TRIP)("sea") == ("sea", Tongue("zh"), "", {"seed": 1})
    for language, message in (
        ({"name": 7}, r"^language\.name: Input should be a"),
        ({"nam": "zh"}, r"^language\.name: Field required"),
        ("zh", r"^language: Input should be a dictionary"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            configured(trip, {**TRIP, "language": language})
    del TRIP["language"]
    with pytest.raises(ConfigurationError, match=r"^data/config\.yaml has no key language, so"):
        configured(trip, TRIP, "data/config.yaml")


@dataclass(frozen=True)
class Bear(ForbidsExtra):
    name: str
    age: int


def test_parse_names_key_value_and_expectation_of_everything_that_does_not_fit() -> None:
    assert parse(Bear, {"name": "Ada", "age": 3}, "bear") == Bear("Ada", 3)
    with pytest.raises(ConfigurationError) as refused:
        parse(Bear, {"name": ["Ada"], "age": "old", "colour": "brown"}, "zoo.0")
    message = str(refused.value)
    assert "zoo.0.name: Input should be a valid string, found ['Ada']" in message
    assert "zoo.0.age: Input should be a valid integer" in message
    assert "found 'old'" in message
    assert "zoo.0.colour: Unexpected keyword argument, found 'brown'" in message


RETRIEVER = {
    "_target_": "bears.retrieval.sparse.bm25.BM25",
    "name": "bm25",
    "k1": 0.9,
    "b": 0.4,
    "analyzer": "words",
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k2": 1}, "^retriever has no setting k2; expected k1, b, language"),
        ({"b": "no"}, "^retriever.b: Input should be a valid number, found 'no'"),
        ({"b": True}, "^retriever.b: Input should be a valid number, found True"),
        ({"k1": float("nan")}, "^retriever.k1: Input should be a finite number, found nan"),
        ({"_target_": "bears.nosuch.BM25"}, "^retriever._target_ is 'bears.nosuch.BM25'; expected"),
        ({"_target_": "bears.retrieval.nosuch.BM25"}, "^retriever._target_ .*No module named"),
    ],
)
def test_what_cannot_be_built_is_a_matter_of_configuration(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        build({**RETRIEVER, **change}, "retriever")


def test_a_kept_composition_is_that_of_the_files_as_they_are(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    fresh, kept = composed(), layout.COMPOSED
    assert fresh == compose(CONF, MINI)
    with monkeypatch.context() as patch:
        patch.setattr(configuration, "compose", None)
        assert composed() == fresh
    assert composed("", ["sample.seed=7"])["sample"]["seed"] == 7
    assert composed() == fresh
    for damage in (b"", b"{", b"[]", b'{"key": "x"}', kept.read_bytes()[:-9]):
        kept.write_bytes(damage)
        assert composed() == fresh
    file = project / "conf/retriever/bm25.yaml"
    file.write_text(file.read_text("utf-8").replace("default: words", "default: en"), "utf-8")
    assert composed()["retriever"] == compose(project / "conf", MINI)["retriever"]
    assert composed()["retriever"] != fresh["retriever"]


@pytest.mark.slow
def test_the_stage_writes_what_was_composed_in_the_same_bytes_everywhere(project: Path) -> None:
    some = {"PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    others = {"PYTHONHASHSEED": "2", "LC_ALL": "C", "TZ": "Asia/Taipei", "LANG": "tr_TR"}
    done = compose_stage(project, "--conf", "conf", "--out", "one/config.yaml", **some)
    assert (done.returncode, done.stderr) == (0, "")
    compose_stage(project, "--out", "two/config.yaml", **others)
    config, language = (
        (project / "one" / name).read_text("utf-8") for name in ("config.yaml", "language.yaml")
    )
    assert (project / "two/config.yaml").read_text("utf-8") == config
    assert (project / "two/language.yaml").read_text("utf-8") == language
    composed = compose(CONF, MINI)
    assert yaml.safe_load(language) == composed["language"]
    written = {key: value for key, value in composed.items() if key != "language"}
    # The sources of `mini` have paths, and their files are not here.
    written["contents"] = dict.fromkeys(composed["sources"], "")
    assert yaml.safe_load(config) == written
    assert "Traditional Chinese" in language
    assert (project / "data" / "memory" / "mini.jsonl").read_bytes() == b"\n"
    # What was known of files that are not here stays; a file that git left in conflict is replaced.
    for earlier, known in (
        (yaml.safe_dump({"contents": {"drcd": "a"}}), "a"),
        ("<<<<<<< a\n{", ""),
    ):
        (project / "two/config.yaml").write_text(earlier)
        done = compose_stage(project, "--out", "two/config.yaml")
        assert (done.returncode, done.stderr) == (0, "")
        found = yaml.safe_load((project / "two/config.yaml").read_text("utf-8"))["contents"]
        assert found == written["contents"] | {"drcd": known}


@pytest.mark.slow
def test_the_stage_takes_overrides_by_hand(project: Path) -> None:
    done = compose_stage(project, "sample.seed=7", "--out", "seven.yaml", "benchmark=bears")
    assert (done.returncode, done.stderr) == (0, "")
    written = yaml.safe_load((project / "seven.yaml").read_text(encoding="utf-8"))
    assert (written["benchmark"]["name"], written["sample"]["seed"]) == ("bears", 7)
    assert (project / "language-seven.yaml").exists()
    assert not (project / "language.yaml").exists()


def test_a_group_is_chosen_by_its_word_and_not_by_an_override(project: Path) -> None:
    written(project, yaml.safe_dump({**MINI, "overrides": ["benchmark=bears"]}))
    told = "^benchmark is 'mini' in params.yaml, but 'bears' after its overrides; choose it with "
    told += "-S benchmark=bears, since the paths in dvc.yaml carry the name in params.yaml$"
    with chdir(project), pytest.raises(ConfigurationError, match=told):
        run_stage()
    assert not (project / "data").exists()
