"""What is wrong with an answer, before anybody asks whether it is right."""

from bears.answers.citations import cited
from bears.client.wire import ChatAnswer
from bears.intake.texts import blank
from bears.memory.use import CheckedReply


def check(answer: ChatAnswer, shown: int) -> CheckedReply:
    """The verdict on one answer; ``shown`` is how many documents it may cite."""
    text = answer.text.strip()
    if answer.refusal:
        return CheckedReply("", [f"the model refused: {answer.refusal:.80}"], [])
    if answer.finish_reason != "stop":
        reason = f"the answer is not complete (finish reason {answer.finish_reason})"
        return CheckedReply("", [reason], [])
    found = cited(text, shown)
    if blank(found.text):
        return CheckedReply("", ["the answer is empty"], [])
    doubts = [f"it cites {found.unknown} documents that it was not given"] if found.unknown else []
    return CheckedReply(text, [], doubts)
