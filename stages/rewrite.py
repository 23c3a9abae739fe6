"""rewrite: questions with the conversations before them → what is searched for each."""

from collections.abc import Iterable

from bears.config import Config, parse
from bears.config.pipeline import Paths, exit_with
from bears.files.records import read_questions
from bears.files.rewritten import write_rewritten
from bears.retrieval.rewriting.rules import Conversation, Rules, Turns
from bears.types import Asked


def main(config: Config, paths: Paths) -> None:
    """Write what is searched for each question, or that nothing is."""
    method = config["rewriter"].get("method")
    rewritten = _by_a_model if method == "model" else _by_rule
    write_rewritten(paths["out"], rewritten(config, paths))


def _by_rule(config: Config, paths: Paths) -> Iterable[Asked]:
    way: Turns | Conversation
    if config["rewriter"].get("method") == "rules":
        way = parse(Rules, config["rewriter"], "rewriter").of(config["written_in"]["name"])
    else:
        way = parse(Turns, config["rewriter"], "rewriter")
    return map(way.asked, read_questions(paths["queries"]))


def _by_a_model(config: Config, paths: Paths) -> Iterable[Asked]:
    """Replay the memory; needs no key and no network, unless the rewriter says fill: auto."""
    from bears.llm.workflow import Workflow
    from bears.retrieval.rewriting.model import read_task

    task = read_task(config, paths["queries"])
    memory = paths["memory"] / f"{config['benchmark']['name']}.rewrites.jsonl"
    return task.asked(Workflow(task, memory).replay())


if __name__ == "__main__":
    # With fill: auto what is bought is published.
    exit_with("rewrite", main, updates=["memory"])
