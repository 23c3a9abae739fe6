"""Running every check, and what their findings come to."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from bears.config.ledger.acceptance import Acceptance, accept
from bears.config.ledger.entries import Review
from bears.language.gates import GATES
from bears.quality.verification import bundles, structure, texts
from bears.quality.verification.benchmark import TranslatedBenchmark
from bears.types import Finding

CHECKS: tuple[Callable[[TranslatedBenchmark], Iterator[Finding]], ...] = (
    structure.counts,
    structure.source_distribution,
    structure.unique_ids,
    structure.words,
    structure.gold,
    structure.groups,
    structure.duplicate_contents,
    structure.empty_texts,
    structure.ledger_entries,
    texts.same_records,
    texts.calibrated,
    texts.texts,
    texts.doubts,
    texts.languages,
    bundles.answers_lost,
    bundles.terms_inconsistent,
)


def reviewed(reviews: Sequence[Review]) -> list[Acceptance]:
    """What persons looked at: on that field, what gates say and what was lost, and no other."""
    return [
        Acceptance(gate, review.record_id, review.reason or "reviewed", review.field)
        for review in reviews
        if review.decision != "retranslate"
        for gate in (*GATES, "mark_lost", "answer_lost", "reading")
    ]


def verify(
    benchmark: TranslatedBenchmark,
    accepted: Sequence[Acceptance] = (),
    read: Iterable[Finding] = (),
) -> list[Finding]:
    """All findings, in the order of the checks; accepted errors get severity ``accepted``.

    Args:
        benchmark: what is looked at.
        accepted: what is known and lived with.
        read: what a model found that read the translations; last.
    """
    found = chain(chain.from_iterable(check(benchmark) for check in CHECKS), read)
    return accept(found, accepted)


def summarise(findings: Sequence[Finding], benchmark: TranslatedBenchmark | None) -> dict[str, Any]:
    """Counts by severity, check and gate, and how far questions stayed answerable."""
    severities = Counter(finding.severity for finding in findings)
    checks = Counter(finding.check for finding in findings)
    gates = [*GATES, "answer_lost", "term_consistency"]
    return {
        "errors": severities["error"],
        "warnings": severities["warning"],
        "accepted": severities["accepted"],
        **(bundles.measures(benchmark) if benchmark else {}),
        **({"gates_calibrated_on": _calibrated_on(benchmark)} if benchmark else {}),
        "gates": {name: checks[name] for name in gates},
        "findings": dict(sorted(checks.items())),
    }


def _calibrated_on(b: TranslatedBenchmark) -> str:
    return b.target.calibrated_on or "nothing: not calibrated"
