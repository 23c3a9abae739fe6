"""generate: questions and the first documents of their rankings → answers with their evidence."""

from bears.config.pipeline import Paths, exit_with
from bears.config.shape import BenchmarkIdentity, Choice, WrittenIn
from bears.files.records import read_questions, stream_documents, write_lines, write_text
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

    built = generator_of(generator)
    if not isinstance(built, GeneratorSettings):
        questions = read_questions(paths["queries"])
        texts = {each.doc_id: each.content for each in stream_documents(paths["corpus"])}
        found = built.answered(questions, texts, written_in.unanswerable)
        write_lines(paths["out"], found)
        return
    files = (paths[name] for name in ("queries", "corpus", "chunks", "within"))
    task = read_task(*files, generator=generator, written_in=written_in)
    replies = replies_below(paths["replies"], benchmark.name, "answers")
    rows = list(answered(task, Workflow(task, replies).replay()))
    for row in rows:
        if "given_up" in row:
            complain(f"given up: {row['question_id']}: {row['given_up']}")
    write_lines(paths["out"], rows)


if __name__ == "__main__":
    exit_with("generate", main)
