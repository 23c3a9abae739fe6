"""translate: sampled records and kept replies → the benchmark in its target language."""

from bears.config import checkout
from bears.config.ledger.entries import Reviews
from bears.config.pipeline import Paths, exit_with
from bears.config.shape import BenchmarkIdentity, Source
from bears.files.records import write_json, write_records
from bears.language.gates import GateSeverity
from bears.language.profile import Language
from bears.language.quotations import found_again
from bears.language.tags import check_tag
from bears.llm.workflow import Workflow
from bears.translation.source_texts import apply
from bears.translation.task import read_task, sidecar
from bears.translation.translator import TranslatorSettings


def main(
    paths: Paths,
    *,
    benchmark: BenchmarkIdentity,
    gates: dict[str, GateSeverity],
    language: Language,
    reviews: Reviews,
    sources: dict[str, Source],
    translator: TranslatorSettings,
) -> None:
    """Replay kept replies, without key or network unless the translator has ``fill: auto``."""
    check_tag(benchmark.language, "benchmark.language")
    task = read_task(
        paths["sampled"],
        checkout(),
        benchmark=benchmark,
        gates=gates,
        language=language,
        reviews=reviews,
        sources=sources,
        translator=translator,
    )
    resolution = task.resolve(Workflow(task, paths["replies"]).replay())
    questions, documents = apply(task.source_texts, resolution, task.wanted)
    if any(question.gold_spans for question in questions):
        # The words of a document may have moved or changed since they were quoted.
        contents = {document.doc_id: document.content for document in documents}
        questions = list(found_again(questions, contents))
    write_records(paths["out"] / "queries.json", questions)
    write_records(paths["out"] / "corpus.json", documents)
    known = sidecar(task, questions, resolution)
    write_json(paths["out"] / "sidecar.json", {"language": benchmark.language, **known})


if __name__ == "__main__":
    exit_with("translate", main)
