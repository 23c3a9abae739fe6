"""Every error that this package raises on purpose.

``BearsError`` is the root: catching it catches what a user can fix. A stage or a command that
ends with one prints its message, without a traceback, and exits with status 1.
"""


class BearsError(Exception):
    """Something that the user can fix; the message says how."""


class ConfigurationError(BearsError):
    """A configuration value is missing, unknown or of the wrong type."""


class SourceError(BearsError):
    """A source cannot be found, fetched or verified."""


class MalformedRow(SourceError):
    """A row of a source lacks a field or holds one of the wrong type.

    Args:
        file: name of the file that holds the row.
        row: position of the row, counted from 1.
        field: dotted path of the field within the row.
        problem: what is wrong with it.
        source: the source, where such rows can be left out.
    """

    def __init__(self, file: str, row: int, field: str, problem: str, source: str = "") -> None:
        self.what = f"{file}, row {row}, field {field}: {problem}"
        skip = f", or leave out such rows with ++sources.{source}.on_bad_row=skip" * bool(source)
        super().__init__(f"{self.what}. Fix the row, or take the file again from its source{skip}.")
        self.file, self.row, self.field, self.problem = file, row, field, problem


class SamplingError(BearsError):
    """The sources cannot give the asked number of questions or documents."""


class LedgerError(BearsError):
    """A ledger entry cannot be applied."""


class RepliesMissing(BearsError):
    """Replies that the benchmark needs are not kept yet."""


class RepliesCorrupt(BearsError):
    """A kept reply cannot be trusted."""


class FormatError(BearsError):
    """A file of one of our own formats, or a run file, is malformed."""


class RecordsDiffer(FormatError):
    """Two systems were measured on different questions, gold or documents."""


class StageConflict(BearsError):
    """Another process works on the files of a stage, or has changed them."""


class VerificationFailed(BearsError):
    """The benchmark has findings of severity error."""


class RetrieverUnavailable(BearsError):
    """A retriever needs a package or model that is not here."""


class VectorError(BearsError):
    """A model's vector cannot be compared with others, or says nothing of its text."""


class SubmissionRefused(BearsError):
    """A submission has errors; its score would mean nothing."""


class StoreError(BearsError):
    """A vector store does not answer, refuses what it is given, or holds something else."""


class AttestationFailed(BearsError):
    """An export was changed, or differs from what this project makes."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error for use in a sentence, or its type if it is empty."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0].strip().rstrip(".") if lines else type(error).__name__
