"""The settings of a folder of documents."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from bears.errors import ConfigurationError
from bears.types import Closed

Share = Annotated[float, Field(gt=0, le=1)]


@dataclass(frozen=True)
class FolderSettings(Closed):
    """How a folder is read.

    Args:
        questions: a CSV file, see `bears.sources.folder.asked`; empty: questions.csv in the folder,
            if there is one.
        encoding: of texts that are not UTF-8 and declare no encoding, such as ``cp1252``; empty:
            they are left out.
        min_characters: a piece of a document ends before a heading if it has at least so many.
        max_characters: of a piece; a longer document is cut.
        repeated: a short text near the beginning or end of a file is dropped if at least this
            share of the files of its kind, and three of them, have it there; null: never.
        edge: how many blocks count as near.
        near_duplicate: a piece is dropped if it and an earlier one share so many of their passages,
            and have the same numbers; null: never.
    """

    questions: str = ""
    encoding: str = ""
    min_characters: Annotated[int, Field(ge=1)] = 500
    max_characters: Annotated[int, Field(ge=100)] = 2000
    repeated: Share | None = 0.5
    edge: Annotated[int, Field(ge=1)] = 3
    near_duplicate: Annotated[float, Field(ge=0.5, le=1)] | None = 0.9

    def __post_init__(self) -> None:
        if self.min_characters >= self.max_characters:
            raise ConfigurationError(
                f"settings.min_characters is {self.min_characters}, settings.max_characters "
                f"{self.max_characters}; expected min < max"
            )
