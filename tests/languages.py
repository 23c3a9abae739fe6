"""The languages of conf/, for the tests of several modules."""

from __future__ import annotations

from bears.config import read_mapping
from bears.config.typed import parse
from bears.language.profile import Language
from tests.workspace import ROOT

CONF = ROOT / "conf"

# Of a plausible length for each family of target languages, in letters a character.
_FILLER = "What did the people of the old town say about the river and its mills? " * 40
_LETTERS = {"zh-Hant-TW": 3.0, "ja": 2.2, "ko": 1.9}


def load(name: str) -> Language:
    return parse(Language, read_mapping(CONF / "language" / f"{name}.yaml", ""), "language")


def filler(text: str, language: Language) -> str:
    return _FILLER[: int(len(text) * _LETTERS.get(language.name, 1.0)) + 1] + "?"
