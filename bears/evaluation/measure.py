"""Parse the name of a measure, as a configuration gives it."""

import re
from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np

from bears.config.typed import in_project
from bears.errors import ConfigurationError
from bears.evaluation.judged_rankings import Floats, JudgedRankings
from bears.evaluation.measures.average_precision import AVERAGE_PRECISION
from bears.evaluation.measures.kor_map_official import KOR_MAP_OFFICIAL
from bears.evaluation.measures.kor_map_strict import KOR_MAP_STRICT
from bears.evaluation.measures.ndcg import NDCG
from bears.evaluation.measures.precision import PRECISION
from bears.evaluation.measures.r_precision import R_PRECISION
from bears.evaluation.measures.recall import RECALL
from bears.evaluation.measures.reciprocal_rank import RECIPROCAL_RANK
from bears.evaluation.measures.retrieval_accuracy import RETRIEVAL_ACCURACY
from bears.evaluation.measures.span_iou import SPAN_IOU
from bears.evaluation.measures.span_precision import SPAN_PRECISION
from bears.evaluation.measures.span_recall import SPAN_RECALL
from bears.evaluation.measures.span_success import SPAN_SUCCESS
from bears.evaluation.measures.strict import STRICT
from bears.evaluation.measures.success import SUCCESS
from bears.evaluation.metric import Metric
from bears.evaluation.spans import SpanRankings

METRICS = (
    *(SUCCESS, STRICT, RECALL, PRECISION, RECIPROCAL_RANK, NDCG, AVERAGE_PRECISION),
    *(RETRIEVAL_ACCURACY, R_PRECISION, KOR_MAP_OFFICIAL, KOR_MAP_STRICT),
    *(SPAN_RECALL, SPAN_PRECISION, SPAN_IOU, SPAN_SUCCESS),
)

FOREIGN = {name: metric.name for metric in METRICS for name in metric.foreign}


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric with its cutoff. ``name`` is its name in configurations and results."""

    name: str
    metric: Metric
    k: int | None

    def values(self, rankings: JudgedRankings, spans: SpanRankings | None = None) -> Floats:
        """Return one value per question, NaN if undefined; see `bears.evaluation.measures`."""
        if self.metric.spans and spans is None:
            return np.full(len(rankings.returned), np.nan)
        return self.metric.function(spans if self.metric.spans else rankings, self.k)


def our_name(name: str) -> str:
    """Return our name of a measure that has its name in ir_measures; other names as they are."""
    word, at, k = name.partition("@")
    return f"{FOREIGN.get(word, word)}{at}{k}"


def parse_measure(name: str) -> Measure:
    """Return the measure with a name: ``ndcg@10``, or ``ndcg`` for the whole ranking.

    ``nDCG@10`` is the name that ir_measures has for it; see `our_name`. ``module.name@10`` is a
    `Metric` that a module of the project defines.

    Raises:
        ConfigurationError: no measure has this name, the cutoff is missing or not allowed, or it
            is not a plain whole number from 1.
    """
    own = our_name(name)
    match = re.fullmatch(r"([a-z0-9_.]+)(?:@([1-9][0-9]*))?", own)
    word, digits = match.groups() if match else (name, None)
    for metric in (*METRICS, *_of_project(word)):
        if metric.name == word and (metric.cutoff if digits else metric.whole):
            return Measure(own, metric, int(digits) if digits else None)
    right = [f"{metric.name}@k" for metric in METRICS if metric.cutoff]
    right += [metric.name for metric in METRICS if metric.whole]
    raise ConfigurationError(
        f"unknown measure {name!r}; the measures are {', '.join(right)} (k a whole number >= 1)"
    )


def _of_project(name: str) -> list[Metric]:
    """Return the metric that a module of the project defines, under its full name."""
    module, _, last = name.rpartition(".")
    found = getattr(import_module(module), last, None) if in_project(module) else None
    return [replace(found, name=name)] if isinstance(found, Metric) else []
