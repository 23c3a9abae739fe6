"""``bears metrics``: the definition and source of every metric."""

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from bears.evaluation.answers.evidence_f1 import evidence_f1
from bears.evaluation.answers.exact_match import exact_match
from bears.evaluation.answers.token_f1 import token_f1
from bears.evaluation.answers.unanswerable_detection import unanswerable_detection
from bears.evaluation.answers.yes_no_accuracy import yes_no_accuracy
from bears.evaluation.measure import METRICS

ANSWERS: dict[str, Callable[..., Any]] = {
    "answer_f1": token_f1,
    "exact_match": exact_match,
    "evidence_f1": evidence_f1,
    "yes_no_accuracy": yes_no_accuracy,
    "unanswerable_detection": unanswerable_detection,
}


def list_metrics() -> None:
    """List the metrics of rankings and of answers."""
    print("Of rankings, under evaluate.measures in conf/:\n")
    for metric in METRICS:
        names = [f"{metric.name}@k"] * metric.cutoff + [metric.name] * metric.whole
        names += [f"in ir_measures {' or '.join(metric.foreign)}"] * bool(metric.foreign)
        print(described(names, metric.function))
    print("Of answers, by `bears answers score`:\n")
    for name, function in ANSWERS.items():
        print(described([name], function))


COMMAND = list_metrics


def described(names: list[str], function: Callable[..., Any]) -> str:
    """Return the names of a metric and its docstring without the arguments."""
    text = inspect.getdoc(function) or ""
    body = textwrap.indent(text.split("\nArgs:")[0].strip(), "    ")
    return f"{', '.join(names)}\n{body}\n"
