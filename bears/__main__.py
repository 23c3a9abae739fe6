"""``bears``: what people do by hand beside the pipeline."""

import sys


def main() -> int:
    """Run the command of this process's arguments; its exit status."""
    if sys.version_info < (3, 11):  # noqa: UP036  # This file alone is read by an older one too.
        print(
            f"bears: Python 3.11 or newer is needed, this is {sys.version.split()[0]} at "
            f"{sys.executable}. With an environment: source .venv/bin/activate; to make one: "
            "make PYTHON=python3.11 repro",
            file=sys.stderr,
        )
        return 1
    from bears.cli import main as command

    return command()


if __name__ == "__main__":
    raise SystemExit(main())
