"""A row of the leaderboard: the facts of one result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ValidationError

from bears.config import checkout, ledger_in
from bears.errors import FormatError
from bears.evaluation.evaluate import our_name
from bears.files.benchmark_state import BenchmarkState, generated_note
from bears.files.intake.yaml_text import table_of
from bears.files.records import adapter_of, digest_of
from bears.files.visible import one_line
from bears.layout import ANSWERS as ANSWERS_FILE
from bears.layout import LOCAL
from bears.layout import RETRIEVAL as RETRIEVAL_FILE
from bears.results.revision import Revision, store_of
from bears.sampling.mixture import as_before

_TABLE = table_of(__file__)
RETRIEVAL: Sequence[str] = _TABLE["retrieval"]
ANSWERS: Sequence[str] = _TABLE["answers"]
MEASURES = (*RETRIEVAL, *ANSWERS)
"""The columns of measures. A benchmark without a measure leaves its cell empty."""

OF_ANSWERS = "answer_"
"""The prefix of warnings about answers."""

UNSCORED = f"{OF_ANSWERS}unscored"
"""The warning for a pass rate that is not the mean of all answers."""

MAIN = "ndcg@10"
"""The measure that orders the rows of a benchmark if it names no other."""

DECIDING: Sequence[str] = _TABLE["deciding"]
"""The parts of a configuration that a result depends on."""


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """What one system scored on one state of a benchmark.

    Args:
        benchmark: its name.
        source, state: those of `bears.files.benchmark_state`; empty for a result that does not name
            its records.
        system: a retriever, or the name in a submission.
        configuration: digest of the settings of the retrieval (or of the submitted file); empty
            if only answers are known.
        origin: ``experiment`` or ``submission``.
        vector_store: of a retriever that has one.
        chunking: of a retriever.
        generator, judge: of the answers; a submission's generator is unknown.
        answers: digest of the settings of generator and judge (or of the submitted file of
            answers); empty if only the retrieval is known.
        questions, documents: of the benchmark.
        answered: questions for which any document was returned.
        values: measure to its mean, None if undefined.
        seconds_per_question: measured or stated by the submission; None if unknown.
        warnings: names of the findings about the score.
        main: the measure that orders the rows of the benchmark.
        generated: how many questions were kept, if a model wrote them.
        decisions: how many decisions of people are in the gold.
        timestamp: when it was measured, in UTC as ISO 8601 has it; empty if that is unknown.
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
    decisions: int | None = None
    timestamp: str = ""

    @property
    def of(self) -> tuple[str, str, str]:
        """Return the state of a benchmark that rows must share to be compared."""
        return self.benchmark, self.source, self.state

    @property
    def retrieval(self) -> tuple[str, str, str, str]:
        """Return the identity of a retrieval."""
        return self.benchmark, self.state, self.system, self.configuration

    @property
    def key(self) -> tuple[str, ...]:
        """Return the identity of a result, which replaces an earlier one with the same key."""
        return *self.of, self.system, self.origin, self.configuration, self.answers, self.judge

    @property
    def kept_values(self) -> Path:
        """Return the file of a scored submission's values by question, in this checkout only."""
        return checkout() / LOCAL / "values" / f"{self.state}.{self.configuration}.csv"


def submitted(
    state: BenchmarkState, system: str, configuration: str = "", **scored: Any
) -> LeaderboardRow:
    """Return the row of a submission, with the other fields that ``scored`` has."""
    return LeaderboardRow(
        *(state.name, state.source, state.state, one_line(system), configuration, "submission"),
        questions=state.questions,
        documents=state.documents,
        generated=str(state.generated or ""),
        decisions=state.decisions or None,
        **scored,
    )


def row_of(revision: Revision) -> LeaderboardRow | None:
    """Return the row of a revision; None if it has no results, or its files were edited."""
    try:
        selected, config = revision.selection, revision.config
    except FormatError:
        return None
    results = revision.metrics(RETRIEVAL_FILE)
    means, benchmark = _part(results, "all"), _part(results, "benchmark")
    retriever = _part(config, "retriever")
    main = our_name(str(_part(config, "evaluate").get("main", MAIN)))
    if not means or not retriever or "benchmark" not in config:
        return None
    answers = _answers(config, _part(revision.metrics(ANSWERS_FILE), "all"))
    chunking = str(_part(config, "chunking").get("name", ""))
    values = {name: means[name] for name in RETRIEVAL if name in means}
    row = {
        "benchmark": str(selected.get("benchmark", "")),
        "source": str(benchmark.get("source", "")),
        "state": str(benchmark.get("state", "")),
        "system": str(retriever.get("name", "")),
        "configuration": configuration_digest(config),
        "origin": "experiment",
        "vector_store": store_of(retriever),
        "chunking": chunking,
        "questions": means.get("n"),
        "documents": benchmark.get("documents"),
        "generated": generated_note(benchmark),
        "answered": means.get("answered"),
        "main": str(main),
        "decisions": benchmark.get("decisions"),
        **answers,
        "values": values | answers.get("values", {}),
    }
    try:
        parsed: LeaderboardRow = adapter_of(LeaderboardRow).validate_python(row)
        return parsed
    except ValidationError:
        return None


def _answers(config: Mapping[str, Any], means: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a row about answers; empty without answers."""
    if not means:
        return {}
    decided = {key: deciding(config.get(key)) for key in ("generator", "judge")}
    names = [str(_part(config, group).get("name", "")) for group in ("generator", "judge")]
    generator, judge = ("" if name == "none" else name for name in names)
    return {
        "generator": generator,
        "judge": judge,
        "answers": digest_of(decided)[:12],
        "values": {name: means[name] for name in ANSWERS if name in means},
        "warnings": UNSCORED if means.get("unscored") else "",
    }


def configuration_digest(config: Mapping[str, Any]) -> str:
    """Return twelve hexadecimal digits over the settings that a result depends on."""
    return digest_of(decided(config))[:12]


def decided(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that `configuration_digest` covers.

    The engine does not count: it decides where vectors are made, not which.
    """
    settings = {key: deciding(config.get(key)) for key in DECIDING}
    if _part(config, "rewriter").get("name", "none") != "none":
        settings["rewriter"] = config.get("rewriter")
    if isinstance(sample := config.get("sample"), dict):
        settings["sample"] = as_before(sample)
    # As earlier versions computed it, so that the rows of a leaderboard keep their digests.
    return {**settings, "ledger": ledger_in(config) or None, "digest": {"language": None}}


def deciding(value: Any) -> Any:
    """Return a setting without what changes no result."""
    if not isinstance(value, dict):
        return value
    # Earlier versions asked once, and had no word for it.
    left_out = {"engine"} | ({"repeats"} if value.get("repeats") == 1 else set())
    return {key: deciding(part) for key, part in value.items() if key not in left_out}


def _part(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = value.get(key)
    return part if isinstance(part, dict) else {}
