"""Every word under conf/ runs once to the end of the pipeline, or says why it cannot run here.

A new file is covered without a line here. What a word needs beyond itself (data, a server, a
function) is in `NEEDS`; what stops it on a machine without a network, in `STOPS`.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from string import Template

import pytest
import yaml

from bears.config.edge import ended
from bears.config.pipeline import run
from bears.layout import CODE, CONF, CONFIG, LANGUAGE
from stages import config
from tests.provider_server import ProviderServer
from tests.qdrant_server import QdrantServer
from tests.scripted_model import text
from tests.selecting import DIGESTS, SELECTION, assert_as_it_was, import_translations, select
from tests.workspace import ROOT, Workspace

pytestmark = pytest.mark.slow
WORDS = sorted(
    (path.parent.name, path.stem)
    for path in ROOT.glob("conf/*/*.yaml")
    if path.parent.name in SELECTION
)
MINE = """def search(text, k):
    return ["d1.md"]


def answer(text, k):
    return {"answer": "1861", "steps": [{"query": text, "passages": ["d1.md"]}]}
"""
OWN = ["benchmark=own", "sources.own.path=folder", "sources.own.language=en"]
MADE = ["questioner=gpt-4.1-mini", "sample.passages=8", "sample.passage_bytes=[10,6000]"]
MADE_OWN = ["benchmark=made-own", *OWN[1:], "benchmark.language=en", *MADE[1:]]
ANSWERED = ["generator=sentence", "judge=contains"]
ENGLISH = ["mirror=rows", "sources.drcd.language=en", "benchmark.language=en"]
NEEDS: dict[tuple[str, str], list[str]] = {
    ("benchmark", "any"): ["sources.any.path=rows/drcd.json", "sources.any.language=en"],
    ("benchmark", "beir"): ["sources.beir.path=DATA/scifact"],
    ("benchmark", "own"): OWN[1:],
    ("benchmark", "made"): [*MADE, *ENGLISH],
    ("benchmark", "made-own"): [*MADE, *MADE_OWN[1:]],
    ("benchmark", "mini"): ANSWERED,
    ("benchmark", "qasper"): ["mirror=DATA", *ANSWERED],
    ("benchmark", "qasper-pdf"): ["mirror=DATA", "sources.qasper.settings.pdf.attempts=1"],
    ("benchmark", "*"): ["mirror=DATA"],
    ("benchmark", "bears"): ["mirror=DATA/raw", *ANSWERED],
    **{("benchmark", f"bears-{word}"): ["mirror=DATA/raw"] for word in ("v1", "published", "5k")},
    ("questioner", "*"): MADE_OWN,
    ("questioner", "none"): [],
    ("retriever", "mine"): [*OWN, "retriever.call=mine:search"],
    ("generator", "mine"): [*OWN, "generator.call=mine:answer", "generator.repeats=2"],
    ("retriever", "qdrant-hybrid"): ["vector_store=qdrant-local"],
    ("vector_store", "*"): ["retriever=wordllama"],
    ("vector_store", "qdrant"): ["retriever=wordllama", "vector_store.url=QDRANT"],
    ("engine", "*"): ["retriever=wordllama"],
    ("judge", "*"): ["generator=sentence"],
    ("translator", "*"): ["language=pseudo"],
    ("translator", "published"): [],
    ("language", "*"): ["benchmark=own", "sources.own.path=natives", "sources.own.language=WORD"],
}
"""What a word needs; ``*``: every word of the group without a line of its own. DATA is the folder
of real data, QDRANT the address of a server, and WORD the word."""
SHARED = ("bears", "pandachat-sl", "qasper", "science-ko", "science-ko-eval", "scifact")
BY_DVC = {("engine", "ray"), *(("benchmark", word) for word in SHARED)}
"""Words that `dvc repro` runs: their benchmarks are in the documentation too, whose tests take what
ran here from the session's cache, and what Ray starts must end with its process."""
HELD = {
    **{("benchmark", word): word for _, word in WORDS if word in DIGESTS},
    ("benchmark", "chunking"): "chunking, characters",
    ("retriever", "wordllama"): "mini, wordllama",
    ("retriever", "hybrid"): "mini, hybrid",
}
"""Words whose records, rankings and values must not change: the name of their digests."""
BEHAVIOURS = {("translator", "per-field"): "plain"}
"""How the scripted model replies to a prompt of another kind."""
STOPS: dict[tuple[str, str], tuple[str, str]] = {
    ("benchmark", "bears-5k"): (
        "SQuAD 2 and MS MARCO are not in raw/ of the real data",
        "source squad_v2: expected exactly one of",
    ),
    ("benchmark", "bears-published"): (
        "the first 2Wiki row that gave no question has no paragraphs in the real data",
        "the file is not the complete upstream one",
    ),
    ("benchmark", "qasper-pdf"): ("the PDFs are on arXiv", "did not answer for 3 papers in a row"),
    ("retriever", "sentence-transformers"): (
        "it names no model",
        "retriever.encoder.model is empty",
    ),
}
"""Words that do not reach the end here: the reason, and what the pipeline says."""
WEIGHTS = re.compile(r"bears\.retrieval\.models\.(transformer|cross_encoder)")
NO_WEIGHTS = re.compile("make dense|hub|offline", re.IGNORECASE)
"""The message where torch, or the weights of a model on a hub, are not here; `make test-dense`
runs these words with small models."""


@cache
def text_of(group: str, word: str) -> str:
    """The text of a word and of the words that it builds on."""
    found = (ROOT / "conf" / group / f"{word}.yaml").read_text("utf-8")
    parents = (yaml.safe_load(found) or {}).get("defaults", [])
    names = [each for each in parents if isinstance(each, str) and each[0] not in "_/"]
    return found + "".join(text_of(group, name) for name in names)


def needs_weights(group: str, word: str) -> bool:
    """Whether a word, or another one that it names, is a model whose weights are on a hub."""
    found = (ROOT / "conf" / group / f"{word}.yaml").read_text("utf-8")
    others: list[tuple[str, str]] = []
    for each in (yaml.safe_load(found) or {}).get("defaults", []):
        others += each.items() if isinstance(each, dict) else [(f"/{group}", each)]
    return WEIGHTS.search(found) is not None or any(
        needs_weights(group, name)
        for place, name in others
        if place.removeprefix("override ").strip("/").partition("@")[0] == group
        and name[0] not in "_/"
    )


def places(settings: str, url: str) -> list[str]:
    """The overrides that lead every endpoint in the text of a word to a server."""
    found = []
    if "endpoint@_here_" in settings or "base_url" in settings:
        found.append("GROUP")
    if "@reader:" in settings:
        found.append("GROUP.reader")
    if "models.hosted.Hosted" in settings:
        found = ["GROUP.encoder"]
    keys = (f"base_url={url}", "api_key_env=''", "fill=auto")
    return [f"{place}.{key}" for place in found for key in keys]


def write_data(root: Path, natives: list[str]) -> None:
    """Write a folder of English documents, one of native passages, rows, and a function."""
    for name, texts in (("folder", [text(n) for n in range(8)]), ("natives", natives)):
        folder = root / name
        folder.mkdir()
        for n, content in enumerate(texts):
            (folder / f"d{n}.md").write_text(f"{content}\n", encoding="utf-8")
        with (folder / "questions.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["question", "answer", "document", "quotation"])
            rows.writerows(
                [f"{content[:40]}?", content[:20], f"d{n}.md", ""]
                for n, content in enumerate(texts)
            )
    paragraphs = [
        {
            "context": text(n),
            "id": f"p{n}",
            "qas": [
                {
                    "id": f"q{n}",
                    "question": f"What is stone {n}?",
                    "answers": [{"id": "1", "text": text(n)[:9], "answer_start": 0}],
                }
            ],
        }
        for n in range(8)
    ]
    (root / "rows").mkdir()
    rows_ = [{"title": "stones", "id": "1", "paragraphs": paragraphs}]
    (root / "rows" / "drcd.json").write_text(json.dumps(rows_), encoding="utf-8")
    (root / "mine.py").write_text(MINE, encoding="utf-8")


@pytest.fixture(scope="module")
def qdrant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """Give a function that starts a server once."""
    started: list[QdrantServer] = []

    def url() -> str:
        if not started:
            started.append(QdrantServer(tmp_path_factory.mktemp("qdrant")).__enter__())
        return started[0].url

    yield url
    for each in started:
        each.__exit__(None, None, None)


WRITTEN = ("outs", "metrics", "plots")
Running = Callable[[Workspace], tuple[bool, str]]


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Running:
    """Give a function that runs all stages here, as far as they go, and returns what they printed.

    `dvc repro` would start a dozen processes for each word, as it does for those in `BY_DVC`.
    """
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.delitem(sys.modules, "mine", raising=False)

    def ran(workspace: Workspace) -> tuple[bool, str]:
        monkeypatch.chdir(workspace.root)
        monkeypatch.syspath_prepend(workspace.root)
        selection = yaml.safe_load(workspace.text("params.yaml"))
        text = Template(workspace.text("dvc.yaml")).substitute(selection)
        for stage, defined in yaml.safe_load(text)["stages"].items():
            if stage == "config":
                done = ended(stage, lambda: config.main(CONF, CONFIG, LANGUAGE, CODE, []))
            else:
                done = run(stage, import_module(f"stages.{stage}").main, [])
            if done != 0:
                break
            for out in (each for kind in WRITTEN for each in defined.get(kind, [])):
                for path in out if isinstance(out, dict) else [out]:
                    assert Path(path).exists(), f"{stage} did not write {path}"
        printed = capsys.readouterr()
        return done == 0, printed.out + printed.err

    return ran


def by_dvc(workspace: Workspace) -> tuple[bool, str]:
    output = workspace.run("sh", "-c", "dvc repro || echo failed")
    return not output.endswith("failed\n"), output


@pytest.mark.usefixtures("code_read_once")
@pytest.mark.parametrize(("group", "word"), WORDS)
def test_every_word_runs_to_the_end(
    group: str,
    word: str,
    sharing: Workspace,
    provider: Callable[..., ProviderServer],
    shared_data: Path,
    qdrant: Callable[[], str],
    in_process: Running,
) -> None:
    needed = NEEDS.get((group, word), NEEDS.get((group, "*"), []))
    settings = {group: text_of(group, word)}
    for each in needed:
        name, value = each.split("=", 1)
        if name in SELECTION and (ROOT / "conf" / name / f"{value}.yaml").is_file():
            settings[name] = text_of(name, value)
    url = provider(BEHAVIOURS.get((group, word), "good")).url
    asking = [
        place.replace("GROUP", name)
        for name, found in settings.items()
        for place in places(found, url)
    ]
    known = {"DATA": str(shared_data), "WORD": word}
    if "QDRANT" in str(needed):
        known["QDRANT"] = qdrant()
    for name, value in known.items():
        needed = [each.replace(name, value) for each in needed]
    natives = yaml.safe_load(text_of(group, word)).get("native", ["One.", "Two."])
    write_data(sharing.root, natives)
    select(sharing, [*needed, f"{group}={word}", *asking])
    import_translations(sharing, word, shared_data)
    reason, said = STOPS.get((group, word), ("", ""))
    whole, output = (by_dvc if (group, word) in BY_DVC else in_process)(sharing)
    assert "Traceback" not in output
    if needs_weights(group, word) and NO_WEIGHTS.search(output):
        return
    assert whole == (not reason), output
    if reason:
        assert said in output, f"{reason}: {output}"
        return
    benchmark = yaml.safe_load(sharing.text("params.yaml"))["benchmark"]
    metrics = json.loads(sharing.text("metrics/retrieval.json"))
    assert metrics["benchmark"]["name"] == benchmark
    assert metrics["all"]["n"] > 0
    if (group, word) in HELD:
        assert_as_it_was(HELD[group, word], sharing.root, benchmark)
