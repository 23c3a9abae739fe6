"""Where the project's files are. Besides dvc.yaml, no other module spells these paths."""

from dataclasses import dataclass
from pathlib import Path

CONF, PARAMS, PIPELINE = Path("conf"), Path("params.yaml"), Path("dvc.yaml")
DATA, METRICS = Path("data"), Path("metrics")
LOCAL = Path(".bears")
"""Neither in git nor of DVC: the journal, locks, vectors and downloads of this checkout."""

CONFIG, LANGUAGE, CODE = (DATA / f"{name}.yaml" for name in ("config", "language", "code"))
"""What the stage `config` writes. The language is a file of its own because it is longer than all
the rest, and DVC parses what is under params a dozen times in every run."""
REPLIES = DATA / "memory"
"""The kept replies of models, in git."""

RETRIEVAL, ANSWERS, VERIFICATION, AUDIT, HEADLINE, COMPARISON = (
    METRICS / f"{name}.json"
    for name in ("retrieval", "answers", "verification", "audit", "headline", "comparison")
)
LEADERBOARD = METRICS / "leaderboard.csv"


@dataclass(frozen=True, slots=True)
class BenchmarkFiles:
    """The files of one benchmark.

    Args:
        name: the benchmark's name, as in conf/benchmark.
        data: the folder that dvc.yaml calls ``data``.
    """

    name: str
    data: Path = DATA

    @property
    def rows(self) -> Path:
        return self.data / "raw" / self.name / "rows"

    @property
    def sources(self) -> Path:
        return self.data / "raw" / self.name / "sources.json"

    @property
    def sampled(self) -> Path:
        return self._folder / "sampled"

    @property
    def lineage(self) -> Path:
        return self.sampled / "lineage.jsonl"

    @property
    def translated(self) -> Path:
        return self._folder / "translated"

    @property
    def queries(self) -> Path:
        return self.translated / "queries.json"

    @property
    def corpus(self) -> Path:
        return self.translated / "corpus.json"

    @property
    def sidecar(self) -> Path:
        return self.translated / "sidecar.json"

    @property
    def verified(self) -> Path:
        return self._folder / "verified"

    @property
    def audited(self) -> Path:
        return self._folder / "audited"

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
        """Return a retriever's run in which each question is asked of its own group."""
        return self.run(retriever).with_suffix(".within.trec")

    def answers(self, retriever: str, generator: str) -> Path:
        """Return the answers of a generator that was shown what a retriever found."""
        return self._folder / "answers" / f"{retriever}.{generator}.jsonl"

    def replies(self, use: str = "") -> Path:
        """Return the kept replies of one use of a model; without a name, the translations."""
        folder = self.data / REPLIES.name
        if use in ("questions", "checks"):
            folder /= "made"
        return folder / ".".join(filter(None, (self.name, use, "jsonl")))

    @property
    def _folder(self) -> Path:
        return self.data / self.name
