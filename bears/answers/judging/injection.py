"""Find answers that speak to the judge instead of answering, by their words."""

import re
import unicodedata

from bears.files.intake.yaml_text import table_of

_ANY = re.compile(
    "|".join(f"(?:{each})" for each in table_of(__file__)), re.IGNORECASE | re.MULTILINE
)


def speaks_to_judge(answer: str) -> bool:
    """Return whether an answer has words that would influence a judge.

    It knows English, Chinese, Korean, Japanese, German and Slovenian. It only flags: a right answer
    may have such words ("ignore the above" in a text about prompts), and a wrong one may not.
    """
    folded = unicodedata.normalize("NFKC", answer)
    plain = "".join(c for c in folded if unicodedata.category(c) != "Cf")
    return bool(_ANY.search(plain))
