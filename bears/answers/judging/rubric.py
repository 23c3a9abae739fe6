"""What each choice of a person means, in the words that the judge gets."""

import re
from functools import cache

from bears.answers.judging.ruling import SCALES
from bears.config import read_mapping
from bears.config.packaged import conf_file

PROMPTS = {
    "answers": ("judge-en", "judge-zh"),
    **{scale: (f"{scale}-other", f"{scale}-zh") for scale in SCALES if scale != "answers"},
}
"""Scale to the judge's prompts in English and in Chinese."""
MEANING = re.compile(r'^- "?(\w+)"?\s*[:：]\s*(.+(?:\n +.+)*)', re.MULTILINE)
"""A line of a prompt that says when to give a verdict."""
WRAPPED = re.compile(r"(?<=[^\x00-\x7f])\n *")
"""The end of a line of Chinese, which has no space."""


@cache
def rubric_of(scale: str) -> dict[str, list[str]]:
    """Return each word of a scale, to its meaning in both languages. Raises FormatError."""
    found: dict[str, list[str]] = {word: [] for word in SCALES[scale].values}
    for name in PROMPTS[scale]:
        text = read_mapping(conf_file(f"prompt/{name}.yaml"))["system"]
        for word, meaning in MEANING.findall(text):
            if word in found:
                found[word].append(" ".join(WRAPPED.sub("", meaning).split()))
    return found
