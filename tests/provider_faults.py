"""Errors as providers send them: status, body, and whose fault their status and code say it is."""

from __future__ import annotations

from typing import Any


def openai(message: str, code: str | None = None, kind: str = "invalid_request_error") -> Any:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(message: str, kind: str = "invalid_request_error") -> Any:
    return {"type": "error", "error": {"type": kind, "message": message}}


def google(code: int, message: str, status: str) -> Any:
    return [{"error": {"code": code, "message": message, "status": status}}]


def router(code: int, message: str, **metadata: Any) -> Any:
    return {"error": {"code": code, "message": message, "metadata": metadata}}


def words_of(body: Any) -> str:
    """Return the server's own words."""
    body = body[0] if isinstance(body, list) else body
    words: str = body["error"]["message"] if isinstance(body["error"], dict) else body["error"]
    return words


TOO_LONG = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 "
    "tokens. Please reduce the length of the messages."
)
FILTERED = (
    "The response was filtered due to the prompt triggering Azure OpenAI's content management "
    "policy. Please modify your prompt and retry."
)
LOW = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."
NO_MODEL = "The model `gpt-9` does not exist or you do not have access to it."
FAULTS: tuple[tuple[int, Any, str], ...] = (
    (402, openai("Insufficient Balance", "invalid_request_error", "unknown_error"), "account"),
    (400, anthropic(LOW, "billing_error"), "account"),
    (400, google(400, "API key not valid. Please pass a valid API key.", "INVALID"), "unknown"),
    (200, router(402, "Insufficient credits. Add more using a page of ours"), "account"),
    (400, google(400, "User location is not supported for the API use.", "FAILED"), "unknown"),
    (400, anthropic("You have reached your specified API usage limits."), "unknown"),
    (400, openai("This organization has been disabled.", None), "unknown"),
    (400, openai("Model Not Exist"), "unknown"),
    (400, router(400, "acme/one is not a valid model ID"), "unknown"),
    (401, openai("Incorrect API key provided: sk-…", "invalid_api_key"), "account"),
    (402, router(402, "This request requires more credits, or fewer max_tokens."), "account"),
    (403, router(403, "Key limit exceeded (total limit)."), "account"),
    (403, anthropic("Request not allowed", "forbidden"), "account"),
    (404, openai(NO_MODEL, "model_not_found"), "account"),
    (404, {"error": "model 'qwen9' not found, try pulling it first"}, "account"),
    (429, openai("You exceeded your current quota.", "insufficient_quota"), "account"),
    (200, {"error": {"message": "Insufficient Balance", "code": "x"}}, "server"),
    (200, {"error": "The API key is not valid"}, "server"),
    (400, openai("Unsupported parameter: 'seed' is not supported", "unsupported_parameter"),
     "account"),
    (400, openai(TOO_LONG, "context_length_exceeded"), "request"),
    (400, anthropic("prompt is too long: 200001 tokens > 199999 maximum"), "unknown"),
    (400, google(400, "The input token count (9) exceeds the maximum number of tokens", "INVALID"),
     "unknown"),
    (413, anthropic("Request exceeds the maximum size", "request_too_large"), "request"),
    (400, openai(FILTERED, "content_filter"), "request"),
    (400, openai("Content Exists Risk"), "unknown"),
    (400, openai("Invalid prompt: it was flagged as potentially violating our usage policy.",
                 "invalid_prompt"), "request"),
    (403, router(403, "Your chosen model requires moderation and your input was flagged",
                 reasons=["violence"]), "account"),
    (200, router(403, "Your input was flagged"), "account"),
    (400, router(400, "Provider returned error", raw="Content Exists Risk"), "unknown"),
    (400, {"error": {"code": 400, "message": "the request exceeds the available context size",
                     "type": "exceed_context_size_error"}}, "request"),
    (400, {"error": {"code": "data_inspection_failed", "message": "Output data may contain it"}},
     "request"),
    (400, {"error": {"code": "x", "message": "m",
                     "innererror": {"code": "ResponsibleAIPolicyViolation"}}}, "request"),
    (403, openai("You have violated our usage policies. Access terminated."), "account"),
    (403, openai(FILTERED, "content_filter"), "account"),
    (402, {"error": "Blocked by content filter"}, "account"),
    (400, openai("content flagged. Input: Which payment is due monthly?"), "unknown"),
    (500, openai("The server had an error", None, "server_error"), "server"),
    (529, anthropic("Overloaded", "overloaded_error"), "server"),
    (429, openai("Rate limit reached. Need more? See settings/billing", "rate"), "server"),
    (200, router(502, "Provider returned error"), "server"),
    (200, {"error": "the model is loading"}, "server"),
)  # fmt: skip
STRANGE: tuple[dict[str, Any], ...] = (
    {"error_code": 17, "error_msg": "Open api daily request limit reached"},
    {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}},
    {"code": 40001, "message": "the token is wrong", "data": None},
    {"success": False, "msg": "no such app"},
    {"detail": "Not authenticated"},
)
"""Objects that other servers send with status 200."""
