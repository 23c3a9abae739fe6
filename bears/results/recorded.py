"""What other programs recorded of a system: spans, in one form whatever wrote them."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from sys import intern
from typing import Any
from unicodedata import normalize

from bears.errors import FormatError
from bears.files.intake.files import json_value
from bears.files.intake.yaml_text import table_of
from bears.retrieval.outside.matching import SOURCES, Passage, PassageMatcher, Reply, Step
from bears.sources.folder.fields import ENDS_ASKING, messages_in
from bears.sources.folder.named import LISTED
from bears.trace import ModelCall
from bears.types import Question

NAMES = table_of(__file__)
"""The names of attributes. ``kinds``: the operations of OpenTelemetry, and the types of other
programs, as OpenInference's kinds. ``nothing``: what stands for a text that was not recorded."""
KINDS: Mapping[str, str] = NAMES["kinds"]
NOTHING: Sequence[str] = NAMES["nothing"]
ASKED, SAID, TEXTS, IDS = (NAMES[name] for name in ("asked", "said", "texts", "ids"))
INPUTS, OUTPUTS = NAMES["inputs"], NAMES["outputs"]
MODELS, PROMPTS, COMPLETIONS = (NAMES[name] for name in ("models", "prompts", "completions"))
DEEPEST = 100
"""Further levels are not looked at; a span could be within itself."""
LONGEST = 20_000
"""Longer texts are not looked through for a question."""
MESSAGE = re.compile(r"(?:llm\.input_messages|gen_ai\.prompt)\.(\d+)\.(?:message\.)?(\w+)(.*)")
REPLIED = re.compile(r"(?:llm\.output_messages|gen_ai\.completion)\.\d+\.(?:message\.)?content")
RESULT = re.compile(r"output|result|completion|response|answer|mime_type")
"""The names of attributes that do not say what was asked."""
PRINTED = re.compile(r"[\[(]*\w+\(\w+=.*\)[\])]*", re.DOTALL)
"""An object as Python prints it."""
FINAL = "final_answer"
"""The tool whose argument is an agent's answer."""
NO_SEARCH = ("LLM", "RETRIEVER", "RERANKER", "EMBEDDING", "EVALUATOR", "GUARDRAIL", "PROMPT")
"""The kinds of what is not a search, or needs no evidence that it is one."""
LOGGED = "LOGGED"
"""The kind of a row of a program's own log, which need not say what was searched."""
Attributes = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecordedSpan:
    """One operation of a system, as it was recorded.

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
        operation = str(self.first(*NAMES["kind_names"]) or "").strip('"')
        known = KINDS.get(operation.lower(), operation.upper())
        # Without a kind, what has a model and its tokens is a call of it.
        calls = not known and self.first(*MODELS) and self.first(*PROMPTS) is not None
        return "LLM" if calls else known

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
class Operation:
    """What is kept of a span, which is little, since a file of traces may not fit into memory.

    Args:
        asked: texts that may have the question: the input of a root, or what users say to a model.
        heard: all that users say in it.
        query: of a search.
        said: its output as a text.
        named: the value of the attribute that names the question.
        tool: its name, if it is a call of one, or of an unknown kind.
        passages: of a search or a tool, see `PassageMatcher.keep`; None if they are not known.
        found: how many of them are from a document of the benchmark.
    """

    span_id: str
    parent_id: str
    kind: str
    start: float
    seconds: float | None
    asked: tuple[str, ...]
    heard: tuple[str, ...]
    query: str
    said: str
    named: str
    error: str
    tool: str = ""
    passages: tuple[Passage, ...] | None = None
    found: int = 0
    call: ModelCall | None = None
    session: str = ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a system did for one question, before the question is known.

    Args:
        asked: texts that may have the question, in groups, the surest first.
        named: the value of the attribute that names the question; empty without one.
        unread: names of tools whose calls are not read as searches.
        question_id: if the form of the file names it.
        heard: all that users said.
        start: of its first operation, in seconds.
        session: the conversation that it is of; empty if that is not known.
    """

    reply: Reply
    asked: tuple[tuple[str, ...], ...]
    named: str = ""
    unread: tuple[str, ...] = ()
    question_id: str = ""
    heard: tuple[str, ...] = ()
    start: float = 0.0
    session: str = ""

    @property
    def question(self) -> str:
        """Return the text that is most surely the question; empty without any.

        It is the input of the root, else one of its texts that asks or that a user says.
        """
        surest, *others = [[*filter(None, map(str.strip, own))] for own in self.asked] or [[]]
        texts, said = [text for own in others for text in own], {*map(str.strip, self.heard)}
        asking = (text for text in texts if ENDS_ASKING.search(text) or text in said)
        return next(iter(surest), "") or next(asking, "")


class KnownQuestions:
    """Finds the question of a benchmark in a text.

    Args:
        questions: of the benchmark.
    """

    def __init__(self, questions: Iterable[Question]) -> None:
        self._ids = defaultdict[str, dict[str, set[str]]](dict)
        for question in questions:
            earlier = {_form(turn.content) for turn in question.turns if turn.role == "user"}
            self._ids[_form(question.question)][question.question_id] = earlier

    def find(self, each: Recorded) -> str:
        """Return the id of the question that the surest texts have; empty if they have none.

        Of questions with the same text, the one whose earlier turns the texts have is meant.
        """
        ids = self._ids.get(next(filter(None, map(self._in, each.asked)), ""), {})
        if len(ids) < 2:
            return next(iter(ids), "")
        heard = {*map(_form, each.heard)}
        fits = {name: len(earlier) for name, earlier in ids.items() if earlier <= heard}
        best = [name for name, turns in fits.items() if turns == max(fits.values())]
        return best[0] if len(best) == 1 else ""

    @lru_cache(maxsize=10_000)  # noqa: B019
    def _in(self, texts: tuple[str, ...]) -> str:
        """Return the form of the only question that texts are, or have as a whole."""
        forms = [_form(text) for text in texts]
        found = {form for form in forms if form in self._ids}
        found = found or {own for own in self._ids for form in forms if _has(form, own)}
        # A question may be a part of another.
        whole = [form for form in found if not any(form in other for other in found - {form})]
        return whole[0] if len(whole) == 1 else ""


def _form(text: str) -> str:
    lines = (" ".join(line.split()) for line in normalize("NFC", text).splitlines())
    return "\n".join(filter(None, lines)).casefold()


def _has(text: str, question: str) -> bool:
    """Return whether a text has a question that no sentence goes on around."""
    start = text.find(question)
    if start < 0 or not question:
        return False
    before, after = text[:start].rstrip(" ")[-1:], text[start + len(question) :].lstrip(" ")[:1]
    return not before.isalnum() and not (after.isalnum() and question[-1].isalnum())


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


def operation(
    span: RecordedSpan, matcher: PassageMatcher, named: str = "", tools: Collection[str] = ()
) -> Operation:
    """Return what is kept of a span.

    Args:
        matcher: of the passages with documents.
        named: the attribute that names the question.
        tools: names of spans that are calls of a tool, whatever their kind.
    """
    kind, output = "TOOL" if span.name in tools else span.kind, span.first(*OUTPUTS)
    if kind in ("RETRIEVER", "RERANKER"):
        prefix = "retrieval.documents" if kind == "RETRIEVER" else "reranker.output_documents"
        passages = _documents(span, prefix)
    elif kind == "TOOL":
        passages = passages_in(output, matcher)
    else:
        passages = None if kind in NO_SEARCH else tuple(_listed(output, matcher))
    if kind == LOGGED and not passages:
        passages = tuple(chain.from_iterable(_cited(text, matcher) for text in _texts(output)))
    kept = None if passages is None else tuple(map(matcher.keep, passages))
    asked: Iterable[str] = ()
    heard = [*_messages(span)] if kind == "LLM" or not span.parent_id else []
    if kind == "LLM":
        asked = dict.fromkeys(heard[:1] + heard[-1:])
    elif not span.parent_id:
        asked = heard[-1:] or _root_texts(span)
    query = text_of(span.first(*INPUTS), ASKED)
    said = text_of(output, (*SAID, FINAL)) or _replied(span)
    if kind == LOGGED:
        said = output["answer"]
    tool = "" if kind in NO_SEARCH else span.name
    if kind == "TOOL":
        tool = str(span.first(*NAMES["tools"]) or span.name)
    if tool == FINAL:
        said = text_of(span.first(*INPUTS), ("kwargs", *SAID, "args"))
    return Operation(
        span.span_id,
        span.parent_id,
        intern(kind),
        span.start or 0.0,
        span.seconds,
        _short(asked),
        _short(heard),
        intern(query) if kind != "LLM" and len(query) <= LONGEST else "",
        "" if kind in ("RETRIEVER", "TOOL") and tool != FINAL else said,
        str(span.attributes.get(named, "")),
        str(span.first("exception.message", "error.type") or ""),
        intern(tool),
        kept,
        sum(matcher.match(each) is not None for each in kept or ()),
        _call(span) if kind == "LLM" else None,
        intern(str(span.first(*NAMES["sessions"]) or "")),
    )


def _short(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(intern(text) for text in texts if len(text) <= LONGEST)


def tools_that_search(operations: Sequence[Operation]) -> Counter[str]:
    """Return the tools of whose calls at least half found documents, each with its calls.

    Without such a tool and without a retriever, plain spans whose results have documents are
    searches; of those within each other, the innermost.
    """
    found = _that_find(each for each in operations if each.kind == "TOOL")
    if found or any(each.kind == "RETRIEVER" for each in operations):
        return found
    known = {each.span_id: each for each in operations}
    outer = {o.span_id for each in operations if each.found for o in _above(each, known)}
    return _that_find(each for each in operations if each.span_id not in outer)


def _that_find(calls: Iterable[Operation]) -> Counter[str]:
    every, found = Counter[str](), Counter[str]()
    for each in calls:
        every[each.tool] += bool(each.tool)
        found[each.tool] += bool(each.found)
    return Counter({tool: n for tool, n in every.items() if n and 2 * found[tool] >= n})


def recorded(operations: Sequence[Operation], tools: Collection[str]) -> Recorded:
    """Return what the operations of one trace say.

    A span of a retriever is a search, unless it is within another one. So is a call of one of the
    ``tools`` without a retriever in it, and the innermost of plain spans called so. A reranker puts
    the passages of the search before it into another order. Of nested calls of a model, the inner
    one counts. The answer is what the root says, else the argument of `FINAL`, else the last text
    of a model.
    """
    ordered = sorted(operations, key=lambda each: (each.start, each.span_id))
    known = {each.span_id: each for each in ordered}
    above = {each.span_id: [*_above(each, known)] for each in ordered}
    # Spans that are within each other have no root.
    root = next((each for each in ordered if not above[each.span_id]), ordered[0])
    finding = (
        o for o in ordered if o.kind == "RETRIEVER" or (o.kind != "TOOL" and o.tool in tools)
    )
    searching = {outer.span_id for o in finding for outer in above[o.span_id]}
    asking = {outer.span_id for o in ordered if o.kind == "LLM" for outer in above[o.span_id]}
    steps: list[Step] = []
    calls = [each for each in ordered if each.call and each.span_id not in asking]
    unread: dict[str, None] = {}
    for each in ordered:
        within = each.kind in {outer.kind for outer in above[each.span_id]}
        if each.kind == "RETRIEVER" and not within:
            steps.append(Step(each.query, each.passages, each.seconds))
        elif each.kind == "RERANKER" and steps:
            steps[-1] = _reranked(steps[-1], each.passages)
        elif each.tool in tools and each.span_id not in searching:
            steps.append(Step(each.query, each.passages, each.seconds))
        elif each.kind == "TOOL" and each.tool != FINAL and each.span_id not in searching:
            unread[each.tool] = None
    if root.kind == LOGGED and root.tool not in tools:
        steps = [Step(root.query, None)]
    finals = [each.said for each in ordered if each.tool == FINAL]
    said = [root.said, *reversed(finals), *(call.said for call in reversed(calls))]
    reply = Reply(
        tuple(steps),
        tuple(each.call for each in calls if each.call),
        next(filter(None, said), None),
        error=root.error,
        seconds=root.seconds,
    )
    texts = [(root.query,), root.asked]
    heard = tuple(text for each in (root, *calls[:1]) for text in each.heard)
    # What a user says last is the question; a program may say more in a user's name.
    texts += [said for c in calls[:1] for said in (c.asked[-1:], c.asked[:1], c.asked)]
    named = next((each.named for each in ordered if each.named), "")
    session = next((each.session for each in ordered if each.session), "")
    return Recorded(
        reply,
        tuple(texts),
        named,
        tuple(filter(None, unread)),
        heard=heard,
        start=ordered[0].start,
        session=session,
    )


def _above(each: Operation, known: Mapping[str, Operation]) -> Iterator[Operation]:
    """Yield the operations that one is within, the nearest first."""
    for _ in range(DEEPEST):
        if each.parent_id not in known or each.parent_id == each.span_id:
            return
        each = known[each.parent_id]
        yield each


def _root_texts(span: RecordedSpan) -> Iterator[str]:
    """Yield the texts of a root that may have the question."""
    for name, value in span.attributes.items():
        if not RESULT.search(name):
            yield from _texts(value)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts at any depth of a value, which may be JSON."""
    inner = _value(value)
    if isinstance(inner, str):
        yield inner
    elif isinstance(inner, Mapping | list):
        for part in inner.values() if isinstance(inner, Mapping) else inner:
            yield from _texts(part)


def _cited(cell: str, matcher: PassageMatcher) -> list[Passage]:
    """Return the documents whose names are all that a cell has."""
    several = [Passage(name) for name in LISTED.split(cell) if name]
    # A list that ends in a path looks like one path, so its names come first.
    for named in (several, [Passage(cell)]):
        if all(map(matcher.match, named)):
            return named
    return []


def _messages(span: RecordedSpan) -> Iterator[str]:
    """Yield what users say to a model, in order."""
    numbered: defaultdict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, value in span.attributes.items():
        if (match := MESSAGE.match(name)) and not match[3].endswith(".type"):
            numbered[int(match[1])][match[2]].append(text_of(value, ASKED) or str(value))
    for _, message in sorted(numbered.items()):
        if message["role"] and message["role"][0].lower() in NAMES["users"]:
            yield "\n".join(message["content"] + message["contents"] + message["parts"])
    if not numbered:
        yield from _from_users(span.first(*INPUTS[1:]))


def _from_users(value: Any) -> Iterator[str]:
    inner = _value(value)
    if isinstance(inner, Mapping):
        role = str(inner.get("role") or inner.get("type") or "").lower()
        if role in NAMES["users"] and (text := text_of(dict(inner), ASKED)):
            yield text
            return
        inner = list(inner.values())
    if isinstance(inner, list):
        for part in inner:
            yield from _from_users(part)


def _replied(span: RecordedSpan) -> str:
    said = [str(v) for name, v in span.attributes.items() if REPLIED.match(name) and v is not None]
    return next((text for text in reversed(said) if text not in NOTHING), "")


def _value(value: Any) -> Any:
    """Return what JSON in a text says; other values as they are."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        with suppress(FormatError):
            return _value(json_value(value.encode("utf-8", "replace"), "it"))
    return value


def text_of(value: Any, names: Sequence[str]) -> str:
    """Return the text in a value, which may be JSON: the last one under one of ``names``."""
    value = _value(value)
    if isinstance(value, str):
        return "" if value in NOTHING or PRINTED.fullmatch(value) else value
    if isinstance(value, Mapping):
        found = (text_of(value[name], names) for name in names if name in value)
        # A call with one text needs no name for it.
        alone = [*islice(_texts(value), 2)]
        only = text_of(alone[0], ()) if len(alone) == 1 else ""
        inner = (part for part in map(_value, value.values()) if isinstance(part, Mapping))
        deeper = (text_of(part, names) for part in inner if not only)
        return next(filter(None, found), only) or next(filter(None, deeper), "")
    if isinstance(value, list):
        return next(filter(None, (text_of(part, names) for part in reversed(value))), "")
    return ""


def passages_in(output: Any, matcher: PassageMatcher | None = None) -> tuple[Passage, ...] | None:
    """Return the passages in the output of a search; None if it was not recorded.

    Args:
        matcher: finds those at any depth, and in texts. Without one, they are in a list.
    """
    if output is None or output in NOTHING:
        return None
    if matcher:
        return tuple(_found_in(_value(output), matcher))
    output = _value(output)
    if isinstance(output, Mapping):
        lists = [each for each in output.values() if isinstance(each, list)]
        output = lists[0] if lists and not {*IDS, *TEXTS} & output.keys() else [output]
    return tuple(map(_passage, output if isinstance(output, list) else [output]))


def _found_in(value: Any, matcher: PassageMatcher) -> list[Passage]:
    """Return the passages at any depth of a value.

    A mapping with the names of a passage is one, if it is from a document. So is one whose texts
    are of one document. Of others, the part from most documents counts, and those from others.
    """
    if isinstance(value, str):
        return [*matcher.within(value)]
    if not isinstance(value, Mapping | list):
        return []
    named = _passage(value)
    # What is kept is not matched again.
    if isinstance(value, Mapping) and matcher.match(matcher.keep(named)):
        return [named]
    parts = [*map(_value, value.values() if isinstance(value, Mapping) else value)]
    texts = [part for part in parts if isinstance(part, str)]
    own = _of_texts(texts, matcher)
    if isinstance(value, list):
        # A name and a text are a pair; other texts are a passage each.
        pair = own and own.id and len(texts) == len(parts)
        return [own] if own and pair else [each for p in parts for each in _found_in(p, matcher)]

    found = [_found_in(part, matcher) for part in parts]
    documents = [{c.doc_id for p in each if (c := matcher.match(p))} for each in found]
    most = max(documents, key=len, default=set())
    if own and len(set().union(*documents)) < 2:
        return [own]
    if not most:
        return [named][: named != Passage()]
    # Parts with the same documents, such as ids and texts, say the same.
    first = documents.index(most)
    others = (n for n, own in enumerate(documents) if own and own.isdisjoint(most))
    return [each for n in sorted([first, *others]) for each in found[n]]


def _listed(value: Any, matcher: PassageMatcher) -> list[Passage]:
    """Return the passages in the lists of a value, but for lists of messages."""
    value = _value(value)
    if isinstance(value, Mapping):
        return [each for part in value.values() for each in _listed(part, matcher)]
    if not isinstance(value, list) or messages_in(value):
        return []
    return _found_in(value, matcher)


def _of_texts(texts: Sequence[str], matcher: PassageMatcher) -> Passage | None:
    """Return the passage of which one text is the name, or the longest one is a part."""
    names = {chunk.doc_id: text for text in texts if (chunk := matcher.match(Passage(text)))}
    longest = Passage(text=max(texts, key=len, default=""))
    if len(names) == 1:
        [name] = names.values()
        passage = replace(longest, id=name)
        chunk = matcher.match(passage)
        return passage if chunk and chunk.end != 0 else Passage(name)
    return longest if not names and matcher.match(longest) else None


def _passage(item: Any) -> Passage:
    """Return the passage of an item by the names of its parts."""
    found = dict(flat(item)) if isinstance(item, Mapping) else {"content": str(item)}
    short = {name.removeprefix("document."): value for name, value in found.items()}
    metadata = short.get("metadata")
    if isinstance(metadata, str):
        with suppress(FormatError):
            short |= {f"metadata.{k}": v for k, v in flat(json_value(metadata.encode(), "it"))}
    places = [*SOURCES, *(f"metadata.{name}" for name in SOURCES)]
    return Passage(first_of(short, IDS), first_of(short, places), first_of(short, TEXTS))


def first_of(found: Attributes, names: Iterable[str]) -> str:
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
    return None if span.cut else passages_in(span.first(*OUTPUTS))


def _reranked(step: Step, first: Sequence[Passage] | None) -> Step:
    rest = [each for each in step.passages or () if each not in (first or ())]
    return replace(step, passages=(*(first or ()), *rest))


def _call(span: RecordedSpan) -> ModelCall:
    def amount(kind: type, *names: str) -> Any:
        value = span.first(*names)
        # Tables have whole numbers as floats where other rows have none.
        return kind(value) if isinstance(value, int | float) and 0 <= value < math.inf else None

    return ModelCall(
        str(span.first(*MODELS) or ""),
        amount(int, *PROMPTS),
        amount(int, *COMPLETIONS),
        amount(float, "llm.cost.total"),
        span.seconds,
    )
