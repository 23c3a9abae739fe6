"""What the files of a batch hold: requests on the way out, answers on the way back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bears.errors import FormatError
from bears.files.intake.json_text import json_value
from bears.files.records import to_line
from bears.llm.client.endpoint import Access
from bears.llm.client.errors import RequestFailed, RequestRefused
from bears.llm.client.models import Model
from bears.llm.client.wire import ChatRequest, Outcome, read_answer, to_body, to_problem

BatchPart = list[tuple[str, bytes]]
"""The lines of one file, each with the key of its request."""


def parts(
    requests: Iterable[ChatRequest], name: str, model: Model, most_requests: int, most_bytes: int
) -> Iterator[BatchPart]:
    """Files that ask the model ``name``, of at most so many requests and bytes."""
    part: BatchPart = []
    size = 0
    for request in requests:
        line = _line(len(part), request, name, model)
        if part and (len(part) >= most_requests or size + len(line) > most_bytes):
            yield part
            part, size, line = [], 0, _line(0, request, name, model)
        part.append((request.key, line))
        size += len(line)
    if part:
        yield part


def _line(place: int, request: ChatRequest, name: str, model: Model) -> bytes:
    body = to_body(request, name, model)
    row = {"custom_id": str(place), "method": "POST", "url": "/v1/chat/completions"}
    return to_line({**row, "body": body}).encode("utf-8")


def outcomes(
    content: bytes, keys: Sequence[str], asked: Mapping[str, ChatRequest], access: Access
) -> Iterator[tuple[str, Outcome]]:
    """Key and outcome of each line of an output or error file.

    RequestFailed is what another batch may answer.

    Args:
        content: of the file; a line that cannot be read is passed over.
        keys: of the batch's requests, in order.
        asked: key to the request that is waited for; other lines are passed over.
        access: whose key no message may show.
    """
    for line in content.split(b"\n"):
        try:
            row = json_value(line, "", halves=True)
            key = keys[int(row["custom_id"])]
            if key in asked:
                yield key, _outcome(row, asked[key], access)
        except (FormatError, ArithmeticError, ValueError, LookupError, TypeError, AttributeError):
            continue


def not_answered(reason: str) -> RequestFailed:
    """The outcome of a request that a batch did not answer, though another may."""
    return RequestFailed(f"not answered in any batch: {reason}")


def _outcome(row: Mapping[str, Any], request: ChatRequest, access: Access) -> Outcome:
    response = row.get("response")
    if not response:
        return not_answered(access.clean(str(to_problem(0, row.get("error") or {}))))
    status = int(response["status_code"])
    if status == 200:
        return read_answer(response["body"], request)
    problem = to_problem(status, response["body"])
    told = access.clean(str(problem))
    return not_answered(told) if problem.passes else RequestRefused(told)
