"""Reading the JSON that a model was asked for, where a server may know no schema."""

from typing import Any

from bears.errors import FormatError
from bears.files.intake.json_text import json_value
from bears.llm.client.wire import ChatAnswer


def json_reply(answer: ChatAnswer) -> Any:
    """The value between the first brace and the last, whatever fence or words stand around it.

    Raises:
        FormatError: the model refused, was cut off, or answered something else.
    """
    if answer.refusal or answer.finish_reason == "content_filter":
        raise FormatError(f"the model refused: {answer.refusal or 'content filter'!s:.80}")
    if answer.finish_reason != "stop":
        raise FormatError(f"the answer is not complete (finish reason {answer.finish_reason})")
    start, end = answer.text.find("{"), answer.text.rfind("}") + 1
    try:
        return json_value(answer.text[max(start, 0) : end].encode(), "")
    except (FormatError, UnicodeEncodeError):
        # Half of a surrogate pair, which models do send, is in no JSON.
        raise FormatError("the answer is not the JSON that was asked for") from None
