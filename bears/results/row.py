"""A row of the leaderboard: the facts of one result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from pydantic import TypeAdapter, ValidationError

from bears.config import checkout
from bears.errors import FormatError
from bears.files.benchmark_state import BenchmarkState, told_of
from bears.files.digest import digest_of
from bears.files.shown import one_line
from bears.layout import ANSWERS as ANSWERS_FILE
from bears.layout import LOCAL
from bears.layout import RETRIEVAL as RETRIEVAL_FILE
from bears.results.revision import Revision

RETRIEVAL = (
    "success@1",
    "success@2",
    "success@5",
    "recall@10",
    "recall@100",
    "mrr@10",
    "ndcg@10",
    "map",
    "retrieval_accuracy@1",
    "retrieval_accuracy@2",
    "kor_map_official",
    "kor_map_strict",
)
RAGAS = ("faithfulness", "answer_relevancy", "context_precision", "context_recall")
ANSWERS = ("answer_f1", "exact_match", "pass_rate", *RAGAS)
MEASURES = (*RETRIEVAL, *ANSWERS)
"""The columns of measures. A benchmark that does not ask for one leaves its cell empty."""

OF_ANSWERS = "answer_"
"""How the warnings begin that are about answers, and not about the retrieval."""

UNSCORED = f"{OF_ANSWERS}unscored"
"""The warning beside a pass rate that is not the mean of all answers."""

MAIN = "ndcg@10"
"""The measure that orders the rows of a benchmark that names no other."""

DECIDING = (
    *("sample", "sources", "ledger", "translator", "chunking", "retriever"),
    *("rewriter", "retrieve"),
)
"""The parts of a configuration that a result depends on, beside the digest of its language."""


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """What one system scored on one state of a benchmark.

    Args:
        benchmark: its name.
        source, state: as `bears.files.benchmark_state` has them; empty for a result that does not
            say of which records it is.
        system: a retriever, or what a submission calls itself.
        configuration: digest of the settings of the retrieval (or of the submitted file); empty
            where only answers are known.
        origin: ``experiment`` or ``submission``.
        vector_store: of a retriever that has one.
        chunking: of a retriever.
        generator, judge: of the answers; a submission's generator is not known.
        answers: digest of the settings of generator and judge (or of the submitted file of
            answers); empty where only the retrieval is known.
        questions, documents: of the benchmark.
        answered: questions for which any document was returned.
        values: measure to its mean, None where undefined.
        seconds_per_question: as measured or as stated; None where unknown.
        warnings: what stands beside the score, in a few words.
        main: the measure that orders the rows of the benchmark.
        generated: where a model wrote the questions, how many of them were kept.
        audited: the mean of the measure that orders the benchmark on the audited gold, where people
            decided on documents; all other means are on the published gold.
    """

    __pydantic_config__: ClassVar[dict[str, bool]] = {"allow_inf_nan": False}

    benchmark: str
    source: str
    state: str
    system: str
    configuration: str
    origin: str
    vector_store: str = ""
    chunking: str = ""
    generator: str = ""
    judge: str = ""
    answers: str = ""
    questions: int | None = None
    documents: int | None = None
    answered: int | None = None
    values: Mapping[str, float | None] = field(default_factory=dict)
    seconds_per_question: float | None = None
    warnings: str = ""
    main: str = ""
    generated: str = ""
    audited: float | None = None

    @property
    def of(self) -> tuple[str, str, str]:
        """Return the state of a benchmark that rows must share to be compared."""
        return self.benchmark, self.source, self.state

    @property
    def retrieval(self) -> tuple[str, str, str, str]:
        """Return what a retrieval is known by."""
        return self.benchmark, self.state, self.system, self.configuration

    @property
    def key(self) -> tuple[str, ...]:
        """Return what a result is known by: one of the same key takes its place."""
        return *self.of, self.system, self.origin, self.configuration, self.answers, self.judge

    @property
    def kept_values(self) -> Path:
        """Return where a scored submission's values by question are, in this checkout alone."""
        return checkout() / LOCAL / "values" / f"{self.state}.{self.configuration}.csv"


def submitted(
    state: BenchmarkState, system: str, configuration: str = "", **scored: Any
) -> LeaderboardRow:
    """Return the row of what somebody submitted, with the other fields that ``scored`` has."""
    return LeaderboardRow(
        *(state.name, state.source, state.state, one_line(system), configuration, "submission"),
        questions=state.questions,
        documents=state.documents,
        generated=str(state.generated or ""),
        **scored,
    )


def row_of(revision: Revision) -> LeaderboardRow | None:
    """Return the row of a revision; None where it has no results, or somebody changed its files."""
    try:
        selected, config = revision.selection, revision.config
    except FormatError:
        return None
    results = revision.metrics(RETRIEVAL_FILE)
    means, benchmark = _part(results, "all"), _part(results, "benchmark")
    retriever, main = _part(config, "retriever"), _part(config, "evaluate").get("main", MAIN)
    if not means or not retriever or "benchmark" not in config:
        return None
    answers = _answers(config, _part(revision.metrics(ANSWERS_FILE), "all"))
    chunking = str(_part(config, "chunking").get("name", ""))
    # A run of documents does not say which sources the retriever found, if it searched chunks.
    unknown = () if chunking in ("", "none") else ("retrieval_accuracy@1", "retrieval_accuracy@2")
    values = {name: means[name] for name in RETRIEVAL if name in means and name not in unknown}
    row = {
        "benchmark": str(selected.get("benchmark", "")),
        "source": str(benchmark.get("source", "")),
        "state": str(benchmark.get("state", "")),
        "system": str(retriever.get("name", "")),
        "configuration": configuration_digest(config),
        "origin": "experiment",
        "vector_store": _store(retriever),
        "chunking": chunking,
        "questions": means.get("n"),
        "documents": benchmark.get("documents"),
        "generated": told_of(benchmark),
        "answered": means.get("answered"),
        "main": str(main),
        "audited": _part(results, "audited").get(main),
        **answers,
        "values": values | answers.get("values", {}),
    }
    try:
        return TypeAdapter(LeaderboardRow).validate_python(row)
    except ValidationError:
        return None


def _answers(config: Mapping[str, Any], means: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a row says of its answers; nothing where there are none."""
    if not means:
        return {}
    decided = {key: config.get(key) for key in ("generator", "judge")}
    judge = str(_part(config, "judge").get("name", "none"))
    return {
        "generator": str(_part(config, "generator").get("name", "")),
        "judge": "" if judge == "none" else judge,
        "answers": digest_of(decided)[:12],
        "values": {name: means[name] for name in ANSWERS if name in means},
        "warnings": UNSCORED if means.get("unscored") else "",
    }


def _store(retriever: Mapping[str, Any]) -> str:
    """Return the vector store of a retriever, or of one that it is made of."""
    store = retriever.get("vector_store")
    if isinstance(store, dict):
        return str(store.get("name", ""))
    parts = (_store(part) for part in retriever.values() if isinstance(part, dict))
    return next(filter(None, parts), "")


def configuration_digest(config: Mapping[str, Any]) -> str:
    """Return twelve hexadecimal digits over the settings that a result depends on."""
    return digest_of(decided(config))[:12]


def decided(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that `configuration_digest` is over.

    The engine is not one of them: it says where vectors are made, not which.
    """
    settings = {key: _without_engine(config.get(key)) for key in DECIDING}
    if _part(config, "rewriter").get("name", "none") != "none":
        settings["rewriter"] = config["rewriter"]
    return {**settings, "digest": {"language": _part(config, "digest").get("language")}}


def _without_engine(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _without_engine(part) for key, part in value.items() if key != "engine"}


def _part(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = value.get(key)
    return part if isinstance(part, dict) else {}
