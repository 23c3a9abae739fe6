"""The tables of docs/shapes.md name the readers, samplers and keys that the code has."""

import re
from dataclasses import fields
from typing import Any

import yaml

from bears.sampling.mixture import Mixture, PublishedRecipe, Recipe, V1Recipe
from bears.sampling.whole import Whole
from bears.sources.qasper import QasperSettings
from bears.sources.science_ko import ScienceKoSettings
from bears.sources.source import SHAPES
from tests.workspace import ROOT

SETTINGS = {"qasper": QasperSettings, "science_ko": ScienceKoSettings}


def table(header: str) -> list[list[str]]:
    """Return the words in backticks of each row of the table with that header."""
    text = (ROOT / "docs" / "shapes.md").read_text(encoding="utf-8")
    lines = text.split(f"| {header} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [re.findall(r"`([^`]+)`", line) for line in lines]


def names(shape: type[Any]) -> list[str]:
    return [field.name for field in fields(shape)]


def test_shapes_and_their_fields() -> None:
    assert [row[0] for row in table("shape | reads")] == [*SHAPES]
    fields = {name: [*shape.words] for name, shape in SHAPES.items()}
    assert {row[0]: row[1:] for row in table("shape | fields")} == fields


def test_readers_and_their_settings() -> None:
    rows = table("reader | reads")
    named = (yaml.safe_load(path.read_text()) for path in (ROOT / "conf").rglob("*.yaml"))
    dotted = set(re.findall(r"bears\.sources\.(\w+)\.read", str([*named])))
    assert {row[0] for row in rows} == dotted
    for reader, *words in rows:
        settings = names(SETTINGS[reader]) if reader in SETTINGS else []
        assert words[len(words) - len(settings) :] == settings


def test_samplers_and_their_keys() -> None:
    words = [word for row in table("`sample._target_` | key | meaning") for word in row]
    samplers = [word for word in words if word.startswith("bears.sampling.")]
    known = [
        f"{kind.__module__}.{kind.__name__}" for kind in (Recipe, V1Recipe, PublishedRecipe, Whole)
    ]
    assert samplers == known
    keys = [word for word in words if re.fullmatch(r"\w+", word) and word not in samplers]
    assert sorted(keys) == sorted([*names(Mixture), *names(Whole)])
