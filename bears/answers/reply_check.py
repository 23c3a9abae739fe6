"""What is wrong with an answer, before anybody asks whether it is right."""

from bears.answers.citations import cited
from bears.answers.given_up import GIVEN_UP, given_up
from bears.files.intake.texts import blank
from bears.llm.use import CheckedReply
from bears.llm.wire import ChatAnswer


def check(answer: ChatAnswer, shown: int, mark: str) -> CheckedReply:
    """The verdict on one answer.

    Args:
        shown: how many documents it may cite.
        mark: what those stand between.
    """
    text = answer.text.strip()
    found = cited(text, shown)
    refusal = ""
    if answer.refusal or answer.finish_reason == "content_filter":
        why = f"the model refused: {answer.refusal or 'by its content filter'}"
        # Kept if nothing better comes, of which every other answer that can be kept is.
        return CheckedReply(given_up([why]), [], [why, "there is no answer"])
    if answer.finish_reason != "stop":
        refusal = f"the answer is not complete (finish reason {answer.finish_reason})"
    elif blank(found.text):
        refusal = "the answer is empty"
    elif mark in text or text.startswith(GIVEN_UP):
        refusal = "it repeats what it was given"
    if refusal:
        return CheckedReply("", [refusal], [])
    doubts = [f"it cites {found.unknown} documents that it was not given"] if found.unknown else []
    return CheckedReply(text, [], doubts)
