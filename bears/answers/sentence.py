"""A baseline without a model: answer with the sentence that is most like the question.

It does not show what a generator can do: it never says yes or no, compares nothing and joins no
sentences. A generator should beat its score.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from bears.language.normalization import Normalization
from bears.language.sentences import sentence_ends


def best_sentence(
    question: str, texts: Sequence[str], rules: Normalization
) -> tuple[str, int] | None:
    """Return the sentence with most of the question's words, and the position of its text.

    A word of the question weighs ln(1 + n / m), if m of all n sentences contain it. The first
    sentence with the greatest sum wins. Words are the tokens of the language's answer F1.

    Returns:
        None if no sentence shares a word with the question.
    """
    sentences = [
        (sentence, position) for position, text in enumerate(texts) for sentence in _parts(text)
    ]
    words = [{*rules.tokens(rules.normal_form(sentence))} for sentence, _ in sentences]
    wanted = {*rules.tokens(rules.normal_form(question))}
    held = Counter(word for found in words for word in found & wanted)
    weights = {word: math.log1p(len(sentences) / count) for word, count in held.items()}
    scores = [math.fsum(weights[word] for word in found & wanted) for found in words]
    best = max(range(len(scores)), key=scores.__getitem__, default=None)
    return sentences[best] if best is not None and scores[best] > 0 else None


def _parts(text: str) -> Iterator[str]:
    start = 0
    for end in [*sentence_ends(text), len(text)]:
        if sentence := text[start:end].strip():
            yield sentence
        start = max(start, end)
