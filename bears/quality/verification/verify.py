"""Run every check, and summarize the findings."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

from bears.config.ledger.entries import Acceptance, Review, accept
from bears.language.gates import GATES
from bears.quality.verification import structure, texts
from bears.quality.verification.structure import TranslatedBenchmark
from bears.types import Finding

CHECKS = (
    *(structure.counts, structure.source_distribution, structure.ids, structure.gold),
    *(structure.duplicate_contents, structure.empty_texts, structure.quotations),
    *(texts.same_records, texts.calibrated, texts.texts, texts.doubts),
    *(texts.languages, texts.answers_lost, texts.terms_inconsistent),
)


def reviewed(reviews: Sequence[Review]) -> list[Acceptance]:
    """Accept what the gates say of a field that a person has reviewed, and lost answers in it."""
    return [
        Acceptance(gate, review.record_id, review.reason or "reviewed", review.field)
        for review in reviews
        if review.decision != "retranslate"
        for gate in (*GATES, "mark_lost", "answer_lost")
    ]


def verify(benchmark: TranslatedBenchmark, accepted: Sequence[Acceptance] = ()) -> list[Finding]:
    """Return all findings in the order of the checks; accepted errors get severity ``accepted``.

    Args:
        benchmark: to check.
        accepted: findings that are known and accepted.
    """
    return accept(chain.from_iterable(check(benchmark) for check in CHECKS), accepted)


def summarize(findings: Sequence[Finding], benchmark: TranslatedBenchmark | None) -> dict[str, Any]:
    """Count findings by severity, check and gate, and measure how answerable questions stayed."""
    severities = Counter(finding.severity for finding in findings)
    checks = Counter(finding.check for finding in findings)
    about: dict[str, Any] = {}
    if benchmark:
        calibrated_on = benchmark.target.calibrated_on or "nothing: not calibrated"
        about = {**texts.measures(benchmark), "gates_calibrated_on": calibrated_on}
    return {
        "errors": severities["error"],
        "warnings": severities["warning"],
        "accepted": severities["accepted"],
        **about,
        "gates": {name: checks[name] for name in (*GATES, "answer_lost", "term_consistency")},
        "findings": dict(sorted(checks.items())),
    }
