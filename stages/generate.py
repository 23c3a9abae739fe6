"""generate: questions and the first documents of their rankings → answers with their evidence."""

from bears.configuration import Config
from bears.configuration.pipeline import Paths, exit_with
from bears.formats.records import write_text


def main(config: Config, paths: Paths) -> None:
    """Answer every question; without a generator there are no answers."""
    if config["generator"]["name"] == "none":
        # DVC warns of files without any byte.
        write_text(paths["out"], "\n")
        return


if __name__ == "__main__":
    exit_with("generate", main)
