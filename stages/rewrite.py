"""rewrite: questions with the conversations before them → what is searched for each."""

from collections.abc import Iterable
from dataclasses import dataclass

from bears.config import parse
from bears.config.pipeline import Paths, exit_with
from bears.config.shape import BenchmarkName, Choice, LanguageNames
from bears.config.typed import Keys
from bears.files.records import read_questions
from bears.files.rewritten import write_rewritten
from bears.layout import replies_below
from bears.retrieval.rewriting.turns import Turns
from bears.types import Asked


@dataclass(frozen=True)
class RewriteKeys(Keys):
    """The keys of the configuration that this stage reads."""

    benchmark: BenchmarkName
    rewriter: Choice
    written_in: LanguageNames


def main(keys: RewriteKeys, paths: Paths) -> None:
    """Write what is searched for each question, or that nothing is."""
    rewritten = _by_a_model if keys.rewriter.word("method") == "model" else _by_rule
    write_rewritten(paths["out"], rewritten(keys, paths))


def _by_rule(keys: RewriteKeys, paths: Paths) -> Iterable[Asked]:
    rule = parse(Turns, keys.rewriter, "rewriter")
    return map(rule.asked, read_questions(paths["queries"]))


def _by_a_model(keys: RewriteKeys, paths: Paths) -> Iterable[Asked]:
    """Replay kept replies, without key or network unless the rewriter has ``fill: auto``."""
    from bears.llm.workflow import Workflow
    from bears.retrieval.rewriting.model import RewriterSettings, RewritingKeys, read_task

    rewriter = parse(RewriterSettings, keys.rewriter, "rewriter")
    task = read_task(RewritingKeys(rewriter, keys.written_in), paths["queries"])
    replies = replies_below(paths["replies"], keys.benchmark.name, "rewrites")
    return task.asked(Workflow(task, replies).replay())


if __name__ == "__main__":
    exit_with("rewrite", RewriteKeys, main)
