"""One check says whether an answer of a model is whole, for every use."""

from __future__ import annotations

import pytest

from bears.errors import FormatError
from bears.llm.shape import json_reply
from bears.llm.wire import ChatAnswer


@pytest.mark.parametrize(
    ("reason", "refusal", "flaw"),
    [
        # The values of finish_reason in OpenAI's API reference, and none.
        ("stop", None, ""),
        ("stop", "I cannot", "the model refused: I cannot"),
        ("length", None, "the answer is not complete (finish reason length)"),
        ("tool_calls", None, "the answer is not complete (finish reason tool_calls)"),
        ("content_filter", None, "the model refused: by its content filter"),
        ("", None, "the answer is not complete (finish reason )"),
    ],
)
def test_an_answer_is_whole_if_the_model_stopped_by_itself(
    reason: str, refusal: str | None, flaw: str
) -> None:
    answer = ChatAnswer('{"a": 1}', reason, refusal, 1, 1, "m")
    assert answer.flaw == flaw
    if flaw:
        with pytest.raises(FormatError) as refused:
            json_reply(answer)
        assert str(refused.value) == flaw
    else:
        assert json_reply(answer) == {"a": 1}
