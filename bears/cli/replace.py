"""``bears replace``: another question in place of one."""

from bears.config.ledger.entries import Replacement
from bears.config.ledger.update import OpenLedger, open_ledger
from bears.errors import LedgerError
from bears.files.records import read_questions
from bears.files.visible import blank
from bears.layout import ledger_of
from bears.selection.configuration import composed, files_of, made, selected


def replace_question(
    question_id: str, *, reason: str, author: str = "", benchmark: str = ""
) -> None:
    """Replace a question by another one of the same source at the next `dvc repro`.

    This adds an entry to the ledger of the selected benchmark. Remove the entry to undo it.

    Args:
        question_id: the id of the question
        reason: why; kept with the entry
        author: who decided it; kept with the entry
    """
    config = composed(benchmark)
    name = selected(config).benchmark.name
    if blank(reason):
        raise LedgerError("an entry needs a reason: --reason 'why'")
    (queries,) = made(config, "sample", files_of(config).sampled / "queries_raw.json")
    path = ledger_of(name)
    known = {question.question_id for question in read_questions(queries)}
    if question_id not in known | OpenLedger(path).decisions.replaced:
        raise LedgerError(f"{name} has no question {question_id}; {queries} lists the ids")
    with open_ledger(path) as ledger:
        if question_id in ledger.decisions.replaced:
            raise LedgerError(f"{question_id} is replaced already")
        ledger.add("replacements", [Replacement(question_id, reason, author)])
    print(f"{path}: {question_id} will be replaced at the next `dvc repro`")


COMMAND = replace_question
