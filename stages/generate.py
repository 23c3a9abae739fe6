"""generate: questions and the first documents of their rankings → answers with their evidence."""

from bears.config import Config
from bears.config.pipeline import Paths, exit_with
from bears.files.records import write_lines, write_text


def main(config: Config, paths: Paths) -> None:
    """Answer every question; needs no key and no network, unless the generator says fill: auto."""
    if config["generator"]["name"] == "none":
        # DVC warns of files without any byte.
        write_text(paths["out"], "\n")
        return
    # Half a second that an experiment with a retriever alone does not spend.
    from bears.answers.answered import answered
    from bears.answers.task import read_task
    from bears.files.shown import complain
    from bears.llm.workflow import Workflow

    files = (paths[name] for name in ("queries", "corpus", "run", "within"))
    task = read_task(config, *files)
    memory = paths["memory"] / f"{config['benchmark']['name']}.answers.jsonl"
    rows = list(answered(task, Workflow(task, memory).replay()))
    for row in rows:
        if "given_up" in row:
            complain(f"given up: {row['question_id']}: {row['given_up']}")
    write_lines(paths["out"], rows)


if __name__ == "__main__":
    # With fill: auto what is bought is published.
    exit_with("generate", main, updates=["memory"])
