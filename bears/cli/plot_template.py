"""``bears plot-template``: pages of `dvc plots` that need no network."""

from pathlib import Path

from vl_convert import javascript_bundle

from bears.files.records import write_text


def write_template(file: Path) -> None:
    """Write an HTML template with vega inside it, for `dvc plots show --html-template FILE`.

    DVC's own template loads vega from the network.

    Args:
        file: the template
    """
    script = javascript_bundle(
        # DVC draws an empty plot for each JSON file that it keeps as one.
        "window.vegaEmbed = (place, spec) => 'data' in spec && vegaEmbed(place, spec);"
    )
    write_text(
        file,
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset='utf-8'>\n<title>DVC plots</title>\n"
        f"<script>{script}</script>\n</head>\n<body>\n{{plot_divs}}\n</body>\n</html>\n",
    )


COMMAND = write_template
