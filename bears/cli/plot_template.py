"""``python -m bears plot-template``: pages of `dvc plots` that need no network."""

import argparse
from pathlib import Path

from vl_convert import javascript_bundle

from bears.files.records import write_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The argument of ``plot-template``."""
    parser.description = (
        "Write an HTML template with vega inside it, for `dvc plots show --html-template FILE`; "
        "DVC's own one loads vega from the network."
    )
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.set_defaults(run=_plot_template)


def _plot_template(arguments: argparse.Namespace) -> None:
    script = javascript_bundle(
        # DVC draws an empty plot for each JSON file that it keeps as one.
        "window.vegaEmbed = (place, spec) => 'data' in spec && vegaEmbed(place, spec);"
    )
    write_text(
        arguments.file,
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset='utf-8'>\n<title>DVC plots</title>\n"
        f"<script>{script}</script>\n</head>\n<body>\n{{plot_divs}}\n</body>\n</html>\n",
    )
