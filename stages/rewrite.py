"""rewrite: questions with the conversations before them → what is searched for each."""

from collections.abc import Iterable
from pathlib import Path

from bears.config.pipeline import Paths, exit_with
from bears.config.shape import BenchmarkIdentity, Choice, WrittenIn
from bears.config.typed import parse
from bears.files.records import read_questions
from bears.files.rewritten import write_rewritten
from bears.layout import replies_below
from bears.retrieval.rewriting.turns import Turns
from bears.types import RewrittenQuestion


def main(
    paths: Paths, *, benchmark: BenchmarkIdentity, rewriter: Choice, written_in: WrittenIn
) -> None:
    """Write what is searched for each question, or that nothing is."""
    if rewriter.word("method") == "model":
        replies = replies_below(paths["replies"], benchmark.name, "rewrites")
        asked = _by_a_model(rewriter, written_in, paths["queries"], replies)
    else:
        rule = parse(Turns, rewriter, "rewriter")
        asked = map(rule.asked, read_questions(paths["queries"]))
    write_rewritten(paths["out"], asked)


def _by_a_model(
    rewriter: Choice, written_in: WrittenIn, queries: Path, replies: Path
) -> Iterable[RewrittenQuestion]:
    """Replay kept replies, without key or network unless the rewriter has ``fill: auto``."""
    from bears.llm.workflow import Workflow
    from bears.retrieval.rewriting.model import RewriterSettings, read_task

    settings = parse(RewriterSettings, rewriter, "rewriter")
    task = read_task(queries, rewriter=settings, written_in=written_in)
    return task.asked(Workflow(task, replies).replay())


if __name__ == "__main__":
    exit_with("rewrite", main)
