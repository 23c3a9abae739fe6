"""What other programs recorded of a system: spans, in one form whatever wrote them."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from bears.errors import FormatError
from bears.files.intake.files import json_value
from bears.retrieval.outside.matching import SOURCES, Passage, Reply, Step
from bears.trace import ModelCall

KINDS = {
    "chat": "LLM",
    "generate_content": "LLM",
    "text_completion": "LLM",
    "generation": "LLM",
    "retrieval": "RETRIEVER",
    "execute_tool": "TOOL",
    "invoke_agent": "AGENT",
}
"""OpenTelemetry's operations, and Langfuse's types, as OpenInference's kinds."""
DEEPEST = 100
"""Further levels are not looked at; a span could be within itself."""
REDACTED = "__REDACTED__"
ASKED = ("question", "query", "input", "user_query", "content", "text", "parts", "messages")
SAID = ("answer", "output", "result", "response", "content", "text", "parts", "messages")
TEXTS = ("content", "text", "page_content", "snippet")
IDS = ("id", "docid", "doc_id")
Attributes = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecordedSpan:
    """One operation of a system.

    Args:
        start, end: in seconds; None if they are not known.
        attributes: a flat mapping: ``retrieval.documents.0.document.id``.
        cut: whether some attributes were dropped when it was recorded.
    """

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start: float | None
    end: float | None
    attributes: Attributes
    cut: bool = False

    @property
    def kind(self) -> str:
        """Return OpenInference's kind, such as RETRIEVER; empty if it is not known."""
        names = ("openinference.span.kind", "gen_ai.operation.name", "span_kind")
        operation = str(self.first(*names) or "")
        return KINDS.get(operation.lower(), operation.upper())

    @property
    def seconds(self) -> float | None:
        """Return how long it took."""
        if self.start is None or self.end is None:
            return None
        return round(self.end - self.start, 6)

    def first(self, *names: str) -> Any:
        """Return the first of these attributes that it has, or None."""
        return next((self.attributes[name] for name in names if name in self.attributes), None)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a system did for one question, before the question is known.

    Args:
        question: its text; empty if it was not recorded.
        names: attributes of its spans, one of which may name the question.
        question_id: if the form of the file names it.
        unread: names of tools whose calls are not read as searches.
    """

    reply: Reply
    question: str
    names: Attributes
    unread: tuple[str, ...] = ()
    question_id: str = ""


def flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the parts of nested mappings and lists, each under its whole name."""
    if isinstance(value, Mapping):
        pairs: Iterable[tuple[Any, Any]] = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    else:
        yield prefix, value
        return
    for name, part in pairs:
        yield from flat(part, f"{prefix}.{name}" if prefix else str(name))


def recorded(spans: Sequence[RecordedSpan], tools: Sequence[str]) -> Recorded:
    """Return what the spans of one trace say.

    A span of a retriever is a search, unless it is within another one. So is a call of one of the
    ``tools`` without a retriever in it. A reranker puts the passages of the search before it into
    another order. Of nested calls of a model, the inner one counts.
    """
    ordered = sorted(spans, key=lambda span: (span.start or 0.0, span.span_id))
    known = {span.span_id: span for span in ordered}
    above = {span.span_id: [*_above(span, known)] for span in ordered}
    # Spans that are within each other have no root.
    root = next((span for span in ordered if not above[span.span_id]), ordered[0])
    searching = {
        each.span_id for s in ordered if s.kind == "RETRIEVER" for each in above[s.span_id]
    }
    asking = {each.span_id for s in ordered if s.kind == "LLM" for each in above[s.span_id]}
    steps: list[Step] = []
    calls: list[ModelCall] = []
    unread: dict[str, None] = {}
    for span in ordered:
        within = span.kind in {each.kind for each in above[span.span_id]}
        if span.kind == "RETRIEVER" and not within:
            steps.append(Step(_asked(span), _documents(span, "retrieval.documents"), span.seconds))
        elif span.kind == "RERANKER" and steps:
            steps[-1] = _reranked(steps[-1], _documents(span, "reranker.output_documents"))
        elif span.kind == "TOOL" and span.span_id not in searching:
            tool = str(span.first("tool.name", "gen_ai.tool.name") or span.name)
            if tool in tools:
                steps.append(Step(_asked(span), passages_in(_output(span)), span.seconds))
            else:
                unread[tool] = None
        elif span.kind == "LLM" and span.span_id not in asking:
            calls.append(_call(span))
    names = {name: value for span in reversed(ordered) for name, value in span.attributes.items()}
    reply = Reply(
        tuple(steps),
        tuple(calls),
        text_of(_output(root), SAID) or None,
        error=str(root.first("exception.message", "error.type") or ""),
        seconds=root.seconds,
    )
    return Recorded(reply, _asked(root), names, tuple(unread))


def _above(span: RecordedSpan, known: Mapping[str, RecordedSpan]) -> Iterator[RecordedSpan]:
    """Yield the spans that a span is within, the nearest first."""
    for _ in range(DEEPEST):
        if span.parent_id not in known or span.parent_id == span.span_id:
            return
        span = known[span.parent_id]
        yield span


def _asked(span: RecordedSpan) -> str:
    names = ("gen_ai.retrieval.query.text", "input.value", "gen_ai.tool.call.arguments")
    return text_of(span.first(*names, "gen_ai.input.messages"), ASKED)


def _output(span: RecordedSpan) -> Any:
    return span.first("output.value", "gen_ai.tool.call.result", "gen_ai.output.messages")


def text_of(value: Any, names: Sequence[str]) -> str:
    """Return the text in a value, which may be JSON: the last one under one of ``names``."""
    if isinstance(value, str):
        with suppress(FormatError):
            if value.lstrip()[:1] in ("{", "["):
                return text_of(json_value(value.encode(), "it"), names)
        return "" if value == REDACTED else value
    if isinstance(value, Mapping):
        found = (text_of(value[name], names) for name in names if name in value)
        return next(filter(None, found), "")
    if isinstance(value, list):
        return next(filter(None, (text_of(part, names) for part in reversed(value))), "")
    return ""


def passages_in(output: Any) -> tuple[Passage, ...] | None:
    """Return the passages in the output of a search; None if it was not recorded."""
    if output is None or output == REDACTED:
        return None
    if isinstance(output, str):
        try:
            output = json_value(output.encode(), "it")
        except FormatError:
            return (Passage(text=output),) if output.strip() else ()
    if isinstance(output, Mapping):
        lists = [each for each in output.values() if isinstance(each, list)]
        output = lists[0] if lists and not {*IDS, *TEXTS} & output.keys() else [output]
    listed = output if isinstance(output, list) else [output]
    return tuple(_passage(each) for each in listed)


def _passage(item: Any) -> Passage:
    found = dict(flat(item)) if isinstance(item, Mapping) else {"content": str(item)}
    short = {name.removeprefix("document."): value for name, value in found.items()}
    metadata = short.get("metadata")
    if isinstance(metadata, str):
        with suppress(FormatError):
            short |= {f"metadata.{k}": v for k, v in flat(json_value(metadata.encode(), "it"))}
    places = [*SOURCES, *(f"metadata.{name}" for name in SOURCES)]
    parts = (_first(short, IDS), _first(short, places), _first(short, TEXTS))
    return Passage(*parts)


def _first(found: Attributes, names: Iterable[str]) -> str:
    return next((str(found[name]) for name in names if found.get(name) not in (None, "")), "")


def _documents(span: RecordedSpan, prefix: str) -> tuple[Passage, ...] | None:
    """Return the documents of a span; None if it does not say what was found."""
    listed = span.first(prefix, "gen_ai.retrieval.documents")
    if listed is not None:
        return passages_in(listed)
    numbered = re.compile(rf"(?:{re.escape(prefix)}|gen_ai\.retrieval\.documents)\.(\d+)\.")
    rows: dict[int, dict[str, Any]] = {}
    for name, value in span.attributes.items():
        if match := numbered.match(name):
            rows.setdefault(int(match[1]), {})[name[match.end() :]] = value
    if rows:
        return tuple(_passage(rows[number]) for number in sorted(rows))
    return None if span.cut else passages_in(_output(span))


def _reranked(step: Step, first: Sequence[Passage] | None) -> Step:
    rest = [each for each in step.passages or () if each not in (first or ())]
    return replace(step, passages=(*(first or ()), *rest))


def _call(span: RecordedSpan) -> ModelCall:
    def amount(kind: type, *names: str) -> Any:
        value = span.first(*names)
        # Tables have whole numbers as floats where other rows have none.
        return kind(value) if isinstance(value, int | float) and 0 <= value < math.inf else None

    model = span.first("llm.model_name", "gen_ai.response.model", "gen_ai.request.model")
    return ModelCall(
        str(model or ""),
        amount(int, "llm.token_count.prompt", "gen_ai.usage.input_tokens"),
        amount(int, "llm.token_count.completion", "gen_ai.usage.output_tokens"),
        amount(float, "llm.cost.total"),
        span.seconds,
    )
