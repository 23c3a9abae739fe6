"""``bears nuggets``: the facts that answers should have, written, reviewed and scored."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isnan, nan
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from tabulate import tabulate

from bears.answers.judging.model import ModelJudge
from bears.answers.judging.ruling import SCALES
from bears.answers.nuggets import SHEET, NuggetTask, read_nuggets
from bears.cli.answers import judge_named
from bears.config import read_mapping
from bears.config.ledger.update import open_ledger
from bears.config.packaged import conf_file
from bears.config.shape import WrittenIn
from bears.config.typed import parse
from bears.errors import ConfigurationError, FormatError
from bears.evaluation.answers.nuggets import citation_scores, nugget_scores
from bears.evaluation.repeats import by_key
from bears.files.intake.files import lines
from bears.files.records import stream_documents, to_json
from bears.files.shown import complain
from bears.layout import ledger_of
from bears.llm.flat import SystemPrompt
from bears.llm.workflow import Workflow
from bears.selection.configuration import composed, files_of, records_of, selected
from bears.selection.spending import ask_missing

UNANSWERED = {"citation_precision": nan}
"""The values of a topic without an answer that are not 0."""
SUPPORT = {"0": 0.0, "1": 0.5, "2": 1.0}
VITAL = {"vital": True, "okay": False}


def write(
    file: Path,
    *,
    judge: str = "nuggets",
    benchmark: str = "",
    yes: bool = False,
    set_: Sequence[str] = (),
) -> None:
    """Ask a model for the nuggets of each question, and write them as a page or table for people.

    It reads the question, its answer and its gold. A person accepts or rejects each, and may change
    it; into a table also add rows. The page (.html) works in any browser. Replies are kept in
    data/memory/BENCHMARK.nuggets.jsonl and never paid for twice.

    Args:
        file: a page (.html) or a CSV file
        judge: one of conf/judge, whose model is asked; default: nuggets
        set_: a Hydra override of the judge: --set judge.budget=5
    """
    config = composed(benchmark)
    records = records_of(selected(config).benchmark.name)
    settings = judge_named(judge, set_)
    if not isinstance(settings, ModelJudge):
        raise ConfigurationError(f"--judge {judge} is not a model; choose one, such as nuggets")
    path = conf_file("prompt/nugget-writer.yaml")
    task = NuggetTask(
        settings,
        parse(SystemPrompt, read_mapping(path), str(path)),
        parse(WrittenIn, config["written_in"], "written_in"),
        records.questions,
        {each.doc_id: each.content for each in stream_documents(records.corpus)},
    )
    workflow = Workflow(task, files_of(config).replies(task.name))
    if stopped := ask_missing(workflow, yes).stopped:
        complain(f"stopped: {stopped}")
    workflow.publish()
    rows = [*task.rows(workflow.replay())]
    said = SHEET.write(file, rows, ["nuggets", "import"], ["--author", "NAME"])
    questions = len({row["record_id"] for row in rows})
    print(f"{file}: {len(rows)} nuggets of {questions} questions; {said}")


def import_nuggets(file: Path, *, author: str, replace_: bool = False, benchmark: str = "") -> None:
    """Take the accepted nuggets of a table, or of what its page saved, into the ledger.

    They go to conf/ledger/BENCHMARK.yaml, and are exported and attested with the benchmark. One
    that was accepted before and is rejected or changed now is refused.

    Args:
        file: a table that `write` wrote, with decisions in it, or what its page saved
        author: who decided, for rows without an author
        replace_: remove or change nuggets that were accepted before
    """
    name = selected(composed(benchmark)).benchmark.name
    path, questions = ledger_of(name), records_of(name).questions
    with open_ledger(path) as ledger:
        new = read_nuggets(file, questions, author)
        taken = ledger.take("nuggets", new, file, "nuggets were decided", replace_)
    asked = {one.question_id for one in taken.kept}
    print(
        f"{path}: {len(taken.kept)} nuggets of {len(asked)} questions, {taken.gone} replaced or "
        "removed; judge=nuggets looks for them"
    )


def score(file: Path, *, format: Literal["table", "json"] = "table") -> None:
    """Score people's assignments of TREC's RAG track: of nuggets, or of support to citations.

    Reads JSON Lines of {run_id, qid, nuggets: [{importance, assignment}]}, or of {run_id, topic_id,
    sentences: [{citations: [{support}]}]}, in which 2 is full support, 1 partial and 0 none. Prints
    a row for each run: the mean over the topics of all runs. A topic that a run did not answer
    counts 0; an undefined value is left out, such as the precision of an answer that cites nothing.

    Args:
        file: the assignments
        format: default: table
    """
    values: defaultdict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    # TREC's own file has NaN where a sentence is empty.
    for number, row in lines(file, nan="float"):
        try:
            run, topic = str(row["run_id"]), str(row["qid"] if "qid" in row else row["topic_id"])
            scores = _scores(row)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{file}, line {number}: not an assignment: {error!r:.80}") from None
        if topic in values[run]:
            raise FormatError(
                f"{file}, line {number}: {run!r:.60} has topic {topic!r:.60} in a line above too"
            )
        values[run][topic] = scores
    if not values:
        raise FormatError(f"{file}: no assignments")
    # What a topic that a run did not answer counts.
    absent: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for topics in values.values():
        for topic, own in topics.items():
            absent[topic] |= {name: UNANSWERED.get(name, value * 0) for name, value in own.items()}
    means: dict[str, dict[str, Any]] = {}
    for run, topics in sorted(values.items()):
        columns = by_key(pair for topic in absent for pair in (absent | topics)[topic].items())
        known = {name: [v for v in own if not isnan(v)] for name, own in columns.items()}
        found = {name: fmean(own) if own else None for name, own in known.items()}
        means[run] = {"topics": len(topics), **found}
    if format == "json":
        print(to_json(means))
        return
    rows = [{"run": run, **own} for run, own in means.items()]
    print(tabulate(rows, "keys", floatfmt=".4f", missingval="–"))


def _scores(row: Mapping[str, Any]) -> dict[str, float]:
    if "sentences" in row:
        cited = (each["citations"][:1] for each in row["sentences"])
        return citation_scores([SUPPORT[str(own[0]["support"])] if own else None for own in cited])
    credits = SCALES["nuggets"].values
    given = [credits[each["assignment"]] for each in row["nuggets"]]
    return nugget_scores(given, [VITAL[each["importance"]] for each in row["nuggets"]])


COMMAND = {"write": write, "import": import_nuggets, "score": score}
