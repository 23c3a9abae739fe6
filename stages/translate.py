"""translate: sampled records and kept replies → the benchmark in its target language."""

from bears.config import checkout
from bears.config.pipeline import Paths, exit_with
from bears.files.records import write_json, write_records
from bears.language.quotations import found_again
from bears.language.tags import check_tag
from bears.llm.workflow import Workflow
from bears.translation.source_texts import apply
from bears.translation.task import TranslateKeys, read_task, sidecar


def main(keys: TranslateKeys, paths: Paths) -> None:
    """Replay kept replies, without key or network unless the translator has ``fill: auto``."""
    language = keys.benchmark.language
    check_tag(language, "benchmark.language")
    task = read_task(keys, paths["sampled"], checkout())
    resolution = task.resolve(Workflow(task, paths["replies"]).replay())
    questions, documents = apply(task.source_texts, resolution, task.wanted)
    if any(question.gold_spans for question in questions):
        # The words of a document may have moved or changed since they were quoted.
        contents = {document.doc_id: document.content for document in documents}
        questions = list(found_again(questions, contents))
    write_records(paths["out"] / "queries.json", questions)
    write_records(paths["out"] / "corpus.json", documents)
    known = sidecar(task, questions, resolution)
    write_json(paths["out"] / "sidecar.json", {"language": language, **known})


if __name__ == "__main__":
    exit_with("translate", TranslateKeys, main)
