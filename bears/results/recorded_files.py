"""Files of traces that other programs write; their content is not trusted.

| form | recognized by |
|---|---|
| OTLP, JSON or protobuf | ``resourceSpans``; a file that is not text |
| OpenTelemetry's console | ``context`` with ``trace_id`` |
| Phoenix | ``context.trace_id``, or ``context``, with ``span_kind`` |
| Langfuse | ``traceId`` with ``type``, or ``observations`` |
| LangSmith | ``run_type`` |
| MLflow | ``data.spans``, or ``spans`` |
| Jaeger | ``spans`` with ``operationName`` |
| Tempo | ``batches``, or ``trace`` |
| BrowseComp-Plus | ``query_id`` with ``retrieved_docids`` |
| Inspect | the ending ``.eval`` |
| a program's own log | a field that is called like a question |
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from bears.errors import ConfigurationError, FormatError, first_line
from bears.files.intake.files import json_value, lines, opened, read_whole
from bears.files.intake.tables import parquet_rows
from bears.files.spreadsheet import read_named
from bears.results.recorded import (
    KINDS,
    LOGGED,
    NAMES,
    Operation,
    Recorded,
    RecordedSpan,
    first_of,
    flat,
    operation,
    passages_in,
    recorded,
    text_of,
    tools_that_search,
)
from bears.retrieval.outside.matching import Passage, PassageMatcher, Reply, Step
from bears.sources.folder.asked import TABLES
from bears.sources.folder.fields import CODE, Field, fields_of, messages_in
from bears.sources.rows import cell_value

MESSAGE_EVENT = re.compile(r"gen_ai\.(\w+)\.message")
BATCHES = ("resourceSpans", "resource_spans", "batches")
SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
"""What OTLP calls its parts; Python's protobuf has its own names for them."""
LISTED = ("attributes", "events", "links", "logs", "tags")
"""Fields of a span that are lists. Some of their parts are not attributes."""
CLOCK = re.compile(r"\d:\d\d")
CONFIDENCE = re.compile(r"confidence:?\W*(\d+(?:\.\d+)?)\s*%", re.IGNORECASE)
BRACKETED = (re.compile(r"\[([^\[\]]*)\]"), re.compile(r"【([^【】]*)】"))


def read_recorded(
    paths: Iterable[Path],
    matcher: PassageMatcher,
    tools: Sequence[str] = (),
    others: Sequence[str] = (),
    drop: Sequence[str] = (),
    named: str = "",
) -> tuple[list[Recorded], Mapping[str, int]]:
    """Return the traces in files, and the tools that search with the number of their calls.

    The spans of a trace may be on any lines of any of the files.

    Args:
        paths: files, and folders of them.
        matcher: of passages with documents. A tool searches if documents are what it finds.
        tools: names of tools, or other spans, that are searches, whatever they find.
        others: names of tools whose calls are not.
        drop: names of attributes, or their beginnings, that are not read.
        named: the attribute that names the question.

    Raises:
        FormatError: a file has no known form, or is malformed.
        ConfigurationError: a package that reads the form is not installed.
    """
    traces: defaultdict[str, dict[str, Operation]] = defaultdict(dict)
    whole: list[Recorded] = []
    for path in chain.from_iterable(map(_files, paths)):
        try:
            for each in _read(path):
                if isinstance(each, Recorded):
                    whole.append(each)
                    continue
                span = _without(each, drop) if drop else each
                traces[span.trace_id][span.span_id] = operation(span, matcher, named, tools)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{path}: a malformed trace: {first_line(error)!r:.80}") from None
    every = [*chain.from_iterable(each.values() for each in traces.values())]
    searching = tools_that_search(every)
    kept = {name: n for name, n in searching.items() if name not in others}
    kept |= {each.tool: 0 for each in every if each.tool in tools and each.tool not in kept}
    return [*whole, *(recorded([*each.values()], kept) for each in traces.values())], kept


def _read(path: Path) -> Iterator[RecordedSpan | Recorded]:
    if path.suffix == ".eval":
        yield from _inspect(path)
        return
    for number, row in enumerate(_rows(path), start=1):
        if "retrieved_docids" in row and "query_id" in row:
            yield _browsecomp(row)
        else:
            yield from _spans(row, f"{path}, record {number}")


def _files(path: Path) -> list[Path]:
    return sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]


def _without(span: RecordedSpan, drop: Sequence[str]) -> RecordedSpan:
    left = {n: v for n, v in span.attributes.items() if not n.startswith(tuple(drop))}
    return replace(span, attributes=left)


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a file of JSON, JSON Lines or OTLP's protobuf, and a table's rows."""
    if path.name.removesuffix(".gz").lower().endswith(TABLES):
        for _, row in read_named(path)[1]:
            yield {name: cell_value(cell) for name, cell in row.items()}
        return
    if path.suffix == ".parquet":
        yield from parquet_rows(path)
        return
    with opened(path) as stream:
        begin = stream.read(4096).lstrip(b"\xef\xbb\xbf \r\n\t")[:1]
    if begin not in (b"{", b"["):
        yield _protobuf(read_whole(path), path)
        return
    values = (value for _, value in lines(path, blank=True))
    try:
        first = next(values)
    except FormatError:
        # The file is one value on several lines.
        first = json_value(read_whole(path), str(path))
    for value in chain([first], values):
        data = value.get("data") if isinstance(value, Mapping) else None
        listed = data if isinstance(data, list | dict) else value
        for row in listed if isinstance(listed, list) else [listed]:
            if not isinstance(row, Mapping):
                raise FormatError(f"{path}: expected objects, found {row!r:.60}")
            yield row


def _protobuf(content: bytes, path: Path) -> Mapping[str, Any]:
    try:
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
    except ImportError:
        raise ConfigurationError(
            f"{path} is not JSON; for OTLP's protobuf: pip install opentelemetry-proto"
        ) from None
    try:
        found: Mapping[str, Any] = MessageToDict(TracesData.FromString(content))
    except DecodeError:
        raise FormatError(f"{path} is neither JSON nor OTLP's protobuf") from None
    return found


def _spans(row: Mapping[str, Any], where: str) -> Iterator[RecordedSpan]:
    if isinstance(row.get("trace"), Mapping):
        yield from _spans(row["trace"], where)
    elif batches := [name for name in BATCHES if name in row]:
        for resource in row[batches[0]] or ():
            scopes = chain.from_iterable(resource.get(name) or () for name in SCOPES)
            for scope in scopes:
                yield from map(_span, scope.get("spans", ()))
    elif "spans" in row:
        yield from map(_span, row["spans"])
    elif "observations" in row:
        yield _span({**row, "type": row.get("type", "AGENT"), "traceId": row["id"]})
        for each in row["observations"]:
            parent = each.get("parentObservationId") or row["id"]
            yield _span({**each, "traceId": row["id"], "parentObservationId": parent})
    elif _is_span(row):
        yield _span(row)
    elif rows := _rows_in(row):
        for number, each in enumerate(rows, start=1):
            yield from _spans(each, f"{where}, row {number}")
    elif logged := _logged(row, where):
        yield logged
    else:
        raise FormatError(
            f"{where}: not a trace; expected OTLP, Phoenix, Langfuse, LangSmith, MLflow, Jaeger, "
            "Tempo, Inspect, BrowseComp-Plus or rows with a question, found an object with "
            f"{', '.join(map(str, row))!s:.80}"
        )


def _is_span(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a span of OpenTelemetry, Phoenix, LangSmith or Langfuse."""
    context = row.get("context")
    exported = isinstance(context, Mapping) and "trace_id" in context
    named = {"run_type", "context.trace_id"} & row.keys() or {"traceId", "type"} <= row.keys()
    return exported or bool(named)


def _rows_in(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the rows of an object of rows, or of a list of them in an object.

    In rows, one field asks in each, and nothing beside them does.
    """
    for name, value in [("", row), *row.items()]:
        rest = {key: part for key, part in row.items() if name not in ("", key)}
        inner = value if isinstance(value, list) else []
        if isinstance(value, Mapping):
            parts = any(Field(key).named(role) for key in value for role in ("question", "answer"))
            inner = [] if parts else [*value.values()]
        if len(inner) < 2 or not all(isinstance(each, Mapping) for each in inner):
            continue
        asked = {found and found.span_id for found in (_logged(each, "") for each in inner)}
        if len(asked) == 1 and asked != {None} and not (messages_in(inner) or _logged(rest, "")):
            return [{**rest, **each} for each in inner]
    return []


def _span(row: Mapping[str, Any]) -> RecordedSpan:
    """Return a span, whatever program wrote it; what it lacks has OpenInference's names."""
    own = {name: value for name, value in row.items() if name not in LISTED}
    own |= dict(flat(own))
    trace, span, *names = (first_of(own, fields) for fields in NAMES["span"]["names"])
    if not (trace and span):
        raise ValueError("it has no id of a trace or of a span")
    # Jaeger writes microseconds, and a duration in place of an end.
    micro = "duration" in own and own.keys().isdisjoint(NAMES["span"]["end"])
    start, end = (
        next((_time(own[n], n, micro) for n in NAMES["span"][part] if own.get(n) is not None), None)
        for part in ("start", "end")
    )
    if micro and start is not None:
        end = start + int(own["duration"]) / 1e6
    # A table has empty cells for the attributes of other spans.
    found = {n.removeprefix("attributes."): v for n, v in own.items() if v is not None}
    found |= _attributes(row)
    found |= dict(flat(found))
    # An attribute of another program may be called like a field.
    own |= {name: value for name, value in found.items() if name.startswith("mlflow.")}
    for name, fields in NAMES["fields"].items():
        if known := [own[field] for field in fields if own.get(field) is not None]:
            found.setdefault(name, known[0])
    cut = bool(row.get("droppedAttributesCount") or row.get("dropped_attributes_count"))
    return RecordedSpan(trace, span, names[0], names[1], start, end, found, cut)


def _attributes(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span, and those of its events and logs."""
    found = {**_pairs(row.get("tags")), **_pairs(row.get("attributes"))}
    for name, value in found.items():
        # MLflow writes each attribute as JSON.
        with suppress(FormatError):
            if isinstance(value, str) and name.startswith("mlflow."):
                found[name] = json_value(value.encode(), name)
    for log in row.get("logs") or ():
        found |= _pairs(log.get("fields"))
    called = KINDS.get(found.get("gen_ai.operation.name", "")) == "TOOL"
    for number, event in enumerate(row.get("events") or ()):
        own = _pairs(event.get("attributes"))
        if called and (part := NAMES["tool_events"].get(event.get("name"))):
            found.setdefault(part, own.get("message", own.get("content")))
        elif message := MESSAGE_EVENT.fullmatch(event.get("name", "")):
            found[f"gen_ai.prompt.{number}.role"] = own.get("role", message[1])
            found[f"gen_ai.prompt.{number}.content"] = own.get("content")
        elif event.get("name") == "gen_ai.choice":
            said = own.get("message", own.get("content"))
            found[f"gen_ai.completion.{number}.content"] = text_of(said, ("content", "text"))
        else:
            found |= own
    return found


def _pairs(given: Any) -> dict[str, Any]:
    """Return attributes, which are an object, or a list of objects with ``key`` and ``value``."""
    if isinstance(given, Mapping):
        return {**given}
    listed = [each for each in given or () if isinstance(each, Mapping) and "key" in each]
    return {each["key"]: _plain(each.get("value")) for each in listed}


def _plain(value: Any) -> Any:
    """Return the value of an attribute, which OTLP writes as an object of its type."""
    if not isinstance(value, Mapping):
        return value
    for name, content in value.items():
        kind = name.replace("_", "").lower()
        if kind == "arrayvalue":
            return [_plain(each) for each in content.get("values", ())]
        if kind == "kvlistvalue":
            return {each["key"]: _plain(each["value"]) for each in content.get("values", ())}
        return int(content) if kind == "intvalue" else content
    return None


def _logged(row: Mapping[str, Any], where: str) -> RecordedSpan | None:
    """Return a row of a program's own log: a question, and what came of it; None if none asks."""
    every = fields_of([row]).values()
    fields = [each for each in every if not each.share(CODE.fullmatch)]
    asked, said = (
        max(fields, key=lambda each: (each.named(role), _asks(each)), default=Field(""))
        for role in ("question", "answer")
    )
    if not (asked.named("question") or _asks(asked)):
        return None
    answer = said.cells[0].value if said.named("answer") else ""
    times = (each.cells[0].value for each in every if each.share(CLOCK.search))
    start = next((at for text in times if (at := _time(text)) is not None), None)
    given = {"input.value": asked.cells[0].value, "output.value": {"answer": answer, "row": row}}
    given |= {"openinference.span.kind": LOGGED}
    return RecordedSpan(where, asked.name, "", "row", start, None, {**row, **given})


def _asks(each: Field) -> bool:
    return each.spoken or any(cell.asks for cell in each.cells[:1])


def _time(value: Any, name: str = "", micro: bool = False) -> float | None:
    """Return a time in seconds; whole numbers are nanoseconds by their name, or by their size."""
    if "nano" in name.lower() or isinstance(value, int | float):
        number = int(value)
        nano = "nano" in name.lower() or number > 1e17
        return number / (1e6 if micro else 1e9 if nano else 1)
    try:
        return datetime.fromisoformat(str(value)).timestamp()
    except ValueError:
        return None


def _browsecomp(row: Mapping[str, Any]) -> Recorded:
    """Return a run file.

    As in BrowseComp-Plus' program, the names of tools say which ones search, and an unfinished
    answer does not count.
    """
    steps = []
    for each in row["result"]:
        tool = str(each.get("tool_name")).lower()
        if each.get("type") == "tool_call" and ("search" in tool or "retrieval" in tool):
            passages = passages_in(each.get("output")) or ()
            named = tuple(Passage(id=passage.id) for passage in passages if passage.id)
            steps.append(Step(text_of(each.get("arguments"), ("user_query", "query")), named))
    retrieved = {str(each) for each in row["retrieved_docids"]}
    if {passage.id for step in steps for passage in step.passages or ()} != retrieved:
        steps = [Step("", tuple(Passage(id=str(each)) for each in row["retrieved_docids"]))]
    last = row["result"][-1] if row["result"] else {}
    text = str(last.get("output") or "") if last.get("type") == "output_text" else ""
    counts = row.get("tool_call_counts")
    finished = row.get("status") == "completed" and bool(text.strip())
    said = text if finished else ""
    marks = (each for pattern in BRACKETED for each in pattern.findall(said))
    cited = tuple(dict.fromkeys(number for mark in marks for number in re.findall(r"\d+", mark)))
    stated = CONFIDENCE.search(said)
    reply = Reply(
        tuple(steps),
        answer=text if finished else None,
        cited=cited,
        confidence=min(float(stated[1]) / 100, 1.0) if stated else None,
        tool_calls=None if counts is None else sum(map(int, counts.values())),
        error="" if finished else f"status {row.get('status')}",
    )
    return Recorded(reply, (), question_id=str(row["query_id"]))


def _inspect(path: Path) -> Iterator[RecordedSpan]:
    """Yield the samples of a log of Inspect and their events, whose order stands for times."""
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        raise ConfigurationError(f"{path} is a log of Inspect: pip install inspect-ai") from None
    try:
        samples = read_eval_log(str(path)).samples or ()
    except Exception as error:  # Whatever Inspect and the readers below it raise.
        raise FormatError(f"{path}: Inspect cannot read it: {first_line(error)!r:.80}") from None
    for number, sample in enumerate(samples):
        trace = f"{path} {number}"
        said = {"openinference.span.kind": "AGENT", "output.value": sample.output.completion}
        text = sample.input if isinstance(sample.input, str) else sample.input[-1].text
        said |= {"id": str(sample.id), "input.value": text, **dict(flat(dict(sample.metadata)))}
        said |= {"exception.message": sample.error.message} if sample.error else {}
        yield RecordedSpan(trace, "sample", "", "sample", 0.0, sample.total_time, said)
        for at, event in enumerate(sample.events, start=1):
            seconds: float | None = None
            if event.event == "tool":
                said = {"tool.name": event.function, "input.value": dict(event.arguments)}
                said |= {"openinference.span.kind": "TOOL", "output.value": str(event.result)}
            elif event.event == "model" and (used := event.output.usage):
                said = {"openinference.span.kind": "LLM", "llm.model_name": event.model}
                said["llm.token_count.prompt"] = used.input_tokens
                said["llm.token_count.completion"] = used.output_tokens
                seconds = event.output.time
            else:
                continue
            end = None if seconds is None else at + seconds
            yield RecordedSpan(trace, str(at), "sample", event.event, float(at), end, said)
