"""rewrite: questions with the conversations before them → what is searched for each."""

from bears.config.pipeline import Paths, exit_with
from bears.config.shape import BenchmarkIdentity, Choice, WrittenIn
from bears.config.typed import parse
from bears.files.records import read_questions
from bears.files.rewritten import write_rewritten
from bears.layout import replies_below
from bears.retrieval.rewriting.turns import Turns


def main(
    paths: Paths, *, benchmark: BenchmarkIdentity, rewriter: Choice, written_in: WrittenIn
) -> None:
    """Write what is searched for each question, or that nothing is.

    Kept replies are replayed, without key or network unless the rewriter has ``fill: auto``.
    """
    if rewriter.word("method") == "model":
        # These imports take half a second, which a rule does not need.
        from bears.llm.workflow import Workflow
        from bears.retrieval.rewriting.model import RewriterSettings, read_task

        settings = parse(RewriterSettings, rewriter, "rewriter")
        task = read_task(paths["queries"], rewriter=settings, written_in=written_in)
        replies = replies_below(paths["replies"], benchmark.name, "rewrites")
        asked = task.asked(Workflow(task, replies).replay())
    else:
        rule = parse(Turns, rewriter, "rewriter")
        asked = [rule.asked(question) for question in read_questions(paths["queries"])]
    write_rewritten(paths["out"], asked)


if __name__ == "__main__":
    exit_with("rewrite", main)
