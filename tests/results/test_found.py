"""What tools find, in the forms that they return it in, and traces of real packages."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bears.results.recorded import passages_in
from bears.results.recorded_files import read_recorded
from bears.retrieval.outside.matching import PassageMatcher

RECORDED = Path(__file__).parent / "recorded"
TEXTS = {
    "guarantee.md": "# Guarantee\nThe guarantee is two years from the day of purchase. Keep the "
    "receipt. It is void if the seal of the pump is broken.\n",
    "repairs.md": "# Repairs\nRepairs are done by the dealer who sold the pump. A repair takes ten "
    "working days. Spare parts are sent to the dealer by courier.\n",
    "cleaning.md": "# Cleaning\nClean the filter of the pump every three months with warm water. "
    "Never use vinegar or alcohol on the membrane.\n",
}
Form = Callable[[Any], Any]

ITEMS: dict[str, Callable[[str], Any]] = {
    "named": lambda name: {"id": f"chunk-{len(name)}", "source": name, "content": TEXTS[name]},
    "other names": lambda name: {"datei": name, "auszug": TEXTS[name].split("\n")[1], "rang": 0.5},
    "nested": lambda name: {"score": 1, "node": {"body": TEXTS[name], "info": {"file": name}}},
    "pair": lambda name: [name, TEXTS[name]],
    "text": lambda name: TEXTS[name].split("\n")[1],
    "printed metadata": lambda name: {
        "text": TEXTS[name],
        "metadata": json.dumps({"file_name": name}),
    },
}
LISTS: dict[str, Form] = {
    "list": lambda items: items,
    "results": lambda items: {"query": "pump", "took_ms": 3, "results": items, "next": None},
    "by rank": lambda items: {f"hit {n}": each for n, each in enumerate(items)},
    "Chroma": lambda items: {
        "ids": [[*range(len(items))]],
        "documents": [items],
        "distances": [[]],
    },
}
AROUND: dict[str, Form] = {
    "plain": lambda found: found,
    "JSON": json.dumps,
    "JSON in JSON": lambda found: json.dumps(json.dumps(found)),
    "parts": lambda found: json.dumps([{"type": "text", "text": json.dumps(found)}]),
    "message": lambda found: {
        "type": "tool",
        "data": {"content": json.dumps(found), "status": "success", "tool_call_id": "call_1"},
    },
}


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(sorted(ITEMS)),
    st.sampled_from(sorted(LISTS)),
    st.lists(st.sampled_from(sorted(AROUND)), max_size=2),
    st.lists(st.sampled_from(sorted(TEXTS)), min_size=2, max_size=3, unique=True),
)
def test_what_a_tool_finds_is_known_in_any_form(
    item: str, listed: str, around: list[str], found: list[str]
) -> None:
    output = LISTS[listed]([ITEMS[item](name) for name in found])
    for form in around:
        output = AROUND[form](output)
    matcher = PassageMatcher(TEXTS)
    passages = passages_in(output, matcher) or ()
    assert [chunk.doc_id for chunk in matcher.chunks(passages)] == found


def observed(name: str, parent: str | None, output: Any, kind: str = "SPAN") -> dict[str, Any]:
    """An observation of Langfuse, whose decorator makes plain spans of functions."""
    about = {"id": name, "traceId": "t", "parentObservationId": parent, "type": kind, "name": name}
    second = len(name)
    return about | {
        "input": {"args": ["How long is the guarantee?"]},
        "output": output,
        "startTime": f"2026-05-01T10:00:{second:02}Z",
        "endTime": f"2026-05-01T10:00:{second + 1:02}Z",
    }


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(sorted(ITEMS)),
    st.sampled_from(sorted({*LISTS} - {"by rank"})),
    st.lists(st.sampled_from(sorted(TEXTS)), min_size=2, max_size=3, unique=True),
    st.booleans(),
    st.sampled_from(["", "RETRIEVER", "TOOL"]),
)
def test_a_plain_span_searches_if_its_results_have_documents_and_nothing_else_searches(
    item: str, listed: str, found: list[str], alone: bool, beside: str
) -> None:
    results = LISTS[listed]([ITEMS[item](name) for name in found])
    said = [{"role": "user", "content": TEXTS["cleaning.md"]}]
    spans = [
        observed("ask", None, {"answer": "two years", "contexts": results, "messages": said}),
        observed("prompt", "ask", TEXTS["repairs.md"]),
        observed("history", "ask", said),
    ]
    if not alone:
        spans.append(observed("fetch", "ask", results))
    if beside:
        spans.append(observed("beside", "ask", [ITEMS["named"]("repairs.md")], beside))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "spans.jsonl"
        file.write_text("".join(f"{json.dumps(span)}\n" for span in spans), encoding="utf-8")
        matcher = PassageMatcher(TEXTS)
        (one,), searches = read_recorded([file], matcher)
    (step,) = one.reply.steps
    ids = [chunk.doc_id for chunk in matcher.chunks(step.passages or ())]
    assert ids == (["repairs.md"] if beside else found)
    plain = {"": {"ask" if alone else "fetch": 1}, "RETRIEVER": {}, "TOOL": {"beside": 1}}
    assert searches == plain[beside]
    assert (one.reply.answer, one.unread) == ("two years", ())


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["query", "user_message", "request.question", "payload.input.prompt", "Frage"]),
    st.sampled_from(
        ["answer", "bot_response", "response.text", "output.final.reply", "Antwort", "回答", "응답"]
    ),
    st.sampled_from(["sources", "retrieved", "response.context", "output.documents"]),
    st.sampled_from(sorted(ITEMS)),
    st.lists(st.sampled_from(sorted(TEXTS)), min_size=2, max_size=3, unique=True),
)
def test_a_row_of_a_programs_own_log_is_a_trace(
    asked: str, said: str, listed: str, item: str, found: list[str]
) -> None:
    question, answer = "How long is the guarantee of this pump?", "It is two years."
    row: dict[str, Any] = {"ts": "2026-05-01T10:00:00Z", "level": "INFO", "request_id": "a-17"}
    values = (question, answer, [ITEMS[item](name) for name in found])
    for name, value in zip((asked, said, listed), values, strict=True):
        *outer, last = name.split(".")
        into = row
        for each in outer:
            into = into.setdefault(each, {})
        into[last] = value
    with TemporaryDirectory() as folder:
        file = Path(folder) / "log.jsonl"
        file.write_text(2 * f"{json.dumps(row)}\n", encoding="utf-8")
        matcher = PassageMatcher(TEXTS)
        # Rows that say the same are two traces: the question was asked twice.
        (one, _), searches = read_recorded([file], matcher)
    assert (one.question, one.reply.answer, searches) == (question, answer, {"row": 2})
    assert one.start == datetime(2026, 5, 1, 10, tzinfo=UTC).timestamp()
    (step,) = one.reply.steps
    assert [chunk.doc_id for chunk in matcher.chunks(step.passages or ())] == found


@pytest.mark.parametrize("heading", ["### {}", "Source: {}", "[1] {}", "**{}**"])
def test_a_heading_that_names_a_document_is_no_passage_of_its_own(heading: str) -> None:
    text = "\n\n".join(f"{heading.format(name)}\n{TEXTS[name]}" for name in TEXTS)
    matcher = PassageMatcher(TEXTS)
    found = matcher.chunks(passages_in(text, matcher) or ())
    assert [(chunk.doc_id, chunk.end is None) for chunk in found] == [(n, False) for n in TEXTS]


@pytest.mark.parametrize(
    ("package", "tools", "found"),
    [
        ("haystack", {}, ["repairs.md", "guarantee.md"]),
        ("strands", {"search_manual": 1}, ["repairs.md", "cleaning.md"]),
        ("langgraph", {"lookup": 1}, ["repairs.md", "cleaning.md"]),
        ("ai-sdk", {"manual": 1}, ["repairs.md", "guarantee.md"]),
        # It records no span for its search.
        ("dspy", {}, []),
    ],
)
def test_traces_of_real_packages_are_read(
    package: str, tools: dict[str, int], found: list[str]
) -> None:
    """Each program searched these texts for one question, and a server on this machine answered.

    haystack-ai 3.4.1, langgraph 1.2.24 and dspy 3.4.1 with OpenInference; strands-agents 1.62.0;
    ai 6.0.326 of Vercel.
    """
    matcher = PassageMatcher(TEXTS)
    (trace,), searching = read_recorded([RECORDED / f"{package}.json"], matcher)
    assert trace.question == "Who repairs the pump?"
    # The server looks for a word, which the prompt of Haystack has.
    said = "It is two years [1]." if package == "haystack" else "The dealer does it [1]."
    assert (trace.reply.answer or "").strip() == said
    assert searching == tools
    assert [chunk.doc_id for chunk in matcher.chunks(trace.reply.passages)] == found
    assert [step.query for step in trace.reply.steps] == ["Who repairs the pump?"] * bool(found)


OBJECTS: dict[str, Callable[[list[dict[str, Any]]], dict[str, Any]]] = {
    " by key.json": lambda rows: {f"r{number}": row for number, row in enumerate(rows)},
    " in a list.json": lambda rows: {"exported": "2026-11-29", "total": 3, "entries": rows},
    " in an object.json": lambda rows: {"page": 1, "log": dict(zip(TEXTS, rows, strict=True))},
}
SHAPES: dict[str, Callable[[str], dict[str, Any]]] = {
    "a name": lambda name: {"source": name},
    "another name": lambda name: {"datei": f"docs/{name}", "rang": 1},
    "a list": lambda name: {"context": [TEXTS[name].split("\n")[1]]},
    "several names": lambda name: {"quellen": f"{name}; docs/{min(TEXTS)}"},
    "several lines": lambda name: {"quellen": f"{name}\n{min(TEXTS)}\n"},
    "nothing": lambda _: {"model": "gpt-4.1-mini", "user": "u7"},
}


@pytest.mark.parametrize("ending", [".jsonl", ".json", *OBJECTS, ".csv", ".tsv", ".csv.gz"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("answered", [True, False])
def test_a_log_says_what_was_found_or_that_it_is_not_known(
    tmp_path: Path, shape: str, ending: str, answered: bool
) -> None:
    rows = [
        {"zeit": f"2026-11-0{n}T10:00:00", "frage": f"What of {name.partition('.')[0]}?"}
        | ({"antwort": f"See the page {n}."} if answered else {})
        | SHAPES[shape](name)
        for n, name in enumerate(TEXTS, start=1)
    ]
    text = json.dumps(rows)
    if ending == ".jsonl":
        text = "\n".join(map(json.dumps, rows))
    elif ending in OBJECTS:
        text = json.dumps(OBJECTS[ending](rows), indent=1)
    elif ending != ".json":
        sign = "\t" if ending == ".tsv" else ","
        cells = [[c if isinstance(c, str) else json.dumps(c) for c in r.values()] for r in rows]
        lines = [[*rows[0]], *cells]
        table = StringIO()
        csv.writer(table, delimiter=sign).writerows(lines)
        text = table.getvalue()
    file = tmp_path / f"log{ending}"
    file.write_bytes(gzip.compress(text.encode()) if ending.endswith(".gz") else text.encode())
    matcher = PassageMatcher(TEXTS)
    found, _ = read_recorded([file], matcher)
    assert sorted(each.question for each in found) == [
        *("What of cleaning?", "What of guarantee?", "What of repairs?")
    ]
    for each in found:
        name = f"{each.question[8:-1]}.md"
        assert bool(each.reply.answer) == answered
        (step,) = each.reply.steps
        if shape == "nothing":
            assert step.passages is None
        else:
            several = dict.fromkeys([name, min(TEXTS)] if "several" in shape else [name])
            docs = [chunk.doc_id for chunk in matcher.chunks(step.passages or ())]
            assert [*dict.fromkeys(docs)] == [*several]
