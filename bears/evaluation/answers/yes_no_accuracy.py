"""Whether a yes-or-no question is answered by the right word, whatever surrounds it."""

from collections.abc import Sequence

from bears.language.yes_no import first_yes_or_no, yes_or_no


def yes_no_accuracy(answer: str, references: Sequence[str], language: str) -> float:
    """Return 1 if the first yes or no in the answer is that of a yes-or-no reference, else 0.

    Averaged over the questions that any annotator answered by yes or no. In scripts without
    spaces, and in Korean, the answer must begin with the word. 0 without such a word. QASPER's
    literals Yes and No are references, and answers, in every language.

    Source: ours, beside QASPER's F1, in which "Yes, they do" is worth 1/2.
    """
    if answer.strip() in references:
        return 1.0
    word = first_yes_or_no(answer, language)
    meant = {yes_or_no(text, language) or yes_or_no(text, "en") for text in references}
    return float(word is not None and word in meant)
