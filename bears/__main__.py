"""``python -m bears``: what people do by hand beside the pipeline."""

from bears.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
