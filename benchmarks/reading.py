"""Measure a reader of translations with errors planted into good ones.

    python -m benchmarks.reading FOLDER [override …]

FOLDER is a published set (queries_raw.json, corpus_raw.json, queries.json, corpus.json); the
overrides choose the reader: ``reader=local``. Half of the texts stay as they are. Prints, for each
kind, how many texts were remarked on at all, and at the planted place; and the precision.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabulate import tabulate

from bears.config import compose, parse, read_selection
from bears.evaluation.intervals import wilson
from bears.files.records import read_documents, read_questions
from bears.llm.workflow import Workflow
from bears.translation.reading import (
    ReaderSettings,
    ReadingRequest,
    ReadingTask,
    Remark,
    remarks_of,
)
from tests.workspace import ROOT

EACH, CLEAN, LONGEST = 6, 30, 400
"""Texts of each kind, texts as they are, and characters of the longest source."""
NAME = re.compile(
    r"《[^》]+》(?:（[^）]+）)?|[\u4e00-\u9fff]{1,5}(?:·[\u4e00-\u9fff]{1,6})+（[^）]+）"
)
QUALIFIER = re.compile(
    r"第一(?![次部])|第二|首[位個次]|唯一|最[大小高早後]|主要|著名|前任|已故|美國|英國|法國|德國|半|只"
)
NUMBER = re.compile(r"\d+")
IS = re.compile(r"(?<![但只於總還不而可就若便既正])是(?![否非])")
SENTENCE = re.compile(r"^[^。]{8,80}。")


@dataclass(frozen=True)
class Case:
    """A translation with a planted error.

    Args:
        kind: the kind of error; ``none``: the text is unchanged.
        request: what the reader gets.
        planted: the new words; empty if words were removed.
    """

    kind: str
    request: ReadingRequest
    planted: str = ""


def pairs(folder: Path) -> list[ReadingRequest]:
    """Return the translated questions and documents of a published set that are short enough."""
    raw = {q.question_id: q.question for q in read_questions(folder / "queries_raw.json")}
    raw |= {d.doc_id: d.content for d in read_documents(folder / "corpus_raw.json")}
    questions = read_questions(folder / "queries.json")
    texts = {q.question_id: ("question", q.question) for q in questions}
    documents = read_documents(folder / "corpus.json")
    texts |= {d.doc_id: ("content", d.content) for d in documents}
    return [
        ReadingRequest(record_id, field, raw[record_id], text)
        for record_id, (field, text) in texts.items()
        if raw[record_id] != text and len(raw[record_id]) <= LONGEST
    ]


def plant(
    kind: str, text: str, others: Sequence[str], rng: random.Random
) -> tuple[str, str] | None:
    """Return ``text`` with one error of a kind, and its words; None if it has no place for one."""
    if kind == "sentence":
        other = rng.choice([found[0] for other in others if (found := SENTENCE.search(other))])
        return f"{text}{other}", other
    pattern = {"name": NAME, "qualifier": QUALIFIER, "number": NUMBER, "negation": IS}[kind]
    places = list(pattern.finditer(text))
    if not places:
        return None
    place = rng.choice(places)
    new = {"qualifier": "", "negation": "不是"}.get(kind, "")
    if kind == "number":
        new = str(int(place[0]) + rng.choice([1, 2, 3, 10]))
    if kind == "name":
        same = [
            f[0]
            for o in others
            if (f := NAME.search(o)) and (f[0][0] == "《") == (place[0][0] == "《")
        ]
        new = rng.choice([name for name in same if name != place[0]])
    return text[: place.start()] + new + text[place.end() :], new


KINDS = ("name", "qualifier", "number", "negation", "sentence")


def cases(requests: Sequence[ReadingRequest], seed: int = 42) -> list[Case]:
    """Return the texts: ``EACH`` with each kind of error, then ``CLEAN`` unchanged."""
    rng = random.Random(seed)
    left = list(requests)
    rng.shuffle(left)
    texts = [request.translation for request in left]
    found: list[Case] = []
    for kind in KINDS:
        for request in list(left):
            if sum(case.kind == kind for case in found) == EACH:
                break
            if planted := plant(kind, request.translation, texts, rng):
                changed = ReadingRequest(
                    request.record_id, request.field, request.source, planted[0]
                )
                found.append(Case(kind, changed, planted[1]))
                left.remove(request)
    return [*found, *(Case("none", request) for request in left[:CLEAN])]


def located(case: Case, remarks: Sequence[Remark]) -> bool:
    """Return whether a remark quotes the planted words, or says that removed words are lost."""
    if not case.planted:
        return any(remark["kind"] in ("lost", "changed") for remark in remarks)
    quoted = [remark["translation"] for remark in remarks if remark["translation"]]
    return any(words in case.planted or case.planted in words for words in quoted)


def table(read: Sequence[tuple[Case, Sequence[Remark]]]) -> str:
    """Print recall by kind, false alarms, and precision."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for case, remarks in read:
        for kind in (case.kind, *(["all planted"] if case.kind != "none" else [])):
            hits = (1, bool(remarks), located(case, remarks))
            counts[kind] = [a + b for a, b in zip(counts[kind], hits, strict=True)]
    rows = [
        [kind, n, _share(flagged, n), _share(at, n) if kind != "none" else ""]
        for kind, (n, flagged, at) in counts.items()
    ]
    (_, planted, at), (_, clean, _) = counts["all planted"], counts["none"]
    rows.append(
        [
            "precision",
            planted + clean,
            _share(planted, planted + clean),
            _share(at, planted + clean),
        ]
    )
    return tabulate(rows, ["planted", "n", "remarked on", "at its place"])


def _share(hits: int, n: int) -> str:
    return f"{hits / n:.2f} [{wilson(hits, n)[0]:.2f}, {wilson(hits, n)[1]:.2f}]" if n else "–"


def main(folder: str, *overrides: str) -> None:
    """Ask the reader, and print what it found."""
    config = compose(ROOT / "conf", read_selection(ROOT / "params.yaml"), list(overrides))
    settings = parse(ReaderSettings, config["reader"], "reader")
    language: Mapping[str, str] = {key: config["language"][key] for key in ("title", "native_name")}
    planted = cases(pairs(Path(folder)))
    task = ReadingTask(settings, language, [case.request for case in planted])
    with tempfile.TemporaryDirectory() as replies:
        workflow = Workflow(task, Path(replies) / "readings.jsonl", ROOT)
        report = workflow.fill(lambda done, total, _: print(f"{done} of {total}", file=sys.stderr))
        found = task.resolve(workflow.kept.known()).replies
    remarks = {id(request): remarks_of(request, line) for request, line in found}
    read = [(case, remarks[id(case.request)]) for case in planted if id(case.request) in remarks]
    print(f"{len(read)} of {len(planted)} texts read by {settings.model}; {report.stopped}")
    print(table(read))
    for case, each in read:
        print(
            json.dumps(
                [case.kind, case.planted, case.request.source[:80], each], ensure_ascii=False
            )
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
