"""A row of the leaderboard."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from bears.files.benchmark_state import BenchmarkState
from bears.files.shown import one_line

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
"""How the warnings begin that are of answers, and not of the retrieval."""

UNSCORED = f"{OF_ANSWERS}unscored"
"""What is said beside a pass rate that is not of all answers."""

MAIN = "ndcg@10"
"""The measure that orders the rows of one state of a benchmark that says no other."""


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
        main: the measure that orders the rows of the benchmark; the next five are about it.
        low, high: the 95 % interval of its mean.
        group: letters; rows of one state that share one cannot be told apart.
        rank: the ranks that the row may have in its state.
        known_by: ``question``, or ``mean`` where the values by question are not known, so that a
            difference from other rows looks less sure than it is.
        differs: settings in which the row is not as others of its state.
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
    low: float | None = None
    high: float | None = None
    group: str = ""
    rank: str = ""
    known_by: str = ""
    differs: str = ""
    generated: str = ""
    audited: float | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """Two results with the same key are the same row."""
        return *self.of, self.configuration, self.answers

    @property
    def of(self) -> tuple[str, ...]:
        """Whose row it is, of which records."""
        return self.benchmark, self.source, self.state, self.system, self.origin


def submission_row(
    state: BenchmarkState, system: str, configuration: str = "", **scored: Any
) -> LeaderboardRow:
    """The row of what somebody submitted, with the other fields that ``scored`` has."""
    return LeaderboardRow(
        *(state.name, state.source, state.state, one_line(system), configuration, "submission"),
        questions=state.questions,
        documents=state.documents,
        generated=str(state.generated or ""),
        **scored,
    )
