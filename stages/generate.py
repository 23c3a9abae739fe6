"""generate: questions and the first documents of their rankings → answers with their evidence."""

from dataclasses import dataclass

from bears.config import parse
from bears.config.pipeline import Paths, exit_with
from bears.config.shape import BenchmarkName, Choice
from bears.config.typed import Keys
from bears.files.records import read_questions, stream_documents, write_lines, write_text
from bears.layout import replies_below


@dataclass(frozen=True)
class GenerateKeys(Keys):
    """The keys of the configuration that this stage reads."""

    benchmark: BenchmarkName
    generator: Choice
    written_in: dict[str, str]


def main(keys: GenerateKeys, paths: Paths) -> None:
    """Answer every question, without key or network unless the generator has ``fill: auto``."""
    if keys.generator.name == "none":
        # DVC warns about empty files.
        write_text(paths["out"], "\n")
        return
    # These imports take half a second, which an experiment with a retriever alone does not need.
    from bears.answers.answered import answered
    from bears.answers.settings import GeneratorSettings, generator_of
    from bears.answers.task import AnswerKeys, read_task
    from bears.files.shown import complain
    from bears.llm.workflow import Workflow

    generator = generator_of(keys.generator)
    if not isinstance(generator, GeneratorSettings):
        questions = read_questions(paths["queries"])
        texts = {each.doc_id: each.content for each in stream_documents(paths["corpus"])}
        found = generator.answered(questions, texts, keys.written_in["unanswerable"])
        write_lines(paths["out"], found)
        return
    own = {"generator": keys.generator, "written_in": keys.written_in}
    files = (paths[name] for name in ("queries", "corpus", "chunks", "within"))
    task = read_task(parse(AnswerKeys, own, ""), *files)
    replies = replies_below(paths["replies"], keys.benchmark.name, "answers")
    rows = list(answered(task, Workflow(task, replies).replay()))
    for row in rows:
        if "given_up" in row:
            complain(f"given up: {row['question_id']}: {row['given_up']}")
    write_lines(paths["out"], rows)


if __name__ == "__main__":
    exit_with("generate", GenerateKeys, main)
