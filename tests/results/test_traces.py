"""Traces that other programs wrote, and what is measured of them."""

from __future__ import annotations

import gzip
import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bears.answers.judging.files import read_unjudged
from bears.answers.judging.judged import results_of
from bears.answers.judging.tables import write_judged
from bears.cli import main
from bears.errors import BearsError
from bears.evaluation.comparison.result import compare, judged
from bears.evaluation.comparison.values import Measured
from bears.evaluation.repeats import note, repeats_of
from bears.evaluation.timing import kept_timing
from bears.evaluation.trace_measures import trace_values
from bears.files.intake import files as intake
from bears.files.records import sha256_of, write_json, write_records
from bears.files.traces import read_traces, write_traces
from bears.files.trec import run_writer
from bears.results.costs import Costs
from bears.results.origins import OF_ANSWERS, system_ranking
from bears.results.recorded_files import read_recorded
from bears.results.system import System, system_of_traces, with_searches
from bears.results.values import read_values
from bears.retrieval.outside.matching import PassageMatcher
from bears.selection.configuration import records_of
from bears.trace import ModelCall, Search, Trace
from bears.types import Chunk, ChunkHit, Document, Question, Turn, in_order
from tests.environments import python_with
from tests.results import agents
from tests.workspace import Workspace

TEXTS = {
    "d1": "The river Maritsa passes through Plovdiv.",
    "d2": "Sofia has been the capital of Bulgaria since 1879.",
    "d3": "Rila is the highest range of the country.",
    "d4": "Bulgarian roses are grown in a valley near Kazanlak.",
}
QUESTIONS = [
    Question("q1", "What is the capital of Bulgaria?", "Sofia", ("d2",), "atlas", "single-hop"),
    Question("q2", "Which river passes Plovdiv?", "Maritsa", ("d1", "d3"), "atlas", "multi-hop"),
    Question("q3", "Where do roses grow?", "Kazanlak", ("d4",), "atlas", "single-hop"),
]


@pytest.fixture
def atlas(tmp_path: Path) -> Path:
    """Return a folder with a benchmark of three questions."""
    folder = tmp_path / "atlas"
    folder.mkdir()
    write_records(folder / "queries.json", QUESTIONS)
    pool = [Document(name, text, "atlas", name, True) for name, text in TEXTS.items()]
    write_records(folder / "corpus.json", pool)
    write_json(folder / "sidecar.json", {"language": "en"})
    return folder


def imported(atlas: Path, file: Path, *words: str) -> dict[str, list[Trace]]:
    """Return question_id to the traces that the command reads from a file."""
    out = atlas.parent / "agent.traces.jsonl"
    command = ["traces", "import", str(file), "--out", str(out), *words]
    assert main([*command, "--benchmark", "mini", "--folder", str(atlas)]) == 0
    found: dict[str, list[Trace]] = {}
    for trace in read_traces(out):
        found.setdefault(trace.question_id, []).append(trace)
    return found


def names(trace: Trace) -> list[list[str]]:
    return [[hit.chunk.doc_id for hit in each.passages] for each in trace.searches or ()]


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    """Return spans as OTLP's JSON: each with id, parent, times in seconds, and attributes."""

    def value(content: Any) -> dict[str, Any]:
        if isinstance(content, int):
            return {"intValue": str(content)}
        if isinstance(content, list):
            return {"arrayValue": {"values": [value(each) for each in content]}}
        return {"stringValue": content}

    rows = [
        {
            "traceId": each.get("trace", "t1"),
            "spanId": each["id"],
            "parentSpanId": each.get("parent", ""),
            "name": each.get("name", ""),
            "startTimeUnixNano": str(int(each["at"][0] * 1e9)),
            "endTimeUnixNano": str(int(each["at"][1] * 1e9)),
            "attributes": [
                {"key": key, "value": value(content)} for key, content in each["says"].items()
            ],
            **({"droppedAttributesCount": 3} if each.get("cut") else {}),
        }
        for each in spans
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": rows}]}]}


def message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


AGENT = {
    "id": "a",
    "at": (0, 9),
    "says": {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.input.messages": message("user", "Which river  passes PLOVDIV?"),
        "gen_ai.output.messages": message("assistant", "The Maritsa"),
    },
}


def tool(number: int, query: str, *ids: str) -> dict[str, Any]:
    return {
        "id": f"s{number}",
        "parent": "a",
        "at": (number, number + 0.5),
        "says": {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search",
            "gen_ai.tool.call.arguments": json.dumps({"query": query}),
            "gen_ai.tool.call.result": json.dumps(
                [{"id": name, "text": TEXTS[name]} for name in ids]
            ),
        },
    }


def chat(number: int, given: int, told: int) -> dict[str, Any]:
    return {
        "id": f"c{number}",
        "parent": "a",
        "at": (number + 0.5, number + 0.75),
        "says": {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m1",
            "gen_ai.usage.input_tokens": given,
            "gen_ai.usage.output_tokens": told,
        },
    }


def test_spans_of_generative_ai_give_searches_calls_and_the_answer(
    atlas: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spans = [chat(3, 70, 5), tool(2, "rivers", "d3", "d1"), tool(1, "Plovdiv", "d4"), AGENT]
    file = atlas.parent / "agent.json"
    write_json(file, otlp(*spans, chat(1, 30, 2)))
    (blind,) = imported(atlas, file, "--not-search", "search")["q2"]
    assert blind.searches == ()
    assert "1 traces call search; if it searches: --search-tool" in capsys.readouterr().err
    (trace,) = imported(atlas, file)["q2"]
    assert "search is a search: 2 calls that found documents" in capsys.readouterr().out
    assert [each.query for each in trace.searches or ()] == ["Plovdiv", "rivers"]
    assert names(trace) == [["d4"], ["d3", "d1"]]
    assert [each.seconds for each in trace.searches or ()] == [0.5, 0.5]
    assert trace.calls == (ModelCall("m1", 30, 2, None, 0.25), ModelCall("m1", 70, 5, None, 0.25))
    assert (trace.answer, trace.seconds) == ("The Maritsa", 9)
    values = {name: column[1] for name, column in trace_values(QUESTIONS, {"q2": trace}).items()}
    assert values == {
        "searches": 2,
        "useless_searches": 0,
        "first_gold_search": 2,
        "evidence_recall": 1,
        "browsecomp_recall": 1,
        "evidence_recall_at_search@1": 0,
        "evidence_recall_at_search@2": 1,
        "evidence_recall_at_search@3": 1,
        "evidence_recall_at_search@5": 1,
        "calls": 2,
        "tokens": 107,
        "seconds": 9,
    }


def retriever(number: int, parent: str, *ids: str, **more: Any) -> dict[str, Any]:
    says = {"openinference.span.kind": "RETRIEVER", "input.value": f"query {number}"}
    for place, name in enumerate(ids):
        says[f"retrieval.documents.{place}.document.content"] = TEXTS[name]
        says[f"retrieval.documents.{place}.document.metadata"] = json.dumps({"source": name})
    return {"id": f"r{number}", "parent": parent, "at": (number, number + 1), "says": says, **more}


ROOT_SPAN = {
    "id": "a",
    "at": (0, 9),
    "says": {
        "openinference.span.kind": "AGENT",
        "input.value": json.dumps({"question": "Where do roses grow?"}),
        "output.value": json.dumps({"answer": "Kazanlak"}),
        "session.id": "mine",
        "user.secret": "x",
    },
}


def test_a_retriever_within_another_is_the_same_search_and_a_reranker_orders(atlas: Path) -> None:
    reranked = {"openinference.span.kind": "RERANKER"}
    reranked |= {"reranker.output_documents.0.document.content": TEXTS["d4"]}
    reranked |= {"reranker.output_documents.0.document.metadata": json.dumps({"source": "d4"})}
    spans = [
        ROOT_SPAN,
        retriever(1, "a", "d1", "d4"),
        retriever(2, "r1", "d1"),
        {"id": "x", "parent": "a", "at": (3, 4), "says": reranked},
    ]
    file = atlas.parent / "agent.json"
    write_json(file, otlp(*spans))
    (trace,) = imported(atlas, file)["q3"]
    assert names(trace) == [["d4", "d1"]]


def test_what_was_not_recorded_is_undefined_and_counted(
    atlas: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hidden = retriever(1, "a", cut=True)
    file = atlas.parent / "agent.json"
    write_json(file, otlp(ROOT_SPAN, hidden))
    (trace,) = imported(atlas, file, "--drop", "user.")["q3"]
    assert trace.searches is None
    assert "1 traces do not say what a search found" in capsys.readouterr().err.splitlines()
    values = trace_values(QUESTIONS, {"q3": trace})
    # A question without a trace found nothing; one whose searches are not known may have.
    assert [*values["evidence_recall"][:2]] == [0, 0]
    assert math.isnan(values["evidence_recall"][2])
    assert "user.secret" not in (atlas.parent / "agent.traces.jsonl").read_text("utf-8")


def test_a_trace_names_its_question_by_an_attribute_and_repeats_are_kept(
    atlas: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spans = []
    for number, name in enumerate(["q1", "q1", "q9"]):
        says = {**ROOT_SPAN["says"], "my.id": name, "input.value": "anything"}  # type: ignore[dict-item]
        own = f"t{number}"
        spans.append({**ROOT_SPAN, "trace": own, "says": says})
        spans.append(retriever(1, "a", "d2" if number else "d1", trace=own))
    file = atlas.parent / "agent.json"
    # As a collector writes it: one batch a line.
    file.write_text("".join(json.dumps(otlp(*spans[n : n + 2])) + "\n" for n in (0, 2, 4)))
    found = imported(atlas, file, "--id", "my.id")
    assert [names(trace) for trace in found["q1"]] == [[["d1"]], [["d2"]]]
    assert "1 traces of no question, such as 'q9'" in capsys.readouterr().err
    first, second = repeats_of(read_traces(atlas.parent / "agent.traces.jsonl"))
    assert (names(first["q1"]), names(second["q1"])) == ([["d1"]], [["d2"]])


LANGFUSE = {
    "id": "t1",
    "name": "agent",
    "input": {"question": "What is the capital of Bulgaria?"},
    "output": "Sofia",
    "observations": [
        {
            "id": "o1",
            "type": "RETRIEVER",
            "name": "search",
            "startTime": "2026-11-01T10:00:00.000Z",
            "endTime": "2026-11-01T10:00:00.500Z",
            "input": "capital",
            "output": [{"page_content": TEXTS["d2"], "metadata": {"source": "d2"}}],
        },
        {
            "id": "o2",
            "type": "GENERATION",
            "parentObservationId": None,
            "model": "m2",
            "startTime": "2026-11-01T10:00:01Z",
            "endTime": "2026-11-01T10:00:03Z",
            "usageDetails": {"input": 11, "output": 4},
            "calculatedTotalCost": 0.25,
        },
    ],
}
PHOENIX: list[dict[str, Any]] = [
    {
        "name": "agent",
        "span_kind": "CHAIN",
        "parent_id": None,
        "start_time": "2026-11-01T10:00:00+00:00",
        "end_time": "2026-11-01T10:00:04+00:00",
        "context.trace_id": "t1",
        "context.span_id": "a",
        "attributes.input.value": "What is the capital of Bulgaria?",
        "attributes.output.value": "Sofia",
    },
    {
        "name": "search",
        "span_kind": "RETRIEVER",
        "parent_id": "a",
        "start_time": "2026-11-01T10:00:01+00:00",
        "end_time": "2026-11-01T10:00:01.500+00:00",
        "context.trace_id": "t1",
        "context.span_id": "b",
        "attributes.input.value": "capital",
        "attributes.retrieval.documents": [
            {"document.content": TEXTS["d2"], "document.metadata": {"source": "d2"}}
        ],
    },
    {
        "name": "model",
        "span_kind": "LLM",
        "parent_id": "a",
        "start_time": "2026-11-01T10:00:02+00:00",
        "end_time": "2026-11-01T10:00:04+00:00",
        "context.trace_id": "t1",
        "context.span_id": "c",
        "attributes.llm.model_name": "m2",
        "attributes.llm.token_count.prompt": 11,
        "attributes.llm.token_count.completion": 4,
        "attributes.llm.cost.total": 0.25,
    },
]


@pytest.mark.parametrize("form", ["langfuse.json", "data.json", "phoenix.json", "phoenix.parquet"])
def test_exports_of_observability_platforms_say_the_same(form: str, atlas: Path) -> None:
    file = atlas.parent / form
    if form == "phoenix.parquet":
        times = {"start_time": "datetime64[ns, UTC]", "end_time": "datetime64[ns, UTC]"}
        pd.DataFrame(PHOENIX).astype(times).to_parquet(file)
    else:
        forms = {"langfuse.json": [LANGFUSE], "data.json": {"data": LANGFUSE}}
        write_json(file, forms.get(form, PHOENIX))
    (trace,) = imported(atlas, file)["q1"]
    assert names(trace) == [["d2"]]
    (search,) = trace.searches or ()
    assert (search.query, search.seconds, trace.answer) == ("capital", 0.5, "Sofia")
    assert trace.calls == (ModelCall("m2", 11, 4, 0.25, 2),)


def test_a_file_of_lines_is_read_in_a_stream(atlas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = atlas.parent / "phoenix.jsonl"
    rows = [{**row, "attributes.note": "x" * 90_000} for row in PHOENIX]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    monkeypatch.setattr(intake, "WHOLE_BYTES", 100_000)
    (trace,) = imported(atlas, file)["q1"]
    assert (names(trace), trace.answer) == ([["d2"]], "Sofia")


def as_spans(rows: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        span for each in rows["resourceSpans"] for s in each["scopeSpans"] for span in s["spans"]
    ]


def langsmith(span: dict[str, Any]) -> dict[str, Any]:
    """A run of LangSmith, from a span of OTLP."""
    says = {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}
    kinds = {"invoke_agent": "chain", "execute_tool": "tool", "chat": "llm"}
    times = [int(span[f"{name}TimeUnixNano"]) / 1e9 for name in ("start", "end")]
    start, end = (datetime.fromtimestamp(each, UTC).isoformat() for each in times)
    given = says.get("gen_ai.input.messages", says.get("gen_ai.tool.call.arguments", "{}"))
    found = says.get("gen_ai.output.messages", says.get("gen_ai.tool.call.result", "{}"))
    return {
        **{"id": span["spanId"], "trace_id": span["traceId"]},
        **{"parent_run_id": span["parentSpanId"] or None},
        **{"run_type": kinds[says["gen_ai.operation.name"]]},
        **{"name": says.get("gen_ai.tool.name", "step"), "start_time": start, "end_time": end},
        **{"inputs": {"input": json.loads(given)}, "outputs": {"output": json.loads(found)}},
        "extra": {"metadata": {"ls_model_name": says.get("gen_ai.request.model")}},
        "prompt_tokens": int(says.get("gen_ai.usage.input_tokens", 0)),
        "completion_tokens": int(says.get("gen_ai.usage.output_tokens", 0)),
    }


def mlflow(span: dict[str, Any]) -> dict[str, Any]:
    """A span of MLflow, whose attributes are JSON."""
    run = langsmith(span)
    usage = {"input_tokens": run["prompt_tokens"], "output_tokens": run["completion_tokens"]}
    kinds = {"chain": "AGENT", "tool": "TOOL", "llm": "CHAT_MODEL"}
    says = {
        "mlflow.spanType": kinds[run["run_type"]],
        "mlflow.spanInputs": run["inputs"],
        "mlflow.spanOutputs": run["outputs"],
        "mlflow.chat.tokenUsage": usage,
        "mlflow.llm.model": "m1",
    }
    return {
        **{"trace_id": span["traceId"], "span_id": span["spanId"], "name": run["name"]},
        "parent_span_id": span["parentSpanId"] or None,
        "start_time_unix_nano": int(span["startTimeUnixNano"]),
        "end_time_unix_nano": int(span["endTimeUnixNano"]),
        "attributes": {name: json.dumps(value) for name, value in says.items()},
    }


def jaeger(span: dict[str, Any]) -> dict[str, Any]:
    parent = span["parentSpanId"]
    start, end = (int(span[f"{name}TimeUnixNano"]) // 1000 for name in ("start", "end"))
    return {
        **{"traceID": span["traceId"], "spanID": span["spanId"], "operationName": span["name"]},
        "references": [{"refType": "CHILD_OF", "spanID": parent}] if parent else [],
        **{"startTime": start, "duration": end - start},
        "tags": [
            {"key": each["key"], "value": next(iter(each["value"].values()))}
            if "intValue" not in each["value"]
            else {"key": each["key"], "value": int(each["value"]["intValue"])}
            for each in span["attributes"]
        ],
    }


def snake(value: Any) -> Any:
    """OTLP with the names that Python's protobuf has for its fields."""
    if isinstance(value, list):
        return [snake(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {re.sub("([A-Z])", r"_\1", name).lower(): snake(part) for name, part in value.items()}


def in_form(form: str, spans: dict[str, Any]) -> str:
    rows = as_spans(spans)
    if form == "langsmith":
        return "".join(json.dumps(langsmith(span)) + "\n" for span in rows)
    forms: dict[str, dict[str, Any]] = {
        "mlflow": {"info": {"trace_id": "t1"}, "data": {"spans": list(map(mlflow, rows))}},
        "jaeger": {"data": [{"traceID": "t1", "spans": list(map(jaeger, rows))}]},
        "tempo": {"batches": spans["resourceSpans"]},
        "tempo trace": {"trace": spans},
        "protobuf": snake(spans),
    }
    return json.dumps(forms[form])


@pytest.mark.parametrize(
    "form", ["langsmith", "mlflow", "jaeger", "tempo", "tempo trace", "protobuf"]
)
def test_other_platforms_say_the_same(form: str, atlas: Path) -> None:
    spans = [chat(3, 70, 5), tool(2, "rivers", "d3", "d1"), tool(1, "Plovdiv", "d4"), AGENT]
    file = atlas.parent / f"{form.split()[0]}.json.gz"
    file.write_bytes(gzip.compress(in_form(form, otlp(*spans)).encode()))
    (trace,) = imported(atlas, file)["q2"]
    assert [each.query for each in trace.searches or ()] == ["Plovdiv", "rivers"]
    assert names(trace) == [["d4"], ["d3", "d1"]]
    assert [(c.input_tokens, c.output_tokens, c.seconds) for c in trace.calls] == [(70, 5, 0.25)]
    assert (trace.answer, trace.seconds) == ("The Maritsa", 9)


WRAPPED = [
    "{}",
    "New task:\n{}",
    "Question: {}\n\nAnswer briefly.",
    "You are helpful.\n\n{}\n",
    '{{"task": "{}"}}',
    '{{"args": ["{}"], "kwargs": {{}}}}',
    '[{{"role": "system", "content": "Answer."}}, {{"role": "user", "content": "{}"}}]',
    '{{"messages": [[{{"kwargs": {{"type": "human", "content": "{}"}}}}]]}}',
    "({{'input': '{}', 'chat_history': []}},)",
]
LAYOUTS: dict[str, Callable[[str], tuple[dict[str, str], dict[str, str]]]] = {
    "root": lambda text: ({"input.value": text}, {}),
    "other name": lambda text: ({"app.request.body": text}, {}),
    "message": lambda text: (
        {},
        {"llm.input_messages.0.message.role": "system", "llm.input_messages.0.message.content": "A",
         "llm.input_messages.1.message.role": "user",
         "llm.input_messages.1.message.contents.0.message_content.type": "text",
         "llm.input_messages.1.message.contents.0.message_content.text": text},
    ),
    "prompt": lambda text: ({}, {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": text}),
    "messages": lambda text: ({}, {"gen_ai.input.messages": message("user", text)}),
}  # fmt: skip
OUTPUTS: dict[str, Callable[[list[str]], str]] = {
    "ids": lambda ids: json.dumps(ids),
    "objects": lambda ids: json.dumps({"results": [{"doc_id": name} for name in ids]}),
    "texts": lambda ids: json.dumps([TEXTS[name] for name in ids]),
    "other names": lambda ids: json.dumps([{"hit": {"ref": name, "rank": 1}} for name in ids]),
    "other texts": lambda ids: json.dumps([{"body": TEXTS[name], "lang": "en"} for name in ids]),
    "markdown": lambda ids: "\n\n".join(f"### Result\n{TEXTS[name]}" for name in ids),
    "listed": lambda ids: "\n".join(f"{n}. {TEXTS[name]}" for n, name in enumerate(ids, 1)),
}


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(WRAPPED),
    st.sampled_from(sorted(LAYOUTS)),
    st.sampled_from(sorted(OUTPUTS)),
    st.permutations(range(8)),
    st.integers(1, 8),
)
def test_spans_are_one_trace_wherever_they_are_and_the_question_is_found(
    atlas: Path, wrapped: str, layout: str, output: str, order: list[int], files: int
) -> None:
    spans = []
    for number, question in enumerate(QUESTIONS[:2]):
        at, asked = 10 * number, wrapped.format(question.question)
        root, call = LAYOUTS[layout](asked)
        own = f"t{number}"
        agent = {
            "id": "a",
            "at": (at, at + 9),
            "says": {"openinference.span.kind": "AGENT", **root},
        }
        kind = {"openinference.span.kind": "LLM", "llm.model_name": "m"}
        model = {"id": "m", "parent": "a", "at": (at + 1, at + 2), "says": {**kind, **call}}
        says = {"openinference.span.kind": "TOOL", "tool.name": "lookup", "input.value": "Sofia"}
        says["output.value"] = OUTPUTS[output](["d3", "d2"])
        search = {"id": "s", "parent": "a", "at": (at + 3, at + 4), "says": says}
        said = {**kind, "output.value": f"Answer {number}"}
        last = {"id": "z", "parent": "a", "at": (at + 5, at + 6), "says": said}
        spans += [{**each, "trace": own} for each in (agent, model, search, last)]
    folder = atlas.parent / "batches"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for place, which in enumerate(order):
        with (folder / f"{place % files}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(otlp(spans[which])) + "\n")
    found = imported(atlas, folder)
    assert sorted(found) == ["q1", "q2"]
    for number, key in enumerate(sorted(found)):
        (trace,) = found[key]
        assert names(trace) == [["d3", "d2"]]
        assert trace.answer == f"Answer {number}"
        assert len(trace.calls) == 2


def test_a_question_is_not_taken_for_another_one_around_it(atlas: Path) -> None:
    asked = "Which river passes Plovdiv? And which one passes Sofia, and why is it so?"
    root = {**ROOT_SPAN, "says": {"input.value": "Where do roses grow in winter?"}}
    both = {**ROOT_SPAN, "trace": "t2", "id": "b"}
    both["says"] = {"input.value": " ".join(each.question for each in QUESTIONS[:2])}
    part = {**ROOT_SPAN, "trace": "t3", "id": "c", "says": {"input.value": asked}}
    file = atlas.parent / "agent.jsonl"
    file.write_text("\n".join(json.dumps(otlp(each)) for each in (root, both, part)))
    assert list(imported(atlas, file)) == ["q2"]


@pytest.mark.parametrize("package", ["pydantic-ai", "openai-agents", "smolagents"])
def test_traces_of_public_agents_are_what_their_searches_were(
    package: str, shared_data: Path, workspace: Workspace
) -> None:
    doors, mini_records = shared_data / "doors/traces", workspace.root / "data/mini/translated"
    truth = json.loads((doors / f"{package}.truth.json").read_text("utf-8"))
    found = imported(mini_records, doors / f"{package}.otlp.jsonl")
    searches = {key: traces[0].searches or () for key, traces in found.items()}
    assert {
        key: [[s.query, [hit.chunk.doc_id for hit in s.passages]] for s in own]
        for key, own in searches.items()
    } == truth
    assert all(len(traces) == 1 for traces in found.values())


def browsecomp(query: str, status: str, text: str, *found: list[str]) -> dict[str, Any]:
    calls = [
        {
            "type": "tool_call",
            "tool_name": "local_knowledge_base_retrieval",
            "arguments": json.dumps({"user_query": "x"}),
            "output": json.dumps([{"docid": name, "snippet": "…"} for name in names_]),
        }
        for names_ in found
    ]
    said = [{"type": "output_text", "tool_name": None, "arguments": None, "output": text}]
    return {
        "query_id": query,
        "tool_call_counts": {"search": len(found)},
        "status": status,
        "retrieved_docids": sorted({name for names_ in found for name in names_}),
        "result": [*calls, *(said if text else [])],
    }


def test_run_files_of_browsecomp_plus_give_the_values_of_its_program(tmp_path: Path) -> None:
    """Values by hand from the rules of its evaluate_run.py: recall, citations, confidence."""
    folder = tmp_path / "atlas"
    folder.mkdir()
    gold = {"1": ("10", "11"), "2": ("20",), "3": ("30", "31")}
    asked = [Question(q, f"Question {q}?", "x", ids, "b", "ad-hoc") for q, ids in gold.items()]
    write_records(folder / "queries.json", asked)
    ids = ["10", "11", "20", "30", "31", "90"]
    pool = [Document(name, f"Page {name}.", "b", name, True) for name in ids]
    write_records(folder / "corpus.json", pool)
    write_json(folder / "sidecar.json", {"language": "en"})
    runs = tmp_path / "runs"
    runs.mkdir()
    told = "It is x [10]【11, 90】.\nConfidence: 85%"
    for number, run in enumerate(
        [
            browsecomp("1", "completed", told, ["10", "90"], ["11"]),
            browsecomp("2", "incomplete", "half", ["90"], ["90"]),
            browsecomp("3", "completed", "No idea", ["30"]),
        ]
    ):
        write_json(runs / f"run_{number}.json", run)
    found = {key: each[0] for key, each in imported(folder, runs).items()}
    assert (found["1"].confidence, found["2"].answer, found["3"].evidence) == (0.85, None, ())
    values = trace_values(asked, found)
    assert values["evidence_recall"].tolist() == [1, 0, 0.5]
    assert values["searches"].tolist() == [2, 2, 1]
    assert values["useless_searches"].tolist() == [0, 1, 0]
    assert values["cited_recall"].tolist() == [1, 0, 0]
    assert values["cited_precision"][0] == pytest.approx(2 / 3)
    assert np.isnan(values["cited_precision"][1:]).all()


def test_the_costs_of_a_file_of_traces_are_those_that_it_states(atlas: Path) -> None:
    spent = {"q1": (2.0, 0.25), "q2": (4.0, 0.75)}
    file = atlas.parent / "agent.traces.jsonl"
    traces = [
        Trace(question_id=key, calls=(ModelCall("m", 1, 1, usd),), seconds=seconds)
        for key, (seconds, usd) in spent.items()
    ]
    write_traces(file, traces)
    costs = system_of_traces(file, records_of("mini", atlas, unattested=True)).costs
    # A thousand questions for half a dollar each; 95 % of the way from 2 to 4 seconds.
    assert (costs.p50_ms, costs.p95_ms, costs.usd) == (3000, 3900, (500, 500))


def test_an_agent_is_compared_with_the_retriever_beside_it(
    atlas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records, run = records_of("mini", atlas, unattested=True), tmp_path / "bm25.trec"
    monkeypatch.chdir(tmp_path)
    # The river's other document is not found, and nothing is found for the roses.
    found = {"q1": ("d3", "d2"), "q2": ("d1", "d4")}
    with run_writer(run, "bm25") as to_run:
        for key, doc_ids in found.items():
            to_run(key, in_order(doc_ids))
    timing = {"run_sha256": sha256_of(run), "load_s": 1, "seconds_per_question": 1}
    by_question = {"stages_ms": {}, "seconds_by_question": {"q2": 0.25}}
    kept = kept_timing(sha256_of(run))
    kept.parent.mkdir(parents=True)
    write_json(kept, {**timing, **by_question})
    searches = (Search("river", (hit("d3"),)), Search("Plovdiv", (hit("d1"), hit("d3"))))
    path = tmp_path / "agent.traces.jsonl"
    write_traces(path, [Trace(question_id="q2", searches=searches, seconds=4.0)])
    ranking, agent = system_ranking(run, records), system_of_traces(path, records)
    # Two retrievers alone are compared as before.
    assert with_searches([ranking]) == [ranking]
    both = with_searches([ranking, agent])
    assert both[1] is agent
    values = both[0].values
    assert values[ranking.values.columns].equals(ranking.values)
    known = {name: column.dropna().to_dict() for name, column in values.items()}
    recalls = {"q1": 1, "q2": 0.5, "q3": 0}
    assert known["evidence_recall"] == known["evidence_recall_at_search@3"] == recalls
    assert known["first_gold_search"] == known["searches"] == {"q1": 1, "q2": 1}
    assert known["seconds"] == {"q2": 0.25}
    # A file does not say what it cost.
    assert "usd" not in values
    (free,) = with_searches([replace(ranking, costing=lambda: Costs(usd=(0, 0)))], ["usd"])
    assert free.values["usd"].tolist() == [0, 0, 0]
    (estimate,) = with_searches([replace(ranking, costing=lambda: Costs(usd=(1, 2)))], ["usd"])
    assert "usd" not in estimate.values
    names = ("evidence_recall", "searches", "first_gold_search", "seconds")
    result = compare(both, names)
    assert [pair["difference"] for pair in result["pairs"]] == [
        pytest.approx((1 + 0.5 + 0) / 3 - (0 + 1 + 0) / 3),
        *(1 - 2, 1 - 1, 0.25 - 4),
    ]
    # Values alone say nothing of searches.
    alone = System("values", "", ranking.values)
    assert with_searches([alone, agent])[0] is alone


EVILS = {
    "not a trace": '{"a": 1}',
    "a text": '"spans"',
    "a number for spans": '{"resourceSpans": 5}',
    "spans without ids": json.dumps(otlp(ROOT_SPAN)).replace('"traceId"', '"x"'),
    "times that are words": json.dumps(otlp(ROOT_SPAN)).replace('"9000000000"', '"soon"'),
    "an observation without an id": '[{"traceId": "t", "type": "SPAN"}]',
    "a run without a result": '{"query_id": "1", "retrieved_docids": []}',
    "neither JSON nor protobuf": "hello",
    "deep": '{"resourceSpans": ' + "[" * 300,
}


@pytest.mark.parametrize("evil", EVILS)
def test_a_malformed_file_of_traces_is_refused_in_a_sentence(evil: str, tmp_path: Path) -> None:
    file = tmp_path / "evil.json"
    file.write_text(EVILS[evil])
    # A file that is not JSON may be protobuf, which takes a package that is not here.
    with pytest.raises(BearsError, match=r"evil\.json"):
        read_recorded([file], PassageMatcher({}))


def test_only_the_attribute_that_is_named_names_the_question(atlas: Path) -> None:
    own = {**ROOT_SPAN, "says": {**ROOT_SPAN["says"], "query_id": "7"}}  # type: ignore[dict-item]
    file = atlas.parent / "agent.json"
    write_json(file, otlp(own, retriever(1, "a", "d4")))
    assert list(imported(atlas, file)) == ["q3"]


def test_spans_within_themselves_end(atlas: Path) -> None:
    around = [{**ROOT_SPAN, "parent": "b"}, {**retriever(1, "a", "d4"), "id": "b"}]
    file = atlas.parent / "agent.json"
    write_json(file, otlp(*around))
    ([found], _) = read_recorded([file], PassageMatcher({}))
    assert found.asked[0] == ("Where do roses grow?",)


def system(name: str, searches: list[float]) -> Measured:
    ids = pd.Index([f"q{n:02}" for n in range(len(searches))], name="question_id")
    return Measured(name, "", pd.DataFrame({"searches": searches}, index=ids))


def test_fewer_searches_are_better() -> None:
    few, many = [1.0, 2.0] * 15, [4.0, 5.0] * 15
    result = compare([system("few", few), system("many", many)])
    (pair,) = result["pairs"]
    assert (pair["difference"], pair["verdict"]) == (-3, "few better")
    assert pair["low"] <= -3 <= pair["high"] < 0
    ranks = {each["name"]: each["measures"]["searches"]["rank"] for each in result["systems"]}
    assert ranks == {"few": [1, 1], "many": [2, 2]}
    assert (len(result["moved"]["a_better"]), len(result["moved"]["b_better"])) == (30, 0)
    for candidate, base, verdict in ((many, few, "worse"), (few, many, "no significant loss")):
        gate = judged([system("new", candidate), system("old", base)], ["searches"])
        assert gate["pairs"][0]["verdict"] == verdict


AGENTS = {
    "LangChain": (
        agents.LANGCHAIN,
        ("langchain-core==1.8.3", "openinference-instrumentation-langchain==0.1.80"),
        ["traces.json", "traces.pb"],
    ),
    "LlamaIndex": (
        agents.LLAMA_INDEX,
        ("llama-index-core==0.14.25", "openinference-instrumentation-llama-index==4.6.1"),
        ["traces.json", "traces.pb"],
    ),
    "Inspect": (agents.INSPECT, ("inspect-ai==0.3.285",), ["."]),
}
ENCODING = ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-common")


@pytest.mark.slow
@pytest.mark.parametrize("package", AGENTS)
def test_traces_that_agents_of_real_packages_leave_are_read(
    package: str, tmp_path: Path, workspace: Workspace
) -> None:
    program, needed, written = AGENTS[package]
    out = tmp_path / "out"
    out.mkdir()
    python = python_with(tmp_path / "environment", *needed, *ENCODING)
    folder = workspace.root / "data/mini/translated"
    words = [str(python), "-c", program, str(folder), str(out)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # Inspect's own package reads its logs, and OpenTelemetry's the protobuf; ours come first.
    packages = str(next(tmp_path.glob("environment/lib/*/site-packages")))
    texts = {
        row["doc_id"]: row["content"] for row in json.loads((folder / "corpus.json").read_text())
    }
    asked = json.loads((folder / "queries.json").read_text())[:5]
    for name in written:
        command = [sys.executable, "-c", IMPORT.format(packages=packages)]
        command += ["traces", "import", str(out / name), "--search-tool", "search"]
        workspace.run(*command, "--out", "agent.traces.jsonl")
        traces = {
            each.question_id: each for each in read_traces(workspace.root / "agent.traces.jsonl")
        }
        assert traces.keys() == {question["question_id"] for question in asked}
        for question in asked:
            trace = traces[question["question_id"]]
            words_ = set(question["question"])
            best = sorted(texts, key=lambda i: (-len(words_ & set(texts[i])), i))[:3]
            assert names(trace)[0] == best
            assert (trace.searches or ())[0].query == question["question"]
            assert len(trace.searches or ()) == (2 if package == "LangChain" else 1)
            assert trace.answer
            tokens = [(call.input_tokens, call.output_tokens) for call in trace.calls]
            calls = {"LangChain": [(12, 3)], "Inspect": [(12, 3)] * 2, "LlamaIndex": [(None, None)]}
            assert tokens == calls[package]
    compared = workspace.python("bears", "compare", "agent.traces.jsonl", "workspace")
    assert "5 questions" in compared or "18 questions" in compared
    assert "2 systems on mini" in workspace.python("bears", "report", "agent.traces.jsonl", "HEAD")


IMPORT = """
import sys
sys.path.append({packages!r})
from bears.cli import main
sys.exit(main())
"""
"""Our program, with the packages of an environment after ours."""


def hit(name: str) -> ChunkHit:
    return ChunkHit(Chunk(name), 0.0)


def test_without_a_generator_there_are_no_traces(tmp_path: Path) -> None:
    (tmp_path / "bm25.none.jsonl").write_text("\n")
    assert list(read_traces(tmp_path / "bm25.none.jsonl")) == []


def test_values_of_traces_are_means_of_repeats_with_pass_at_k_on_exact_matches(
    atlas: Path,
) -> None:
    said = {"q1": ["Sofia", "Varna", "Sofia"], "q2": ["Maritsa", "Struma", "Struma"]}
    traces = [
        Trace(question_id=q, searches=(Search("", (hit("d2"),)),), answer=own[at])
        for at in range(3)
        for q, own in said.items()
    ]
    path = atlas.parent / "agent.traces.jsonl"
    write_traces(path, traces)
    found = system_of_traces(path, records_of("mini", atlas))
    assert found.what == "traces, 3 repeats"
    values = found.values.round(6)
    assert values["exact_match"].tolist() == [0.666667, 0.333333, 0]
    # At least one of two of three is right, and both are; a question without a trace is wrong.
    assert values["pass@2"].tolist() == [1, 0.666667, 0]
    assert values["pass^2"].tolist() == [0.333333, 0, 0]
    assert values["evidence_recall"].tolist() == [1, 0, 0]
    assert "of the uncertainty of exact_match is in the questions" in note(
        found.repeated, "exact_match"
    )


def test_judged_answers_of_an_agent_have_the_measures_of_its_traces(atlas: Path) -> None:
    searches = (Search("capital", (hit("d9"),)), Search("Bulgaria", (hit("d9"), hit("d2"))))
    path, table = atlas.parent / "agent.jsonl", atlas.parent / "agent.csv"
    found = Trace(question_id="q1", searches=searches, answer="Sofia")
    write_traces(path, [found, Trace(question_id="q2", answer="", error="timeout")])
    paths = {"answers": path, "corpus": atlas / "corpus.json"}
    rows = read_unjudged(QUESTIONS, paths, "en")
    write_judged(table, rows)
    values, _ = read_values(table, chosen=OF_ANSWERS)
    # A failed question and one without an answer found nothing, in an unknown number of searches.
    assert values["evidence_recall"].tolist() == [1, 0, 0]
    assert values["evidence_recall_at_search@1"].tolist() == [0, 0, 0]
    assert values["searches"].dropna().to_dict() == {"q1": 2}
    assert results_of(rows)["all"]["evidence_recall"] == pytest.approx(1 / 3, abs=1e-5)


def test_the_ranking_of_a_trace_is_the_order_of_first_sight() -> None:
    found = (Search("a", (hit("d2"), hit("d1"))), Search("b", (hit("d1"), hit("d3"))))
    trace = Trace(question_id="q", searches=found)
    assert [each.doc_id for each in trace.ranking] == ["d2", "d1", "d3"]
    assert trace.retrieved == frozenset({"d1", "d2", "d3"})


@pytest.mark.parametrize("where", ["the root", "a model", "earlier traces are not there"])
def test_a_trace_is_of_the_turn_whose_earlier_turns_it_has(atlas: Path, where: str) -> None:
    """The same words end three conversations; one trace has another conversation before them."""
    talks = [("What is the capital?", "Sofia"), ("Which is the highest range?", "Rila")]
    last = "And where is it?"
    asked = [Question("q0", last, "", ("d1",), "atlas", "single-hop")]
    for number, (question, answer) in enumerate(talks, start=1):
        turns = Turn("user", question), Turn("assistant", answer)
        one = Question(f"q{number}", last, "", (f"d{number}",), "atlas", "single-hop", turns=turns)
        asked.append(one)
    write_records(atlas / "queries.json", asked)
    spans = []
    for number in range(3):
        said = [*talks[number - 1], last] if number else [last]
        if where.startswith("earlier"):
            said = [last]
        roles = ["user", "assistant", "user"][-len(said) :]
        messages = json.dumps([{"role": r, "content": s} for r, s in zip(roles, said, strict=True)])
        root: dict[str, Any] = {"id": f"a{number}", "at": (0, 9), "trace": f"t{number}", "says": {}}
        call = {**root, "id": f"c{number}", "parent": f"a{number}"}
        says = {"openinference.span.kind": "LLM", "llm.model_name": "m"}
        if where == "the root":
            spans.append(
                {**root, "says": {"input.value": json.dumps({"messages": json.loads(messages)})}}
            )
        else:
            spans += [root, {**call, "says": {**says, "input.value": messages}}]
    file = atlas.parent / "agent.json"
    write_json(file, otlp(*spans))
    found = imported(atlas, file)
    counts = {name: len(traces) for name, traces in found.items()}
    assert counts == ({"q0": 3} if where.startswith("earlier") else {"q0": 1, "q1": 1, "q2": 1})
