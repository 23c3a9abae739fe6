"""What is wrong with an answer, before anybody asks whether it is right."""

from bears.answers.citations import cited
from bears.client.wire import ChatAnswer
from bears.intake.texts import blank
from bears.memory.use import CheckedReply


def check(answer: ChatAnswer, shown: int, mark: str) -> CheckedReply:
    """The verdict on one answer.

    Args:
        shown: how many documents it may cite.
        mark: what those stand between.
    """
    text = answer.text.strip()
    found = cited(text, shown)
    refusal = ""
    if answer.refusal:
        refusal = f"the model refused: {answer.refusal:.80}"
    elif answer.finish_reason != "stop":
        refusal = f"the answer is not complete (finish reason {answer.finish_reason})"
    elif blank(found.text):
        refusal = "the answer is empty"
    elif mark in text:
        refusal = "it repeats what it was given"
    if refusal:
        return CheckedReply("", [refusal], [])
    doubts = [f"it cites {found.unknown} documents that it was not given"] if found.unknown else []
    return CheckedReply(text, [], doubts)
