"""``bears judgements``: people's decisions on documents, out as a table and back in."""

import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Literal

from bears.answers.judging.calibration import check_again
from bears.config import Config
from bears.config.ledger.entries import PairDecision
from bears.config.ledger.sheet import WHOLE, Row, Sheet
from bears.config.ledger.update import open_ledger
from bears.config.typed import parse
from bears.errors import FormatError
from bears.files.records import read_lines, stream_documents
from bears.files.visible import one_line
from bears.identity import path_of
from bears.layout import ledger_of
from bears.results.origins import ran_on, system_of
from bears.results.records import Records
from bears.results.system import System
from bears.retrieval.chunking import texts_of
from bears.retrieval.chunking.judged import ChunksOfDocuments
from bears.selection.configuration import composed, files_of, made, records_of, selected
from bears.types import Chunk, ChunkHit, ChunkRanking, ChunkRun, Document, Question


def pooled(
    runs: Iterable[ChunkRun], depth: int, judged: Mapping[str, Collection[str]]
) -> dict[str, list[str]]:
    """Return the unjudged chunks among the first ones of any run.

    This is TREC's pooling (Spärck Jones and van Rijsbergen 1975).

    Args:
        runs: of the systems.
        depth: how many chunks to take from each ranking.
        judged: question_id to the names of the chunks that are already judged. Other questions
            are ignored.

    Returns:
        question_id to names of chunks, in a fixed order that reveals neither systems nor ranks.
    """
    found: dict[str, set[str]] = {question_id: set() for question_id in judged}
    for run in runs:
        for question_id in found.keys() & run.keys():
            found[question_id].update(hit.chunk.name for hit in run[question_id][:depth])
    return {
        question_id: sorted(names.difference(judged[question_id]), key=_shuffled(question_id))
        for question_id, names in found.items()
    }


def _shuffled(question_id: str) -> Callable[[str], bytes]:
    return lambda name: sha256(f"{question_id}\0{name}".encode()).digest()


DECISIONS: tuple[Literal["relevant", "partial", "not"], ...] = ("relevant", "partial", "not")
SHEET = Sheet(
    ("record_id", "doc_id", "start", "end"),
    ("question", "answer", "document"),
    ("decision", "reason", "author"),
    choices=DECISIONS,
    optional=("start", "end"),
    beside=("file",),
    document="document",
)
"""A passage has ``start`` and ``end``."""
AUDIT = "audit"
"""The stage whose candidates take the place of a run."""
LONGEST = 2000
"""Characters of a document that a person is shown."""


def pool(
    file: Path,
    *,
    depth: int = 10,
    systems: str = "",
    without_gold: bool = False,
    benchmark: str = "",
) -> None:
    """Write a page or a table of retrieved documents, or passages, that have no judgement yet.

    A person decides on each: relevant, partial or not. The page (.html) works in any browser,
    without a network, and saves a file for `import`. The rows are the first
    chunks of every system's ranking, or what `audit` found. They show neither systems nor ranks.
    Questions without gold come first: they count for nothing until somebody judges.

    Args:
        file: a page (.html) or a CSV file
        depth: chunks of each ranking; default: 10
        systems: retrievers, experiments, commits, run files or `audit`, separated by commas;
            default: all that ran here
        without_gold: only questions whose relevant documents are unknown
    """
    if depth < 1:
        raise FormatError(f"--depth is {depth}; expected at least 1")
    config = composed(benchmark)
    records = records_of(selected(config).benchmark.name)
    questions = {q.question_id: q for q in records.source}
    documents = {d.doc_id: d for d in stream_documents(records.corpus)}
    words = [word.strip() for word in systems.split(",") if word.strip()]
    runs = _runs(words, config, records, documents)
    found = {hit.chunk for run in runs.values() for ranking in run.values() for hit in ranking}
    texts = texts_of(documents.values(), found)
    chunks = {chunk.name: chunk for chunk in texts}
    cut = ChunksOfDocuments(documents.values(), texts)
    judged = {q.question_id: {*q.gold_doc_ids} for q in cut.questions(records.source)}
    for decision in cut.decisions(records.judgements):
        if decision.question_id in judged:
            judged[decision.question_id].add(decision.doc_id)
    unknown = {i: ids for i, ids in judged.items() if not questions[i].judged}
    chosen = pooled(runs.values(), depth, unknown if without_gold else {**unknown, **judged})
    rows = [
        {
            **{"record_id": i, "doc_id": chunk.doc_id},
            **({} if chunk.end is None else {"start": chunk.start, "end": chunk.end}),
            **_shown(questions[i], chunk, texts[chunk]),
            **{"file": path_of(chunk.doc_id), WHOLE: documents[chunk.doc_id].content},
        }
        for i, names in chosen.items()
        for chunk in map(chunks.__getitem__, names)
    ]
    command = ["bears", "judgements", "import"]
    said = SHEET.write(file, rows, lambda saved: shlex.join([*command, str(saved)]))
    print(
        f"{file}: {len(rows)} documents to judge for {sum(map(bool, chosen.values()))} "
        f"questions, the first {depth} of {', '.join(map(one_line, runs))}; "
        f"people judged {len(records.decided.kept)} before; {said}"
    )
    first = [len(chosen[i]) for i in unknown if chosen[i]]
    if len(rows) > sum(first) > 0:
        print(
            f"the first {sum(first)} are for the {len(first)} questions without gold, which count "
            "for nothing until somebody judges; --without-gold writes these alone"
        )


def import_decisions(
    file: Path, *, author: str = "", replace_: bool = False, benchmark: str = ""
) -> None:
    """Add the decisions in a table to the ledger.

    They go to conf/ledger/BENCHMARK.yaml. If pairs of question and document were judged before, the
    agreement of both judgements is printed; different decisions are refused.

    Args:
        file: a table that `pool` wrote, with decisions in it, or what its page saved
        author: who decided, for rows without an author
        replace_: overwrite earlier decisions
    """
    config = composed(benchmark)
    name = selected(config).benchmark.name
    records = records_of(name)
    decisions = [
        replace(decision, author=decision.author or author)
        for decision in read_judgements(
            file,
            {q.question_id: q for q in records.questions},
            {each.doc_id: each for each in stream_documents(records.corpus)},
        )
    ]
    path = ledger_of(name)
    with open_ledger(path) as ledger:
        known = {one.place: one.decision for one in ledger.decisions.judgements}
        again = [
            (f"{new.doc_id} for {new.question_id}", known[new.place], new.decision)
            for new in decisions
            if new.place in known
        ]
        check_again(file, again, "pairs were judged", replace_)
        taken = [new for new in decisions if new.decision != known.get(new.place)]
        ledger.add("judgements", taken, PairDecision.names)
    counts = Counter(one.decision for one in taken)
    summary = ", ".join(f"{counts[name]} {name}" for name in DECISIONS)
    print(f"{path}: {len(taken)} judgements ({summary}); `dvc repro` measures with them")


COMMAND = {"pool": pool, "import": import_decisions}


def _runs(
    words: Sequence[str], config: Config, records: Records, documents: Collection[str]
) -> dict[str, ChunkRun]:
    """Return the name and the rankings of each run that the words name, or of all.

    Raises:
        FormatError: a word names nothing, a file is of another benchmark, or nothing ran.
    """
    name = records.benchmark.name
    if not words:
        here = ran_on(records, all_commits=True, older=True)
        if not here:
            raise FormatError(f"nothing ran on {name} as it is now; run `dvc repro`")
        return {each.name: _ranked(each) for each in here}
    runs = {}
    for word in words:
        system = None if word == AUDIT else system_of(word, lambda: records, name)
        runs[word] = _ranked(system) if system else _candidates(config)
        for doc_id in {hit.doc_id for ranking in runs[word].values() for hit in ranking}:
            if doc_id not in documents:
                raise FormatError(
                    f"{word}: its document {doc_id!r:.80} is not in the benchmark as it is now"
                )
    return runs


def _ranked(system: System) -> ChunkRun:
    return {key: trace.ranking for key, trace in system.traces.items()}


def _candidates(config: Config) -> ChunkRun:
    """Return what `audit` found. Raises as `made`."""
    [folder] = made(config, AUDIT, files_of(config).audited)
    found: dict[str, ChunkRanking] = {}
    for _, row in read_lines(folder / "candidates.jsonl"):
        key, chunk = row["question_id"], Chunk(row["doc_id"], row["start"], row["end"])
        found[key] = (*found.get(key, ()), ChunkHit(chunk, 0.0))
    return found


def read_judgements(
    path: Path, questions: Mapping[str, Question], documents: Mapping[str, Document]
) -> list[PairDecision]:
    """Return the decisions of a table of `SHEET`, each once.

    A row with an ``end`` is about a passage, and has its text under ``document``.

    Args:
        path: a table with decisions.
        questions, documents: of the benchmark, by their ids.

    Raises:
        FormatError: the file is malformed.
        ConfigurationError: naming each row with an unknown decision, question or document, with
            another text, or with another decision than a row above.
    """

    def current(row: Row) -> Mapping[str, str] | None:
        question, document = questions.get(row["record_id"]), documents.get(row["doc_id"])
        if question is None or document is None:
            return None
        place = (parse(int, row[name], name) for name in ("start", "end") if row["end"])
        chunk = Chunk(document.doc_id, *place)
        return _shown(question, chunk, chunk.of(document.content))

    def entry(where: str, row: Row) -> PairDecision:
        value = {name: row[name] for name in ("doc_id", "reason", "author")}
        value |= {"question_id": row["record_id"], "decision": row["decision"]}
        value |= {"quotation": row["document"]} if row["end"] and row["document"].strip() else {}
        return parse(PairDecision, value, where)

    return SHEET.read(path, current, entry)


def _shown(question: Question, chunk: Chunk, text: str) -> dict[str, str]:
    """Return the texts of a row: of a whole document, the beginning."""
    if chunk.end is None and len(text) > LONGEST:
        text = f"{text[: LONGEST - 1]}…"
    return {"question": question.question, "answer": question.gold_answer, "document": text}
