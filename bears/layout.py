"""Spell the paths of the project's files: only this module and dvc.yaml do."""

import re
from dataclasses import dataclass
from pathlib import Path

CONF, PARAMS, PIPELINE = Path("conf"), Path("params.yaml"), Path("dvc.yaml")
DATA, METRICS = Path("data"), Path("metrics")
LOCAL = Path(".bears")
"""The journal, locks, vectors and downloads of this project, which git and DVC ignore."""
JOURNAL, LOCKS = LOCAL / "journal.jsonl", LOCAL / "locks"
SCRATCH = LOCAL / "index"
FETCHED, COMPOSED = LOCAL / "fetched.json", LOCAL / "composed.json"
EMBEDDINGS, TIMINGS = LOCAL / "embeddings", LOCAL / "timing"
TEXTS = "texts"
"""The folder within `LOCAL` for the texts of PDFs."""

CONFIG, LANGUAGE, CODE = (DATA / f"{name}.yaml" for name in ("config", "language", "code"))
"""The outputs of the stage `config`. The language has a file of its own because it is longer than
everything else, and DVC parses files under params a dozen times in every run."""
READS = DATA / "reads.yaml"
"""What the project's own functions read, in git."""
REPLIES = DATA / "memory"
"""The kept replies of models, in git."""

RETRIEVAL, ANSWERS, VERIFICATION, AUDIT, HEADLINE, COMPARISON = (
    METRICS / f"{name}.json"
    for name in ("retrieval", "answers", "verification", "audit", "headline", "comparison")
)
LEADERBOARD = METRICS / "leaderboard.csv"
TRACES, TRACED = Path("traces"), ".traces.jsonl"
"""The folder for benchmarks that were drawn from traces, and the ending of a file of traces."""


def ledger_of(benchmark: str) -> Path:
    """Return the file of people's decisions about a benchmark."""
    return CONF / "ledger" / f"{benchmark}.yaml"


def ledger_beside(folder: Path) -> Path:
    """Return the ledger for the records in a folder of the pipeline; other folders have none."""
    whole = folder.resolve()
    return whole / "../../.." / ledger_of(whole.parent.name)


def replies_below(folder: Path, benchmark: str, use: str) -> Path:
    """Return the kept replies of one use of a model; without a use, the translations."""
    return folder / ".".join(filter(None, (benchmark, use, "jsonl")))


def lineage_beside(folder: Path) -> Path | None:
    """Return the lineage of the records in a folder of the pipeline, or of an export, if any."""
    places = (folder / "lineage.jsonl", folder.parent / "sampled" / "lineage.jsonl")
    return next(filter(Path.is_file, places), None)


def traced_of(benchmark: str) -> Path:
    """Return the traces that a benchmark was drawn from, if it was; git ignores their folder."""
    return TRACES / benchmark / f"{benchmark}{TRACED}"


def chunks_beside(run: Path) -> Path:
    """Return the run of the chunks from which a run ranks documents."""
    return run.with_suffix(".chunks.parquet")


@dataclass(frozen=True, slots=True)
class BenchmarkPath:
    """An attribute of `BenchmarkFiles`: a path in its ``data``, with the benchmark's name."""

    path: str

    def __get__(self, files: "BenchmarkFiles", _: object = None) -> Path:
        return files.data / self.path.format(name=files.name)


@dataclass(frozen=True, slots=True)
class BenchmarkFiles:
    """The files of one benchmark.

    Args:
        name: the benchmark's name, as in conf/benchmark.
        data: the folder that dvc.yaml calls ``data``.
    """

    name: str
    data: Path = DATA

    rows = BenchmarkPath("raw/{name}/rows")
    sources = BenchmarkPath("raw/{name}/sources.json")
    sampled = BenchmarkPath("{name}/sampled")
    lineage = BenchmarkPath("{name}/sampled/lineage.jsonl")
    translated = BenchmarkPath("{name}/translated")
    queries = BenchmarkPath("{name}/translated/queries.json")
    corpus = BenchmarkPath("{name}/translated/corpus.json")
    sidecar = BenchmarkPath("{name}/translated/sidecar.json")
    verified = BenchmarkPath("{name}/verified")
    audited = BenchmarkPath("{name}/audited")
    _folder = BenchmarkPath("{name}")

    def index(self, retriever: str) -> Path:
        """Return the folder of a retriever's index."""
        return self._folder / "index" / retriever

    def rewritten(self, rewriter: str) -> Path:
        """Return the file with what a rewriter searches for each question."""
        return self._folder / "rewritten" / f"{rewriter}.jsonl"

    def run(self, retriever: str) -> Path:
        """Return a retriever's run over the whole corpus."""
        return self._folder / "runs" / f"{retriever}.trec"

    def within(self, retriever: str) -> Path:
        """Return a retriever's run in which each question is searched in its own group."""
        return self.run(retriever).with_suffix(".within.trec")

    def chunks(self, retriever: str) -> Path:
        """Return a retriever's run of chunks over the whole corpus."""
        return chunks_beside(self.run(retriever))

    def answers(self, system: str) -> Path:
        """Return the answers of a system, RETRIEVER.GENERATOR."""
        return self._folder / "answers" / f"{system}.jsonl"

    def replies(self, use: str = "") -> Path:
        """Return the kept replies of one use of a model; without a use, the translations."""
        folder = self.data / REPLIES.name
        if use in ("questions", "checks"):
            folder /= "made"
        return replies_below(folder, self.name, use)


EVERY = BenchmarkFiles("*")
"""Files of any benchmark, for `pattern`."""


def pattern(path: Path) -> str:
    """Return the regular expression of a path in which ``*`` stands for any name."""
    return re.escape(str(path)).replace(r"\*", r"[^/]+(?<!\.within)(?<!\.chunks)")
