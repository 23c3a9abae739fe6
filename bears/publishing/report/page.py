"""The page: what is known put into the template, with nothing in it that could run."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, StrictUndefined

from bears.publishing.report.benchmark import GOLD, OTHER, Benchmark
from bears.publishing.report.card import card
from bears.publishing.report.comparison import Comparison, ranked
from bears.publishing.report.details import Details
from bears.publishing.report.generated import generated
from bears.publishing.report.groups import grouped
from bears.publishing.report.looks import looks
from bears.publishing.report.standings import drawn, standings, verdict
from bears.publishing.report.words import (
    as_data,
    dollars,
    p_value,
    part,
    said,
    share,
    signed,
    unit,
    words,
)
from bears.results.system import System


@dataclass(frozen=True)
class Known:
    """All that a page shows.

    Args:
        systems: those of the comparison whose files are here, in its order.
        measure: the one that decides.
    """

    benchmark: Benchmark
    systems: Sequence[System]
    comparison: Comparison
    details: Details
    measure: str


def page(known: Known) -> str:
    """The whole page as HTML; the same bytes for the same knowledge."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {"share": share, "signed": signed, "p": p_value}
    environment.globals |= {"t": said, "unit": unit, "usd": dollars, "said": verdict}
    style, script = part("style.css"), part("script.js")
    # The browser runs and applies these two, by their digests, and nothing else on the page.
    trusted = {"style": style, "script": script}
    trusted |= {"style_hash": _source(style), "script_hash": _source(script)}
    return environment.from_string(part("page.html.j2")).render(**trusted, **_content(known))


def _source(text: str) -> str:
    """What a content security policy calls a script or style by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _content(known: Known) -> dict[str, Any]:
    benchmark, systems, measure = known.benchmark, known.systems, known.measure
    order = ranked(known.comparison, measure)
    look = looks([system["name"] for system in order])
    answers = generated(systems)
    judged = sum(question.judged for question in benchmark.questions)
    standing = standings(known.comparison, measure, systems)
    return {
        "judged": judged,
        "benchmark": benchmark,
        "systems": systems,
        "measure": measure,
        "looks": look,
        "sections": _sections(bool(answers)),
        "generated": answers,
        "made": next((q.generated for q in benchmark.questions if q.generated), None),
        "grouped": grouped(systems, look, benchmark.questions, measure),
        "data": as_data({**known.details.data, "words": words(), "looks": look}),
        "shown": known.details.shown,
        "too_large": known.details.too_large,
        "gold_characters": GOLD,
        "other_characters": OTHER,
        **standing,
        "answer": standing["answer"] if judged else [("answer_unjudged", {})],
        **drawn(order, measure, look, systems, benchmark.questions),
        **card(benchmark),
    }


def _sections(answers: bool) -> list[tuple[str, str]]:
    """The key of each section's heading, and its id."""
    between = ["answers"] if answers else []
    targets = ["answer", "recall", "cost", "groups", *between, "questions", "card"]
    return [(f"nav_{target}", target) for target in targets]
