"""A configuration is inert: its texts stay texts, it calls only ours, and no secret passes it."""

from __future__ import annotations

import re
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import yaml
from omegaconf import OmegaConf
from omegaconf.basecontainer import BaseContainer

from bears.config import compose, read_ledger
from bears.config.ledger.entries import Edit
from bears.config.ledger.update import open_ledger
from bears.config.secrets import check_address, refuse_secrets
from bears.config.typed import build
from bears.errors import BearsError, ConfigurationError
from bears.files.visible import without_passwords
from bears.llm.models import Endpoint
from tests.config.test_configuration import CONF, MINI, RETRIEVER, project, run_stage
from tests.workspace import ROOT

__all__ = ["project"]

SECRET = "sk-proj-0123456789abcdefghijklmnopqrstuvwxyz"


# ------------------------------------------------------------------- what is called


@pytest.mark.parametrize(
    "target",
    [
        *("os.system", "subprocess.run", "builtins.eval", "hydra.utils.instantiate", "os..system"),
        *("bears.files.records.write_text", "bears.cli.main", "bears.cli.subprocess.run"),
        *("bears.retrieval.stores.memory.np.load", "bears.retrieval.stores.qdrant.json.loads"),
        *("bears.retrieval", "bears.retrieval.dense", "", None, 7),
    ],
)
@pytest.mark.parametrize("place", ["whole", "part", "list"])
def test_nothing_is_called_but_what_our_retrieval_defines(target: Any, place: str) -> None:
    evil = {"_target_": target}
    value = {
        "whole": evil,
        "part": {**RETRIEVER, "analyzers": evil},
        "list": {**RETRIEVER, "lucene_lengths": [{"deep": [evil]}]},
    }[place]
    with pytest.raises(ConfigurationError, match=r"^retriever\S*\._target_ is .*; expected the"):
        build(value, "retriever")


def test_a_text_is_not_resolved_when_something_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME_OF", "bears")
    with pytest.raises(ConfigurationError, match=r"analyzer: .*found '\$\{oc\.env:HOME_OF\}'"):
        build({**RETRIEVER, "analyzer": "${oc.env:HOME_OF}"}, "retriever")


# ------------------------------------------------------------------- the environment


@pytest.mark.slow
@pytest.mark.parametrize(
    "override",
    [
        "mirror=${oc.env:OPENAI_API_KEY}",
        "mirror='${oc.env:OPENAI_API_KEY}'",
        'mirror="a ${oc.env:OPENAI_API_KEY} b"',
        "mirror=${oc.env:OPENAI_API_KEY,none}",
        "mirror=${oc.env:NOSUCH,${oc.env:OPENAI_API_KEY}}",
        "mirror=${oc.decode:${oc.env:OPENAI_API_KEY}}",
        "mirror='${oc.decode:\\'${oc.env:OPENAI_API_KEY}\\'}'",
        "mirror='\\\\${oc.env:OPENAI_API_KEY}'",
        "+x.${oc.env:OPENAI_API_KEY}=1",
        "+x={${oc.env:OPENAI_API_KEY}: 1}",
        "+x=[${oc.env:OPENAI_API_KEY}]",
        "+x={a: oc.env, b: '${${x.a}:OPENAI_API_KEY}'}",
        "+x='${oc.create:{a: ${oc.env:OPENAI_API_KEY}}}'",
        "+x='${oc.dict.values:benchmark}'",
        "+x='${oc.select:benchmark.name,${oc.env:OPENAI_API_KEY}}'",
        "+x='${hydra:runtime.cwd}'",
        "+x='${now:%Y}'",
        "+x='${python_version:}'",
        "benchmark=${oc.env:OPENAI_API_KEY}",
        "+benchmark@x=${oc.env:OPENAI_API_KEY}",
        "benchmark.name=${oc.env:OPENAI_API_KEY}",
        f"mirror={SECRET}",
        f"+x={{{SECRET}: 1}}",
        f"translator.name=at-{SECRET}-",
        f"+x.api_key_env={SECRET}",
        "+x.api_key=secret",
        "+x.api_key_env='my key'",
        "+x=hf_abcdefghijklmnopqrstuvwxyzabcdefgh",
    ],
)
def test_no_trick_takes_a_key_into_the_configuration(
    override: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with pytest.raises(ConfigurationError) as refused:
        compose(CONF, {**MINI, "overrides": [override]})
    assert SECRET in override or SECRET not in str(refused.value)


def test_a_key_that_another_program_resolved_is_still_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`dvc exp run -S 'mirror=${oc.env:…}'` writes the value itself into params.yaml."""
    monkeypatch.setenv("MY_SERVICE_TOKEN", "correct horse battery")
    with pytest.raises(ConfigurationError, match=r"^mirror holds what .* MY_SERVICE_TOKEN") as no:
        compose(CONF, {**MINI, "mirror": "/data/correct horse battery"})
    assert "correct horse" not in str(no.value)
    assert "name that variable in the setting api_key_env" in str(no.value)


def test_no_resolver_is_left_where_a_configuration_is_composed() -> None:
    OmegaConf.clear_resolvers()
    assert "oc.env" in BaseContainer._resolvers
    compose(CONF, MINI)
    assert not BaseContainer._resolvers


@pytest.mark.parametrize(
    "path", [*CONF.rglob("*.yaml"), ROOT / "params.yaml"], ids=lambda path: path.name
)
def test_conf_names_other_settings_and_nothing_else(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "${" not in re.sub(r"\$\{\.{0,2}\w+(\.\w+)*\}", "", text)


# ------------------------------------------------------------------- keys in the wrong place

LONG = "7f3Kq9ZtX2mW8vBn4LrYc6HdJs1PgQe5RaTu0oNiMbE7kVxC3wDf"
"""Random letters and digits, as `secrets` gives them."""
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
PROVIDER_KEYS = [
    *(f"sk-ant-api03-{LONG}", f"AIzaSy{LONG[:33]}", f"gsk_{LONG}", f"xai-{LONG}", LONG[:40]),
    *(LONG[:32], HEX, HEX[:32], f"sk-{HEX[:32]}", f"hf_{LONG[:34]}", f"sk-or-v1-{HEX}"),
    *(f"jina_{HEX[:32]}{LONG[:28]}", f"pa-{LONG[:43]}", f"pplx-{LONG[:48]}", f"fw_{LONG[:24]}"),
    *(f"nvapi-{LONG}", f"r8_{LONG[:37]}", f"AKIA{LONG[:16].upper()}"),
    *(LONG[:32].upper(), 1234567890),
]


@pytest.mark.parametrize("key", PROVIDER_KEYS)
def test_a_key_is_not_taken_for_the_name_of_its_variable(key: str | int) -> None:
    with pytest.raises(ConfigurationError, match=r"^vector_store\.api_key_env holds") as refused:
        refuse_secrets({"vector_store": {"api_key_env": key}})
    with pytest.raises(ConfigurationError, match=r"^translator\.api_key_env is not") as built:
        Endpoint("m", api_key_env=str(key))
    assert str(key) not in f"{refused.value}{built.value}"


def test_an_error_of_another_setting_does_not_show_a_key_among_the_overrides() -> None:
    overrides = [f"translator.api_key_env='{LONG[:32]}'", "sample.sed=7"]
    with pytest.raises(ConfigurationError, match=r"api_key_env, sample\.sed;") as refused:
        compose(CONF, {**MINI, "overrides": overrides})
    assert LONG[:32] not in str(refused.value)


@pytest.mark.parametrize("name", ["", "OPENAI_API_KEY", "K", "AZURE_OPENAI_KEY_2", "A" * 64])
def test_the_name_of_a_variable_is_taken(name: str) -> None:
    refuse_secrets({"api_key_env": name})
    assert Endpoint("m", api_key_env=name).api_key_env == name


@pytest.mark.parametrize("name", ["openai_api_key", "MY KEY", "2KEY", "A" * 65, "KEY=x", "-"])
def test_what_cannot_be_the_name_of_a_variable_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="at most 64 capital letters"):
        refuse_secrets({"api_key_env": name})


@pytest.mark.parametrize(
    "header", ["Authorization", "authorization", "api-key", "x-api-key", "X-API-Key", "Cookie"]
)
def test_a_header_that_holds_a_key_is_refused_by_its_name(header: str) -> None:
    with pytest.raises(ConfigurationError, match=f"extra_headers.{header} holds") as refused:
        refuse_secrets({"translator": {"request": {"extra_headers": {header: "hunter2"}}}})
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("key", [LONG, LONG[:32], HEX, HEX[:32], f"bot{LONG[:40]}", f"v-{LONG}"])
@pytest.mark.parametrize(
    "form", ["https://host/{}", "http://h:80/v1/{}/chat", "s3://h/a/{}", "https://{}.host"]
)
def test_an_address_with_a_key_in_its_path_is_refused(key: str, form: str) -> None:
    with pytest.raises(ConfigurationError, match="mirror holds an address with a long") as refused:
        refuse_secrets({"mirror": form.format(key)})
    assert key not in str(refused.value)


@pytest.mark.parametrize(
    "path",
    [
        "datasets/a/b/resolve/da39a3ee5e6b4b0d3255bfef95601890afd80709/dev.json",
        "models/DeepSeek-R1-0528-Qwen3-8B-W4A16-G128/v1",
        "models/Meta-Llama-3.1-8B-Instruct-Turbo-GPTQ-4bit-128g",
        "MyNewDatasetForRAGOf2024/wikimultihop2hop4qa2020",
        "openai/deployments/text-embedding-3-small",
        "dataset/3f2b8e10-5c1d-4a7e-9b1f-0d2c4e6a8b90/resource",
    ],
)
def test_names_revisions_and_ids_in_a_path_are_taken(path: str) -> None:
    refuse_secrets({"base_url": f"https://host/{path}"})


# ------------------------------------------------------------------- addresses

PASSWORDS = [
    *("http://user:hunter2@host:6333", "https://user:hunter2@host/v1", "HTTP://u:hunter2@host"),
    *("http://hunter2@host", "http://:hunter2@host", "http://user:hun/hunter2@host"),
    *("http://user:hunter2%40@host", "s3://user:hunter2@bucket", "ftp://u:hunter2@[::1]:21/"),
    *(f"https://host/search{sign}{name}hunter2" for sign in "?#;" for name in ("k=", "a=b&c=", "")),
    *("http://host?api_key=hunter2", "http://host/v1?a=b&token=hunter2", "a http://u:hunter2@h b"),
]
BARE = [
    *("http:user:hunter2@host", "//user:hunter2@host", "user:hunter2@host:6333"),
    "http:/u:hunter2@h",
]
CHOICES = {"benchmark": "qasper", "retriever": "text-embedding-3-small", "vector_store": "qdrant"}


@pytest.mark.parametrize("address", [*PASSWORDS, *BARE])
def test_an_address_with_a_password_is_refused_and_not_shown(address: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        refuse_secrets({"retriever": {"encoders": [{"base_url": address}]}})
    assert "hunter2" not in str(refused.value)
    assert re.match(r"\S+ holds an address with more than", str(refused.value))


@pytest.mark.parametrize(
    "place",
    ["mirror", "vector_store.url", "retriever.encoder.base_url", "sources.qasper.homepage"],
)
def test_no_place_takes_an_address_with_a_password(place: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"^\S*{place} holds an address") as refused:
        compose(CONF, {**MINI, **CHOICES}, [f"{place}='{BARE[0]}'"])
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        *("http://localhost:6333", "https://host/v1", "https://medium.com/@user", "C:\\data@home"),
        *("https://host:8080/@user/x", "/data/a@b", "git@host:path", "http://[::1]:6333/a"),
        *("../shared/data", "12:30@noon is a text", "mailto:bear@example.com", "資料@home"),
    ],
)
def test_an_address_without_one_is_taken(address: str) -> None:
    refuse_secrets({"mirror": address})
    assert without_passwords(address) == address


@pytest.mark.parametrize("address", PASSWORDS)
def test_an_address_is_shown_without_its_password(address: str) -> None:
    shown = without_passwords(f"no answer from {address} (refused)")
    assert "hunter2" not in shown
    assert shown.startswith("no answer from")
    assert shown.endswith("(refused)")


@pytest.mark.parametrize(
    "address",
    [
        *("host/v1", "ftp://host", "http://", "http://hunter2:99999/v1", "http://h:hunter2/v1"),
        *("http://h hunter2/", "https://[hunter2", "http://:80/hunter2", "http://hunter2\x00"),
    ],
)
def test_what_is_no_address_is_refused_and_not_shown(address: str) -> None:
    with pytest.raises(
        ConfigurationError, match=r"^here is not the address of a server"
    ) as refused:
        check_address(address, "here")
    assert "hunter2" not in str(refused.value)
    check_address("http://[::1]:6333/a", "here")


# ------------------------------------------------------------------- the ledger


def ledger_of(project: Path, text: str) -> Path:
    ledger = project / "conf" / "ledger" / "mini.yaml"
    ledger.parent.mkdir(exist_ok=True)
    ledger.write_text(text, encoding="utf-8")
    return ledger


@pytest.mark.slow
def test_a_ledger_is_read_as_it_was_written(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "${oc.env:OPENAI_API_KEY} \\${a.b} ${benchmark.name} ??? ${"
    texts = {"old": text, "new": text, "reason": text}
    entry = {"record_id": "r", "field": "question", **texts}
    edit = Edit("r", "question", **texts)
    with open_ledger(ledger_of(project, "")) as ledger_file:
        ledger_file.add("edits", [edit])
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.chdir(project)
    run_stage()
    written = (project / "data" / "config.yaml").read_text(encoding="utf-8")
    ledger = {"replacements": [], "edits": [entry], "reviews": [], "judgements": []}
    assert ledger.items() <= yaml.safe_load(written).items()
    assert SECRET not in written


ENTRY = {"record_id": "r", "field": "question", "reason": "why"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"edit": []}, "mini.yaml has edit; the parts of a ledger are replacements, edits, "),
        ({"edits": {"a": 1}}, "ledger.edits"),
        ([1], "mini.yaml: expected a mapping"),
        ({"edits": [{**ENTRY, "old": "a", "new": "b", "date": "x"}]}, "ledger.edits.0.date"),
        ({"edits": [{**ENTRY, "old": 1990, "new": "b"}]}, "ledger.edits.0.old"),
        ({"edits": [{**ENTRY, "field": "gold_ids", "old": "", "new": ""}]}, "ledger.edits.0.field"),
        (
            {"edits": [{**ENTRY, "old": "a", "new": new} for new in ("b", "c")]},
            "two decisions on r question; keep one of them",
        ),
        (
            {"reviews": [{**ENTRY, "decision": word} for word in ("accept", "retranslate")]},
            "two decisions on r question; keep one of them",
        ),
        ({"reviews": [{**ENTRY, "decision": "accept", "times": -1}]}, "ledger.reviews.0.times"),
        ({"replacements": [{"question_id": "q"}]}, "ledger.replacements.0.reason"),
    ],
)
def test_a_ledger_that_would_not_do_what_it_says_is_refused(
    content: Any, message: str, project: Path
) -> None:
    ledger_of(project, yaml.safe_dump(content))
    with chdir(project), pytest.raises(BearsError, match=re.escape(message)):
        run_stage()
    assert not (project / "data").exists()


@pytest.mark.parametrize("text", ["", "# nothing decided\n", "edits:\n"])
def test_an_emptied_ledger_is_none(text: str, project: Path) -> None:
    parts = ("replacements", "edits", "reviews", "judgements", "labels", "nuggets")
    nothing: dict[str, Any] = {part: [] for part in parts}
    assert read_ledger(ledger_of(project, text)) == nothing
