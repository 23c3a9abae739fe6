"""The tables of docs/benchmarks.md name the readers, samplers and keys that the code has."""

import re
from dataclasses import fields
from importlib import import_module
from typing import Any, get_args, get_type_hints

from bears.sampling.mixture import Mixture
from bears.sampling.whole import WholeSettings
from bears.sources.qasper import QasperSettings
from bears.sources.science_ko import ScienceKoSettings
from tests.workspace import ROOT

SETTINGS = {"qasper": QasperSettings, "science_ko": ScienceKoSettings}


def table(header: str) -> list[list[str]]:
    """The words in backticks of each row of the table with that header."""
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    lines = text.split(f"| {header} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [re.findall(r"`([^`]+)`", line) for line in lines]


def names(shape: type[Any]) -> list[str]:
    return [field.name for field in fields(shape) if field.name != "sampler"]


def test_readers_and_their_settings() -> None:
    rows = table("reader | reads")
    modules = [path.stem for path in (ROOT / "bears" / "sources").glob("*.py")]
    readers = [m for m in modules if hasattr(import_module(f"bears.sources.{m}"), "read")]
    assert sorted(row[0] for row in rows) == sorted(readers)
    for reader, *words in rows:
        settings = names(SETTINGS[reader]) if reader in SETTINGS else []
        assert words[len(words) - len(settings) :] == settings


def test_samplers_and_their_keys() -> None:
    words = [word for row in table("sampler | key | meaning") for word in row]
    drawing, whole = (
        get_args(get_type_hints(shape)["sampler"]) for shape in (Mixture, WholeSettings)
    )
    samplers = [word for word in words if word in (*drawing, *whole)]
    assert samplers == [*drawing, *whole]
    keys = [word for word in words if re.fullmatch(r"\w+", word) and word not in samplers]
    assert sorted(keys) == sorted([*names(Mixture), *names(WholeSettings)])
