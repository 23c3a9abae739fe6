"""translate: sampled records and the memory → the benchmark in its target language."""

from bears.config import Config, checkout
from bears.config.pipeline import Paths, exit_with
from bears.files.records import write_json, write_records
from bears.language.tags import check_tag
from bears.llm.workflow import Workflow
from bears.translation.source_texts import apply
from bears.translation.task import read_task, sidecar


def main(config: Config, paths: Paths) -> None:
    """Replay the memory; needs no key and no network, unless the translator says fill: auto."""
    check_tag(config["benchmark"]["language"], "benchmark.language")
    task = read_task(config, paths["sampled"], checkout())
    found = task.resolve(Workflow(task, paths["memory"]).replay())
    questions, documents = apply(task.source_texts, found, task.wanted)
    write_records(paths["out"] / "queries.json", questions)
    write_records(paths["out"] / "corpus.json", documents)
    language = {"language": config["benchmark"]["language"]}
    write_json(paths["out"] / "sidecar.json", language | sidecar(task, questions, found))


if __name__ == "__main__":
    # With fill: auto what is bought is published.
    exit_with("translate", main, updates=["memory"])
