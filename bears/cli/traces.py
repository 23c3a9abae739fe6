"""``bears traces``: measure systems by the traces that they leave."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bears.answers.outside import unread_marks
from bears.errors import FormatError
from bears.files.records import stream_documents
from bears.files.shown import complain
from bears.files.traces import write_traces
from bears.files.visible import one_line
from bears.layout import TRACED
from bears.results.drawn import trace_of
from bears.results.recorded import KnownQuestions
from bears.results.recorded_files import read_recorded
from bears.retrieval.outside.matching import PassageMatcher, matched
from bears.selection.configuration import composed, records_of, selected
from bears.trace import Trace


def import_traces(
    files: Sequence[Path],
    *,
    out: Path,
    benchmark: str = "",
    folder: Path | None = None,
    unattested: bool = False,
    id: str = "",
    search_tool: Sequence[str] = (),
    not_search: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> None:
    """Read what a system recorded, and write one trace for each question that it answered.

    Reads OTLP (JSON or protobuf) with the attributes of OpenInference or of OpenTelemetry's
    conventions for generative AI, exports of Phoenix, Langfuse, LangSmith, MLflow, Jaeger and
    Tempo, logs of Inspect, run files of BrowseComp-Plus, and logs with an object for each question;
    also as .gz. Spans of one trace may be on any lines of any files. A trace is of the question
    that the input of its root has, else the first message of a user, or that an attribute names by
    its question_id; several traces of one question are its repeats. A tool that finds documents of
    the benchmark is a search; without such a tool, so is another operation that does. `bears
    compare`, `bears gate` and `bears answers judge` take the file that it writes. Only searches,
    calls of models, the answer and the times are kept of what was recorded.

    Args:
        files: files, or folders of them
        out: the file to write, such as agent.traces.jsonl
        benchmark: its records must be in data/
        id: the attribute with the question_id
        search_tool: a tool, or another operation, whose calls are searches, whatever they find; may
            be given repeatedly
        not_search: a tool whose calls are not searches; may be given repeatedly
        drop: an attribute that is not read, or the beginning of its name; may be given repeatedly
    """
    if not benchmark and not folder:
        benchmark = selected(composed()).benchmark.name
    records = records_of(benchmark, folder, unattested)
    if not out.name.endswith(TRACED):
        raise FormatError(f"--out is {out}; expected a name that ends in {TRACED}")
    documents = {each.doc_id: each.content for each in stream_documents(records.corpus)}
    matcher, questions = PassageMatcher(documents), KnownQuestions(records.questions)
    known = {question.question_id for question in records.questions}
    every, tools = read_recorded(files, matcher, search_tool, not_search, drop, id)
    traces, lost, unread, counts = list[Trace](), list[str](), list[str](), Counter[str]()
    for each in every:
        key = each.question_id or each.named or questions.find(each)
        if key not in known:
            lost.append(key or next((text for group in each.asked for text in group if text), ""))
            continue
        trace, marks = trace_of(key, each, matcher)
        unread += marks
        found_chunks = [hit.chunk for search in trace.searches or () for hit in search.passages]
        lacking = sum(not matched(chunk) for chunk in found_chunks)
        counts["passages match no document, or several"] += lacking
        counts["traces do not say what a search found"] += trace.searches is None
        counts["traces have no answer"] += trace.answer is None
        for tool in each.unread:
            counts[f"traces call {tool}; if it searches: --search-tool"] += 1
        traces.append(trace)
    if not traces:
        raise FormatError(
            f"none of {len(lost)} traces is of a question of {records.benchmark.name}; name "
            "the attribute with the question_id: --id NAME"
        )
    write_traces(out, sorted(traces, key=lambda trace: trace.question_id))
    asked = {trace.question_id for trace in traces}
    if lost:
        complain(f"{len(lost)} traces of no question, such as {one_line(lost[0])!r:.80}")
    print(f"{len(traces)} traces of {len(asked)} of {len(records.questions)} questions: {out}")
    for tool, calls in tools.items():
        why = f"{calls} calls that found documents" if calls else "as --search-tool says"
        print(f"{tool} is a search: {why}; otherwise: --not-search {tool}")
    if unread:
        complain(unread_marks(unread))
    if not any(trace.searches for trace in traces):
        complain(
            "no trace has a search; if an operation of the system searches: --search-tool NAME"
        )
    for what, count in counts.items():
        if count:
            complain(f"{count} {what}")


COMMAND = {"import": import_traces}
