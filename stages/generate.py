"""generate: questions and the first documents of their rankings → answers with their evidence."""

from bears.config.pipeline import Paths, exit_with
from bears.config.shape import BenchmarkIdentity, Choice, WrittenIn
from bears.evaluation.timing import Clock, kept_timing
from bears.files.records import read_questions, sha256_of, stream_documents, write_json, write_text
from bears.files.traces import write_traces
from bears.layout import replies_below


def main(
    paths: Paths, *, benchmark: BenchmarkIdentity, generator: Choice, written_in: WrittenIn
) -> None:
    """Answer every question, without key or network unless the generator has ``fill: auto``."""
    if generator.name == "none":
        # DVC warns about empty files.
        write_text(paths["out"], "\n")
        return
    # These imports take half a second, which an experiment with a retriever alone does not need.
    from bears.answers.answered import answered
    from bears.answers.settings import GeneratorSettings, generator_of
    from bears.answers.task import read_task
    from bears.files.shown import complain
    from bears.llm.workflow import Workflow

    clock, built = Clock(), generator_of(generator)
    if not isinstance(built, GeneratorSettings):
        questions = read_questions(paths["queries"])
        texts = {each.doc_id: each.content for each in stream_documents(paths["corpus"])}
        write_traces(paths["out"], built.answered(questions, texts, written_in.unanswerable))
        write_json(kept_timing(sha256_of(paths["out"])), clock.work())
        return
    files = (paths[name] for name in ("queries", "corpus", "chunks", "within"))
    task = read_task(*files, generator=generator, written_in=written_in)
    replies = replies_below(paths["replies"], benchmark.name, "answers")
    traces = list(answered(task, Workflow(task, replies).replay()))
    for trace in traces:
        if trace.given_up:
            complain(f"given up: {trace.question_id}: {trace.given_up}")
    write_traces(paths["out"], traces)
    model = {"model": built.model} if built.model else {}
    write_json(kept_timing(sha256_of(paths["out"])), {**clock.work(), **model})


if __name__ == "__main__":
    exit_with("generate", main)
