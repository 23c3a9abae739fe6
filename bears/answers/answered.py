"""Turn replies into traces."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, repeat

from bears.answers.citations import Cited, cited
from bears.answers.settings import SentenceGenerator, why_given_up
from bears.answers.task import AnswerTask
from bears.language.normalization import Normalization, normalization_of
from bears.language.sentences import sentence_spans
from bears.language.yes_no import LITERAL, says_unanswerable
from bears.llm.use import KeptReplies
from bears.trace import Citation, Trace


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
        (text[start:end], position)
        for position, text in enumerate(texts)
        for start, end in sentence_spans(text)
    ]
    words = [{*rules.tokens(rules.normal_form(sentence))} for sentence, _ in sentences]
    wanted = {*rules.tokens(rules.normal_form(question))}
    held = Counter(word for found in words for word in found & wanted)
    weights = {word: math.log1p(len(sentences) / count) for word, count in held.items()}
    scores = [math.fsum(weights[word] for word in found & wanted) for found in words]
    best = max(range(len(scores)), key=scores.__getitem__, default=None)
    return sentences[best] if best is not None and scores[best] > 0 else None


def answered(task: AnswerTask, known: KeptReplies) -> Iterator[Trace]:
    """Yield the trace of each question, in the benchmark's order, once for each repeat.

    Its searches are in the run. A question that the model refuses has an empty answer.

    Raises:
        RepliesMissing: answers are missing; the message counts them and lists the first few.
    """
    answers = (
        _sentences(task) if isinstance(task.settings, SentenceGenerator) else _replayed(task, known)
    )
    asked = chain.from_iterable(repeat(task.questions, task.settings.repeats))
    for question, answer in zip(asked, answers, strict=True):
        shown = task.shown[question.question_id]
        silent = says_unanswerable(answer.text, task.language.unanswerable)
        yield Trace(
            question_id=question.question_id,
            answer=LITERAL if silent else answer.text,
            evidence=tuple(shown.chunks[position] for position in answer.positions),
            citations=tuple(Citation(end, shown.chunks[at]) for end, at in answer.places),
            refused=silent or bool(answer.given_up),
            shown=shown.chunks,
            cut=shown.cut,
            left_out=shown.left_out,
            cited_not_given=answer.unknown,
            given_up=answer.given_up,
        )


def _replayed(task: AnswerTask, known: KeptReplies) -> Iterator[Cited]:
    for request, reply in task.replies(known):
        why = why_given_up(reply)
        yield Cited("", (), 0, why) if why else cited(reply, len(request.texts))


def _sentences(task: AnswerTask) -> Iterator[Cited]:
    rules = normalization_of(task.language.name)
    for question in task.questions:
        texts = task.shown[question.question_id].texts
        sentence, *positions = best_sentence(question.question, texts, rules) or (LITERAL,)
        # A document may contain markers that are not citations of ours.
        text = cited(sentence, 0).text
        places = tuple((len(text), position) for position in positions)
        yield Cited(text, tuple(positions), 0, places=places)
