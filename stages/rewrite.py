"""rewrite: questions with the conversations before them → what is searched for each."""

from bears.configuration import Config, parse
from bears.configuration.pipeline import Paths, exit_with
from bears.formats.records import read_questions
from bears.formats.rewritten import write_rewritten
from bears.rewriting.turns import Turns


def main(config: Config, paths: Paths) -> None:
    """Say of each question what is searched for it, or that nothing is."""
    questions = read_questions(paths["queries"])
    turns = parse(Turns, config["rewriter"], "rewriter")
    write_rewritten(paths["out"], map(turns.asked, questions))


if __name__ == "__main__":
    exit_with("rewrite", main)
