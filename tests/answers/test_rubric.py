"""People decide by the words that the judge gets."""

import re

import pytest

from bears.answers.judging.ruling import SCALES
from bears.config import read_mapping
from bears.config.ledger.page import PACKAGE
from bears.config.packaged import conf_file
from bears.files.page import words_of

PROMPTS = {
    "answers": ("judge-en", "judge-zh"),
    **{scale: (f"{scale}-other", f"{scale}-zh") for scale in SCALES if scale != "answers"},
}
"""Scale to the judge's prompts in English and in Chinese."""
MEANING = re.compile(r'^- "?(\w+)"?\s*[:：]\s*(.+(?:\n +.+)*)', re.MULTILINE)
"""A line of a prompt that says when to give a verdict."""
WRAPPED = re.compile(r"(?<=[^\x00-\x7f])\n *")
"""The end of a line of Chinese, which has no space."""


@pytest.mark.parametrize("scale", SCALES)
def test_a_rubric_has_the_words_of_the_prompt(scale: str) -> None:
    words = words_of(PACKAGE)
    for language, name in enumerate(PROMPTS[scale]):
        text = read_mapping(conf_file(f"prompt/{name}.yaml"))["system"]
        said = {
            word: " ".join(WRAPPED.sub("", meaning).split())
            for word, meaning in MEANING.findall(text)
            if word in SCALES[scale].values
        }
        assert said == {
            word: words[f"rubric_{scale}_{word}"][language] for word in SCALES[scale].values
        }
